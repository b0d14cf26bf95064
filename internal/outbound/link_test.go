package outbound_test

import (
	"testing"

	"tas-service/internal/fault"
	"tas-service/internal/outbound"
)

// TestLinkIsNotCalled refuses addresses at which clouds tell a machine's secrets, however
// they are written.
func TestLinkIsNotCalled(t *testing.T) {
	t.Parallel()
	c := outbound.New(outbound.Config{Who: "GitHub", Explain: func(int, func(string) string, string) error { return nil }})
	for _, at := range []string{"http://169.254.169.254/latest/meta-data", "http://[::ffff:169.254.169.254]/", "http://[fe80::1]/", "http://[fd00:ec2::254]/", "http://100.100.100.200/"} {
		resp, err := c.Get(at)
		if err == nil {
			resp.Body.Close() //nolint:errcheck // it is not to be there
		}
		if f := fault.As(err); f == nil || f.Kind != fault.Invalid {
			t.Errorf("%s: %v", at, err)
		}
	}
}
