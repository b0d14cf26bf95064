package run_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"tas-service/internal/run"
)

// ended is a list of runs that have ended, by ID.
type ended struct{ ids []string }

func (e *ended) Unannounced(_ context.Context, after string, limit int) (out []run.Run, err error) {
	for _, id := range e.ids {
		if id > after && len(out) < limit {
			out = append(out, run.Run{ID: id})
		}
	}
	return out, nil
}

func (e *ended) Announced(_ context.Context, r run.Run) error {
	e.ids = slices.DeleteFunc(e.ids, func(x string) bool { return x == r.ID })
	return nil
}

// TestAnnouncer tells everybody of every run; where a listener fails or panics the run is
// left for the next step, and the others are not.
func TestAnnouncer(t *testing.T) {
	t.Parallel()
	e, sick := &ended{}, true
	for i := range 250 {
		e.ids = append(e.ids, fmt.Sprintf("%03d", i))
	}
	told := map[string]int{}
	a := run.Announcer{Store: e, Listeners: []func(context.Context, run.Run) error{
		func(_ context.Context, r run.Run) error {
			switch {
			case sick && r.ID == "000":
				return errors.New("no")
			case sick && r.ID == "100":
				panic("no")
			}
			return nil
		},
		func(_ context.Context, r run.Run) error { told[r.ID]++; return nil },
	}}
	if err := a.Step(t.Context()); err == nil || !slices.Equal(e.ids, []string{"000", "100"}) || len(told) != 250 {
		t.Fatalf("%v are left, %d were told, %v", e.ids, len(told), err)
	}
	sick = false
	if err := a.Step(t.Context()); err != nil || len(e.ids) != 0 || told["000"] != 2 || told["001"] != 1 {
		t.Errorf("%v are left, %v", e.ids, err)
	}
	a.Leading = func() bool { return false }
	e.ids = []string{"x"}
	if err := a.Step(t.Context()); err != nil || len(e.ids) != 1 {
		t.Errorf("one that does not lead announces: %v", err)
	}
}
