// Package bounds says how far a share that was counted may be from the true one.
package bounds

import "math"

// Wilson answers the 95 % bounds of k of n (E. B. Wilson, Probable inference, the law of
// succession, and statistical inference, JASA 1927); 0 and 1 of none.
func Wilson(k, n int) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	const z = 1.959964
	p, m := float64(k)/float64(n), float64(n)
	mid := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return max(0, mid-half), min(1, mid+half)
}
