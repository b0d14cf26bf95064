package notify

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/action"
	"tas-service/internal/bug"
	"tas-service/internal/fault"
	"tas-service/internal/run"
)

// Bounds of what a message tells.
const (
	failuresTold = 20
	runsLooked   = 200 // back, for the run before
	bugsToPeople = 10  // messages about bugs of one run, in a chat or a mailbox
)

// newsFor is how long after its end a run is told of. Actions of messages are kept longer.
const newsFor = 30 * 24 * time.Hour

// events is the name space of event IDs.
var events = uuid.MustParse("5a0c1cbb-6f3c-5d0e-9d6a-0f4f1f1f7a55")

// eventID answers the ID of an event: the same whenever it is made.
func eventID(parts ...string) string {
	return "evt_" + strings.ReplaceAll(uuid.NewSHA1(events, []byte(strings.Join(parts, "/"))).String(), "-", "")
}

// wish is what is to be sent: it has no secret, those are read when it is.
type wish struct {
	Destination string `json:"destination"`
	EventID     string `json:"eventId"`
	Event       Event  `json:"event"`
}

// Serial is what actions of a destination have in common: one message at a time goes there.
func Serial(destinationID string) string { return "notify/" + destinationID }

// ask records that an event is to be told to a destination, once.
func (s *Service) ask(ctx context.Context, d Destination, e Event, by string) (action.Action, error) {
	return s.Actions.Ask(ctx, action.Wish{ProjectID: d.ProjectID, Key: Serial(d.ID) + "/" + e.ID, Kind: action.Message, Target: d.Name + " (" + string(d.Kind) + ")",
		About: headline(e), Serial: Serial(d.ID), AskedBy: by, Detail: wish{Destination: d.ID, EventID: e.ID, Event: e}, Once: true})
}

// RunEnded asks for all messages about a run that has ended, and about the bugs that were
// opened or reopened in it. Asking twice asks once.
func (s *Service) RunEnded(ctx context.Context, r run.Run) error {
	ds, err := s.Store.Destinations(ctx, r.ProjectID)
	if err != nil {
		return err
	}
	at := s.Clock().UTC()
	if r.FinishedAt != nil {
		at = r.FinishedAt.UTC()
	}
	// It may be asked again long after, when the run was judged anew: then there is no news
	// for who was not there, and it is no longer known what was sent.
	if len(ds) == 0 || s.Clock().Sub(at) > newsFor {
		return nil
	}
	p, err := s.Projects.Project(ctx, r.ProjectID)
	if err != nil {
		return err
	}
	// A run of the default branch that broke down before it was cloned has no name of it;
	// where the project does not tell either, silence would be worse than one message more.
	branch := cmp.Or(r.Branch, p.Repository.Branch)
	ds = slices.DeleteFunc(ds, func(d Destination) bool {
		return d.Disabled != "" || branch != "" && !d.Filter.Branch(branch) || d.CreatedAt.After(at)
	})
	if len(ds) == 0 {
		return nil
	}
	told, keys, err := s.told(ctx, r)
	if err != nil {
		return err
	}
	finished := Event{ID: eventID(string(RunFinished), r.ID), Type: RunFinished, Timestamp: at, Data: Data{Project: Project{p.ID, p.Name}, Run: told}}
	bugs, err := s.bugEvents(ctx, r, keys, finished)
	if err != nil {
		return err
	}
	for _, d := range ds {
		if d.Filter.wants(finished) {
			if _, err := s.ask(ctx, d, finished, ""); err != nil {
				return err
			}
		}
		n := 0
		for _, e := range bugs {
			if !d.Filter.wants(e) || d.Kind != Webhook && n >= bugsToPeople {
				continue
			}
			n++
			if _, err := s.ask(ctx, d, e, ""); err != nil {
				return err
			}
		}
	}
	return nil
}

