package bounds

import (
	"math"
	"testing"
)

// TestWilson holds the bounds against published ones.
func TestWilson(t *testing.T) {
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{{0, 0, 0, 1}, {0, 10, 0, 0.2775}, {5, 10, 0.2366, 0.7634}, {81, 263, 0.2553, 0.3662}, {10, 10, 0.7225, 1}} {
		if low, high := Wilson(c.k, c.n); math.Abs(low-c.low) > 1e-3 || math.Abs(high-c.high) > 1e-3 {
			t.Errorf("%d of %d: %.4f to %.4f", c.k, c.n, low, high)
		}
	}
}
