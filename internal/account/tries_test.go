package account

import (
	"fmt"
	"testing"
	"time"

	"tas-service/internal/fault"
)

// TestTriesOfOneNetwork counts all that one caller has of IPv6 as one.
func TestTriesOfOneNetwork(t *testing.T) {
	t.Parallel()
	now := time.Now()
	tries := NewTries(func() time.Time { return now })
	for i := range triesOfAddress {
		if err := tries.take(fmt.Sprint(i), fmt.Sprintf("2001:db8:1:2::%x", i)); err != nil {
			t.Fatal(i, err)
		}
	}
	if err := tries.take("another", "2001:db8:1:2:ffff::1"); fault.KindOf(err) != fault.RateLimited {
		t.Errorf("the next one of the network: %v", err)
	}
	for _, other := range []string{"2001:db8:1:3::1", "192.0.2.1", "::ffff:192.0.2.2", "", "no address"} {
		if err := tries.take("another", other); err != nil {
			t.Errorf("%s: %v", other, err)
		}
	}
}

// TestTriesAreNotForgiven keeps who has used up the tries in mind, however many others
// somebody makes up.
func TestTriesAreNotForgiven(t *testing.T) {
	t.Parallel()
	now := time.Now()
	tries := NewTries(func() time.Time { return now })
	for i := range triesOfEmail {
		if err := tries.take("ada@example.com", fmt.Sprint("10.0.0.", i)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range maxTried {
		tries.take(fmt.Sprint(i), fmt.Sprint("10.1.", i/250, ".", i%250)) //nolint:errcheck // only to be many
	}
	if err := tries.take("ada@example.com", "10.9.9.9"); fault.KindOf(err) != fault.RateLimited {
		t.Errorf("forgiven: %v", err)
	}
	if len(tries.of) > maxTried+1 {
		t.Errorf("%d are kept", len(tries.of))
	}
}
