package storetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/agent"
	"tas-service/internal/evidence"
	"tas-service/internal/fault"
	"tas-service/internal/run"
	"tas-service/internal/store"
)

func newBatch(p, runID string) (agent.Batch, []agent.Session) {
	now := time.Now().UTC().Truncate(time.Millisecond)
	b := agent.Batch{ID: uuid.Must(uuid.NewV7()).String(), ProjectID: p, Kind: agent.Heal, RunID: runID, Wish: agent.Wish{AutoCreatePR: true, Metadata: map[string]any{"a": "b"}}, AskedBy: "key:1", CreatedAt: now}
	var ss []agent.Session
	for i := range 2 {
		ss = append(ss, agent.Session{ID: uuid.Must(uuid.NewV7()).String(), BatchID: b.ID, ProjectID: p, RunID: runID, Kind: agent.Heal, Status: agent.Queued, Title: fmt.Sprint("t", i), TestIDs: []string{"x"}, CreatedAt: now})
	}
	return b, ss
}

// agentSessions keeps sessions whole, counts their changes and their events, and loses none of
// two that change one at once.
func agentSessions(t *testing.T, db, other *store.DB) {
	p, r, _ := fill(t, db)
	ctx := context.Background()
	b, ss := newBatch(p.ID, r.ID)
	earlier, err := db.CreateBatch(ctx, b, ss, nil, false)
	must(t, err)
	if earlier != nil {
		t.Fatal("a new batch has an earlier one")
	}
	if now, err := db.Run(ctx, r.ID); err != nil || now.HealBatch != b.ID {
		t.Errorf("the run names %q, %v", now.HealBatch, err)
	}
	if got, err := db.Batch(ctx, b.ID); err != nil || got.AskedBy != b.AskedBy || !got.Wish.AutoCreatePR || got.Wish.Metadata["a"] != "b" || !got.CreatedAt.Equal(b.CreatedAt) {
		t.Errorf("%+v, %v", got, err)
	}
	const n = 20
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() {
			err := []*store.DB{db, other}[i%2].UpdateAgentSession(ctx, ss[0].ID, func(x *agent.Session) ([]agent.Event, error) {
				x.Usage.Executions++
				return []agent.Event{{At: time.Now(), Kind: agent.Ran, Text: "a"}, {At: time.Now(), Kind: agent.Decided, Text: "b"}}, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	got, err := db.AgentSession(ctx, ss[0].ID)
	must(t, err)
	events, err := db.Events(ctx, ss[0].ID, 0, 1000)
	must(t, err)
	if got.Usage.Executions != n || got.Version != n || len(events) != 2*n || events[2*n-1].Seq != 2*n {
		t.Errorf("%d executions, version %d, %d events", got.Usage.Executions, got.Version, len(events))
	}
	if latest, err := db.LatestEvents(ctx, ss[0].ID, 3); err != nil || len(latest) != 3 || latest[2].Seq != 2*n {
		t.Errorf("%+v, %v", latest, err)
	}
	start := time.Now().UTC().Truncate(time.Millisecond)
	must(t, db.UpdateAgentSession(ctx, ss[0].ID, func(x *agent.Session) ([]agent.Event, error) {
		x.Status, x.Stage, x.StartedAt, x.Patch = agent.Running, "prove", &start, "diff"
		x.Pull = &agent.PullRequest{Key: "pull-request/k", State: "requested"}
		x.Outcomes = []agent.Outcome{{TestID: "x", Outcome: agent.Healed, Evidence: []string{"e"}}}
		return nil, nil
	}))
	if got, err = db.AgentSession(ctx, ss[0].ID); err != nil || got.Stage != "prove" || !got.StartedAt.Equal(start) || got.Patch != "diff" || len(got.Outcomes) != 1 || got.Pull.State != "requested" {
		t.Errorf("%+v, %v", got, err)
	}
	if of, err := db.SessionsOfPull(ctx, p.ID, "pull-request/k"); err != nil || len(of) != 1 || of[0].ID != ss[0].ID {
		t.Errorf("%+v, %v", of, err)
	}
	if k, used, err := db.CountSessions(ctx, p.ID, start.Add(-time.Hour)); err != nil || k != 1 || used.Executions != n {
		t.Errorf("%d, %+v, %v", k, used, err)
	}
	open, err := db.OpenAgentSessions(ctx)
	must(t, err)
	if len(open) != 2 || open[0].ID != ss[0].ID {
		t.Errorf("%d open", len(open))
	}
	must(t, db.UpdateAgentSession(ctx, ss[1].ID, func(x *agent.Session) ([]agent.Event, error) {
		x.Status, x.FinishedAt = agent.Completed, &start
		return nil, nil
	}))
	if ended, err := db.EndedAgentSessions(ctx, start); err != nil || len(ended) != 1 || ended[0].ID != ss[1].ID {
		t.Errorf("%d ended, %v", len(ended), err)
	}
	if ended, err := db.EndedAgentSessions(ctx, start.Add(time.Second)); err != nil || len(ended) != 0 {
		t.Errorf("%d ended later, %v", len(ended), err)
	}
	if open, err := db.OpenAgentSessions(ctx); err != nil || len(open) != 1 {
		t.Errorf("%d open, %v", len(open), err)
	}
	for what, q := range map[string]agent.Query{"batch": {BatchID: b.ID}, "run": {RunID: r.ID}, "since": {Since: b.CreatedAt}} {
		q.ProjectID, q.Limit = p.ID, 10
		if list, err := db.AgentSessions(ctx, q); err != nil || len(list) != 2 || list[0].ID != ss[1].ID {
			t.Errorf("by %s: %d, %v", what, len(list), err)
		}
	}
	if list, err := db.AgentSessions(ctx, agent.Query{ProjectID: p.ID, Before: ss[1].ID, Statuses: []agent.Status{agent.Running}, Limit: 10}); err != nil || len(list) != 1 {
		t.Errorf("%d, %v", len(list), err)
	}
	for what, err := range map[string]error{"session": second(db.AgentSession(ctx, "none")), "batch": second(db.Batch(ctx, "none")),
		"update": db.UpdateAgentSession(ctx, "none", func(*agent.Session) ([]agent.Event, error) { return nil, nil }), "run": second(db.CreateBatch(ctx, agent.Batch{ID: "b", RunID: "none"}, nil, nil, false))} {
		if fault.KindOf(err) != fault.NotFound {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// batchOnce makes one batch of calls that come at once with one key, and one where only the
// first of a run is wanted.
func batchOnce(t *testing.T, db, other *store.DB) {
	p, r, _ := fill(t, db)
	ctx := context.Background()
	for _, c := range []struct {
		once  *agent.Once
		first bool
	}{{&agent.Once{Key: "k", Fingerprint: "f"}, false}, {nil, true}} {
		before, err := db.AgentSessions(ctx, agent.Query{ProjectID: p.ID, Limit: 100})
		must(t, err)
		var made, known int
		var lock sync.Mutex
		var wait sync.WaitGroup
		for i := range 10 {
			wait.Go(func() {
				b, ss := newBatch(p.ID, r.ID)
				earlier, err := []*store.DB{db, other}[i%2].CreateBatch(ctx, b, ss, c.once, c.first)
				if err != nil {
					t.Error(err)
				}
				lock.Lock()
				defer lock.Unlock()
				if earlier == nil {
					made++
				} else {
					known++
				}
			})
		}
		wait.Wait()
		want := 1
		if c.first {
			want = 0 // the one of before holds
		}
		after, err := db.AgentSessions(ctx, agent.Query{ProjectID: p.ID, Limit: 100})
		must(t, err)
		if made != want || known != 10-want || len(after)-len(before) != 2*want {
			t.Errorf("made %d, known %d, %d sessions", made, known, len(after)-len(before))
		}
	}
	b, ss := newBatch(p.ID, r.ID)
	if _, err := db.CreateBatch(ctx, b, ss, &agent.Once{Key: "k", Fingerprint: "another"}, false); fault.KindOf(err) != fault.Conflict {
		t.Errorf("another request under the same key: %v", err)
	}
	b, ss = newBatch(p.ID, r.ID)
	b.CreatedAt = b.CreatedAt.Add(run.OnceFor + time.Hour)
	if earlier, err := db.CreateBatch(ctx, b, ss, &agent.Once{Key: "k", Fingerprint: "another"}, false); err != nil || earlier != nil {
		t.Errorf("a day later: %v, %v", earlier, err)
	}
}

// keptEvidence keeps the newest of each test, browser and environment, finds tests by the
// lines that they come by, and orders a recording once.
func keptEvidence(t *testing.T, db, other *store.DB) {
	p, _, _ := fill(t, db)
	ctx := context.Background()
	now := time.Now().UTC().Truncate(time.Millisecond)
	var replaced []string
	for i := range 7 {
		old, err := db.KeepEvidence(ctx, evidence.Kept{ProjectID: p.ID, TestID: "t", Browser: "chromium", Environment: "default", RunID: fmt.Sprint("r", i), Commit: "c", At: now.Add(time.Duration(i) * time.Second), Size: 1, Key: fmt.Sprint("k", i),
			Places: []string{"tests/a_b.ts:1", "tests/a.ts:12"}}, 5)
		must(t, err)
		replaced = append(replaced, old...)
	}
	must(t, second(db.KeepEvidence(ctx, evidence.Kept{ProjectID: p.ID, TestID: "u", Browser: "webkit", Environment: "default", RunID: "r", At: now, Key: "u", Places: []string{"tests/a.ts:123", "tests/axb.ts:1"}}, 5)))
	all, err := db.Evidence(ctx, p.ID, "t", "chromium", "default")
	must(t, err)
	if len(all) != 5 || all[0].RunID != "r6" || !slices.Equal(replaced, []string{"k0", "k1"}) || !slices.Equal(all[0].Places, []string{"tests/a_b.ts:1", "tests/a.ts:12"}) || !all[0].At.Equal(now.Add(6*time.Second)) {
		t.Errorf("%+v, replaced %v", all, replaced)
	}
	for place, want := range map[string][]string{"tests/a.ts:12": {"t"}, "tests/a.ts:123": {"u"}, "tests/a_b.ts:1": {"t"}, "a.ts:12": nil, "%": nil} {
		if got, err := db.TestsAt(ctx, p.ID, place, 10); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", place, got, err)
		}
	}
	if keys, err := db.OldEvidence(ctx, now.Add(3*time.Second), 100); err != nil || !slices.Equal(keys, []string{"u", "k2"}) {
		t.Errorf("old: %v, %v", keys, err)
	}

	var ordered int
	var lock sync.Mutex
	var wait sync.WaitGroup
	for i := range 10 {
		wait.Go(func() {
			ok, err := []*store.DB{db, other}[i%2].OrderEvidence(ctx, evidence.Order{RunID: fmt.Sprint("o", i), ProjectID: p.ID, Environment: "default", Commit: "c", At: now}, now.Add(-time.Hour))
			if err != nil {
				t.Error(err)
			}
			lock.Lock()
			defer lock.Unlock()
			if ok {
				ordered++
			}
		})
	}
	wait.Wait()
	if ordered != 1 {
		t.Errorf("%d runs of one commit record", ordered)
	}
	o := evidence.Order{RunID: "other commit", ProjectID: p.ID, Environment: "default", Commit: "d", At: now}
	for range 2 {
		if ok, err := db.OrderEvidence(ctx, o, now.Add(-time.Hour)); err != nil || !ok {
			t.Errorf("ordered %v, %v", ok, err)
		}
	}
	must(t, db.DueEvidence(ctx, o, now.Add(-time.Hour)))
	must(t, db.DueEvidence(ctx, evidence.Order{RunID: "not ordered", ProjectID: p.ID, Environment: "default", Commit: "d", At: now}, now.Add(-time.Hour)))
	if due, err := db.EvidenceDue(ctx, 10); err != nil || len(due) != 1 || due[0].RunID != o.RunID || due[0].Commit != "d" {
		t.Errorf("due: %+v, %v", due, err)
	}
	must(t, db.EvidenceRead(ctx, o.RunID))
	if due, err := db.EvidenceDue(ctx, 10); err != nil || len(due) != 0 {
		t.Errorf("due: %+v, %v", due, err)
	}
}

// hidden keeps trials out of every list and sum of runs.
func hidden(t *testing.T, db, _ *store.DB) {
	p, _, _ := fill(t, db)
	ctx := context.Background()
	now := time.Now().UTC()
	r := run.Run{ID: uuid.NewString(), ProjectID: p.ID, Name: "trial-1", Trigger: run.TriggerTrial, Phase: run.Merging, Verdict: run.Pending, Branch: "only-here", Trial: &run.Trial{Session: "s"}, CreatedAt: now, Total: 1}
	_, err := db.CreateRun(ctx, &r, nil)
	must(t, err)
	must(t, db.UpdateRun(ctx, r.ID, func(r *run.Run) error {
		r.Phase, r.Verdict, r.FinishedAt = run.Failed, run.Fail, &now
		return nil
	}))
	got, err := db.Run(ctx, r.ID)
	if err != nil || got.Trial == nil || got.Trial.Session != "s" {
		t.Errorf("%+v, %v", got.Trial, err)
	}
	rs, err := db.Runs(ctx, run.Query{ProjectID: p.ID, Limit: 10})
	must(t, err)
	un, err := db.Unannounced(ctx, "", 10)
	must(t, err)
	branches, err := db.Branches(ctx, p.ID, 10)
	must(t, err)
	ends, err := db.Ends(ctx, run.EndQuery{ProjectID: p.ID, Every: true, Limit: 10})
	must(t, err)
	if slices.ContainsFunc(rs, func(x run.Run) bool { return x.ID == r.ID }) || slices.ContainsFunc(un, func(x run.Run) bool { return x.ID == r.ID }) || slices.Contains(branches, "only-here") || len(ends) != 0 {
		t.Errorf("a trial is seen: %d runs, %d to announce, %v, %+v", len(rs), len(un), branches, ends)
	}
	if latest, err := db.LatestRun(ctx, p.ID); fault.KindOf(err) != fault.NotFound {
		t.Errorf("the latest run is %s, %v", latest.Name, err)
	}
	if _, err := db.RunBefore(ctx, run.Run{ID: uuid.NewString(), ProjectID: p.ID, Branch: "only-here", CreatedAt: now.Add(time.Hour)}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a trial is the run before: %v", err)
	}
}
