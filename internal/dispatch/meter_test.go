package dispatch

import (
	"io"
	"strings"
	"testing"

	"tas-service/internal/fault"
)

// TestMeter counts what one attempt stores over all of its uploads.
func TestMeter(t *testing.T) {
	t.Parallel()
	d := &Dispatcher{}
	store := func(attempt string, n int) error {
		_, err := io.Copy(io.Discard, &metered{r: strings.NewReader(strings.Repeat("x", n)), meter: d.meter(attempt), most: 100})
		return err
	}
	if err := store("a", 60); err != nil {
		t.Fatal(err)
	}
	if err := store("a", 41); fault.KindOf(err) != fault.TooLarge {
		t.Errorf("101 of 100 bytes: %v", err)
	}
	if err := store("b", 100); err != nil {
		t.Errorf("another attempt: %v", err)
	}
	d.forgetMeter("a")
	if err := store("a", 100); err != nil {
		t.Errorf("after it was forgotten: %v", err)
	}
}
