package heal

import (
	"context"
	"strings"
	"time"

	"tas-service/internal/account"
	"tas-service/internal/agent"
)

// Week is what healing did in a week.
type Week struct {
	Begin     time.Time // Monday, UTC
	Sessions  int
	Completed int // of these
	Tests     map[agent.Verdict]int
	Pulls     int // pull requests that were asked for
	Merged    int
	Closed    int
	Rejected  int           // by a person, or closed without a merge
	Reverted  int           // merged, and later taken back
	Took      time.Duration // of all completed sessions together
}

// Figures is what healing did, the latest week first.
type Figures struct {
	Weeks    []Week
	Total    Week
	Classes  map[Class]int // of all failures that were looked at
	Complete bool          // false where there were more sessions than are looked at
}

// sessionsLooked bounds the sessions that figures are made of.
const sessionsLooked = 2000

// Figures answers what healing did in the actor's project since a time.
func (s *Service) Figures(ctx context.Context, actor account.Actor, since time.Time) (Figures, error) {
	all, err := s.Agents.List(ctx, actor, agent.Query{Since: since, Limit: sessionsLooked})
	if err != nil {
		return Figures{}, err
	}
	out := Figures{Classes: map[Class]int{}, Complete: len(all) < sessionsLooked, Total: Week{Begin: since, Tests: map[agent.Verdict]int{}}}
	pulls := map[string]bool{}
	for _, x := range all {
		begin := monday(x.CreatedAt)
		if n := len(out.Weeks); n == 0 || !out.Weeks[n-1].Begin.Equal(begin) {
			out.Weeks = append(out.Weeks, Week{Begin: begin, Tests: map[agent.Verdict]int{}})
		}
		reverted := false
		if x.Pull != nil && x.Pull.State == "merged" {
			if reverted, err = s.reverted(ctx, x); err != nil {
				return out, err
			}
		}
		first := x.Pull != nil && !pulls[x.Pull.Key]
		for _, w := range []*Week{&out.Weeks[len(out.Weeks)-1], &out.Total} {
			w.add(x, first, reverted)
		}
		if x.Pull != nil {
			pulls[x.Pull.Key] = true
		}
		for _, o := range x.Outcomes {
			out.Classes[Class(o.Class)]++
		}
	}
	return out, nil
}

func (w *Week) add(x agent.Session, firstOfPull, reverted bool) {
	w.Sessions++
	for _, o := range x.Outcomes {
		w.Tests[o.Outcome]++
	}
	if x.Status == agent.Completed && x.StartedAt != nil && x.FinishedAt != nil {
		w.Completed++
		w.Took += x.FinishedAt.Sub(*x.StartedAt)
	}
	if x.Decision != nil && x.Decision.Word == Rejected || firstOfPull && x.Pull.State == "closed" {
		w.Rejected++
	}
	if !firstOfPull {
		return
	}
	w.Pulls++
	switch x.Pull.State {
	case "merged":
		w.Merged++
		if reverted {
			w.Reverted++
		}
	case "closed":
		w.Closed++
	}
}

func monday(t time.Time) time.Time {
	t = t.UTC().Truncate(24 * time.Hour)
	return t.AddDate(0, 0, -int(t.Weekday()+6)%7)
}

// reverted reports whether a repair that was merged was taken back: what the test was last
// seen to do goes by the old locator again, and not by the new one.
func (s *Service) reverted(ctx context.Context, x agent.Session) (bool, error) {
	st, err := load(x.State)
	if err != nil {
		return false, err
	}
	for _, f := range st.repairs() {
		kept, err := s.Shelf.Records.Evidence(ctx, x.ProjectID, f.TestID, f.Browser, f.Environment)
		if err != nil {
			return false, err
		}
		if len(kept) == 0 || x.FinishedAt == nil || kept[0].At.Before(*x.FinishedAt) || kept[0].RunID == x.RunID {
			continue
		}
		t, err := s.Shelf.Open(ctx, kept[0])
		if err != nil {
			continue // it was removed meanwhile
		}
		old, now := false, false
		for i := range t.Steps {
			old = old || strings.Contains(t.Steps[i].Locator, f.Before)
			now = now || strings.Contains(t.Steps[i].Locator, f.After)
		}
		if old && !now {
			return true, nil
		}
	}
	return false, nil
}