// wants reports whether the filter lets an event through, its branch aside.
func (f Filter) wants(e Event) bool {
	if !slices.Contains(f.Events, e.Type) {
		return false
	}
	r := e.Data.Run
	if e.Type != RunFinished || r == nil {
		return true
	}
	// Who cancels a run knows; it tells nothing of the tests.
	cancelled := r.Phase == run.Cancelled
	return (!f.OnlyFailures || r.Verdict == run.Fail && !cancelled) && (!f.OnlyChanges || r.Changed() && !cancelled)
}

// told answers what is told of a run, and the keys of all bugs that were met in it.
func (s *Service) told(ctx context.Context, r run.Run) (*Run, []string, error) {
	out := &Run{ID: r.ID, Name: r.Name, Branch: r.Branch, Commit: r.Commit, Environment: r.Environment, Trigger: r.Trigger, Phase: r.Phase, Verdict: r.Verdict,
		Total: r.Total, Counts: r.Counts, Failures: []Failure{}, URL: s.RunURL(r.ID), StartedAt: r.StartedAt, FinishedAt: r.FinishedAt}
	if r.Error != nil {
		out.Error = firstLine(r.Error.Message)
	}
	var keys []string
	for x, err := range run.AllResults(ctx, s.Runs, run.ResultQuery{RunID: r.ID, Statuses: []run.Status{run.StatusFailed, run.StatusBug}}) {
		if err != nil {
			return nil, nil, err
		}
		if x.BugKey != "" && !slices.Contains(keys, x.BugKey) {
			keys = append(keys, x.BugKey)
		}
		if len(out.Failures) < failuresTold {
			f := Failure{Title: tidy(strings.Join(x.TitlePath, " › "), 500), File: tidy(x.File, 500), Bug: x.BugKey}
			if x.Error != nil {
				f.Error = firstLine(x.Error.Message)
			}
			out.Failures = append(out.Failures, f)
		}
	}
	before, err := s.before(ctx, r)
	out.Before = before
	return out, keys, err
}

// before answers the verdict of the run before: the last one that ended on the same branch
// and environment, of the same selection, and was not cancelled.
func (s *Service) before(ctx context.Context, r run.Run) (run.Verdict, error) {
	if r.Branch == "" {
		return "", nil // of all branches it would be another one's
	}
	same, err := json.Marshal(r.Selection)
	if err != nil {
		return "", fault.Wrap(err, fault.Internal, "write a selection")
	}
	q := run.Query{ProjectID: r.ProjectID, Branch: r.Branch, After: &run.Cursor{CreatedMs: r.CreatedAt.UnixMilli(), ID: r.ID}, Limit: runsLooked}
	q.Phases = []run.Phase{run.Passed, run.Healed, run.Failed, run.ProcessError}
	rs, err := s.Runs.Runs(ctx, q)
	if err != nil {
		return "", err
	}
	for _, x := range rs {
		if other, err := json.Marshal(x.Selection); err == nil && string(other) == string(same) && x.Environment == r.Environment {
			return x.Verdict, nil
		}
	}
	return "", nil
}

// bugEvents answers an event for each bug that a run opened or reopened.
func (s *Service) bugEvents(ctx context.Context, r run.Run, keys []string, finished Event) ([]Event, error) {
	var out []Event
	for _, key := range keys {
		n, err := bug.NumberOf(key)
		if err != nil {
			return nil, err
		}
		b, err := s.Bugs.Bug(ctx, r.ProjectID, n)
		if fault.KindOf(err) == fault.NotFound {
			continue // of another time
		}
		if err != nil {
			return nil, err
		}
		for _, h := range b.History {
			if h.RunID != r.ID || h.To != bug.NeedsTriage || h.From == h.To {
				continue
			}
			kind := BugReopened
			if h.From == "" {
				kind = BugOpened
			}
			e := finished
			e.ID, e.Type, e.Timestamp = eventID(string(kind), b.ID, r.ID), kind, h.At.UTC().Truncate(time.Millisecond)
			e.Data.Bug = &Bug{Key: b.Key(), Title: tidy(b.Title, 500), Severity: string(b.Severity), State: string(b.State), URL: s.BugURL(b)}
			out = append(out, e)
		}
	}
	return out, nil
}
