package dispatch

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
	"time"

	"tas-service/internal/attempt"
	"tas-service/internal/run"
)

// planUnits gathers the tests of a sharded run into the units that they are handed out
// in, longest first, and answers what is to be expected of that. Set-up is in none.
func planUnits(runID string, tests []attempt.ChosenTest, p *predictor, workers int) ([]Unit, run.Plan) {
	var units []Unit
	var plan run.Plan
	at := map[string]int{}
	for _, t := range tests {
		if t.Setup {
			continue
		}
		key := cmp.Or(t.Unit, t.PlaywrightID)
		i, ok := at[key]
		if !ok {
			i = len(units)
			at[key] = i
			units = append(units, Unit{RunID: runID, Browser: t.Browser, File: t.File, State: Waiting})
		}
		d, known := p.of(t)
		u := &units[i]
		u.Tests, u.Predicted, u.Serial = append(u.Tests, t.PlaywrightID), u.Predicted+d, u.Serial || t.SerialGroup != ""
		plan.Tests++
		plan.TotalMs += d.Milliseconds()
		if known {
			plan.Known++
		}
	}
	slices.SortStableFunc(units, func(a, b Unit) int { return cmp.Compare(b.Predicted, a.Predicted) })
	for i := range units {
		units[i].Position = i
	}
	plan.Units = len(units)
	if len(units) > 0 {
		plan.LongestMs, plan.LongestFile = units[0].Predicted.Milliseconds(), units[0].File
	}
	plan.PredictedMs = makespan(units, workers).Milliseconds()
	return units, plan
}

// makespan answers how long the units take on a number of workers when each takes the
// next one as it becomes free (Graham's list scheduling, longest first).
func makespan(units []Unit, workers int) time.Duration {
	free := make(times, max(1, workers))
	var end time.Duration
	for _, u := range units {
		free[0] += u.Predicted
		end = max(end, free[0])
		heap.Fix(&free, 0)
	}
	return end
}

// times is a heap of when workers are free.
type times []time.Duration

func (t times) Len() int           { return len(t) }
func (t times) Less(i, j int) bool { return t[i] < t[j] }
func (t times) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }
func (t *times) Push(x any)        { *t = append(*t, x.(time.Duration)) }
func (t *times) Pop() any          { panic("dispatch: workers do not go away") }

// adviseShards warns of more shards than can help: the longest unit bounds the run, and so
// does the room that the installation has.
func adviseShards(r *run.Run, room int) {
	p := r.Plan
	if room < r.ShardCount {
		r.Warn("few-workers", fmt.Sprintf("This installation has room for %d of the %d shards at once; more do not make the run quicker. Its operator can raise TAS_MAX_ATTEMPTS.", room, r.ShardCount))
	}
	if p.LongestMs == 0 || p.Units == 0 {
		return
	}
	useful := max(1, int((p.TotalMs+p.LongestMs-1)/p.LongestMs))
	switch {
	case p.Units < r.ShardCount:
		r.Warn("too-many-shards", fmt.Sprintf("The selected tests come in %d parts that can run apart, so %d of the %d shards have nothing to do. Files in Playwright's default mode stay whole: fullyParallel would split them.",
			p.Units, r.ShardCount-p.Units, r.ShardCount))
	case p.Known > 0 && useful < r.ShardCount:
		r.Warn("too-many-shards", fmt.Sprintf("More than %d shards are not quicker: %s alone takes about %s. Split it, or let its tests run in parallel.",
			useful, p.LongestFile, (time.Duration(p.LongestMs)*time.Millisecond).Round(100*time.Millisecond)))
	}
}
