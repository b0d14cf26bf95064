package forgetest

import "time"

// SetTime sets the clock by which things are dated from now on; each is a second later.
func (d *Double) SetTime(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now = t.UTC()
}
