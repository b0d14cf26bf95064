package dispatch

import (
	"io"
	"sync"
	"sync/atomic"

	"tas-service/internal/fault"
)

// meters count what open attempts have stored. They live in this process: after a
// restart an attempt may store as much again, and no more.
type meters struct {
	mu sync.Mutex
	of map[string]*atomic.Int64
}

// meter answers the counter of an attempt.
func (d *Dispatcher) meter(attemptID string) *atomic.Int64 {
	d.meters.mu.Lock()
	defer d.meters.mu.Unlock()
	if d.meters.of == nil {
		d.meters.of = map[string]*atomic.Int64{}
	}
	m := d.meters.of[attemptID]
	if m == nil {
		m = new(atomic.Int64)
		d.meters.of[attemptID] = m
	}
	return m
}

// forgetMeter drops the counter of an attempt that is closed.
func (d *Dispatcher) forgetMeter(attemptID string) {
	d.meters.mu.Lock()
	defer d.meters.mu.Unlock()
	delete(d.meters.of, attemptID)
}

// metered reads until an attempt has stored as much as it may: then fault.TooLarge, which
// ends the upload without a trace. A file with holes counts as what it becomes.
type metered struct {
	r     io.Reader
	meter *atomic.Int64
	most  int64
	read  int64
}

func (m *metered) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.read += int64(n)
	if m.meter.Add(int64(n)) > m.most {
		return 0, errQuota()
	}
	return n, err
}

// refund gives back what an upload took that came to nothing.
func (m *metered) refund() { m.meter.Add(-m.read) }

func errQuota() error {
	return fault.New(fault.TooLarge, "The run has stored as much as its project's disk quota allows.").
		WithFix("Attach less, or raise the quota.")
}
