package notify_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/quotedprintable"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"tas-service/internal/account"
	"tas-service/internal/bug"
	"tas-service/internal/dispatch"
	"tas-service/internal/notify"
	"tas-service/internal/notify/mail"
	"tas-service/internal/notify/notifytest"
	"tas-service/internal/run"
)

// failed records a run in which so many tests failed over one thing, files it as the
// dispatcher does, and has it told, twice.
func (o *office) failed(branch, message string, n int) run.Run {
	o.t.Helper()
	ctx := context.Background()
	must := func(err error) {
		o.t.Helper()
		if err != nil {
			o.t.Fatal(err)
		}
	}
	o.n++
	r := run.Run{ID: uuid.Must(uuid.NewV7()).String(), ProjectID: o.p.ID, Name: fmt.Sprint("run-", o.n), Trigger: run.TriggerCI, Phase: run.Queued, Verdict: run.Pending, Selection: run.Selection{Kind: run.SelectSuite}, Branch: branch, OnDefault: true, CreatedAt: time.Now()}
	must(second(o.db.CreateRun(ctx, &r, nil)))
	a := dispatch.Attempt{ID: uuid.NewString(), RunID: r.ID, ProjectID: o.p.ID, Number: 1, State: dispatch.Active, TokenHash: uuid.NewString(), HeartbeatAt: time.Now(), CreatedAt: time.Now()}
	must(o.db.CreateAttempt(ctx, a, func(r *run.Run) error { return r.MoveTo(run.Preparing) }))
	var rs []run.Result
	for i := range n {
		rs = append(rs, run.Result{RunID: r.ID, PlaywrightID: fmt.Sprint("p", i), TestID: fmt.Sprint("test-", i), Position: i, Title: fmt.Sprint("adds ", i), TitlePath: []string{fmt.Sprint("adds ", i)}, File: "cart.spec.ts", Unit: -1,
			Status: run.StatusFailed, Error: &run.Error{Message: message + "\n  at cart.spec.ts"}})
	}
	must(o.db.Plan(ctx, a.ID, rs, nil, func(a *dispatch.Attempt, r *run.Run) (bool, error) {
		r.Ending = &run.Ending{Complete: true, Status: "failed"}
		a.State = dispatch.Finished
		return true, errors.Join(r.MoveTo(run.Running), r.MoveTo(run.Merging))
	}))
	bugs := bug.Service{Store: o.db, Clock: time.Now}
	must(bugs.File(ctx, r.ID))
	must(o.db.UpdateRun(ctx, r.ID, func(r *run.Run) error {
		now := time.Now()
		r.FinishedAt, r.Verdict, r.Counts.Failed, r.Total = &now, run.Fail, n, n
		return r.MoveTo(run.Failed)
	}))
	r, err := o.db.Run(ctx, r.ID)
	must(err)
	for range 2 {
		must(o.RunEnded(ctx, r))
	}
	return r
}

// TestBugs tells of a bug when it is opened and when it is opened again, each once, and not
// of one that is only met again; in e-mails as in webhooks.
func TestBugs(t *testing.T) {
	t.Parallel()
	o, ctx := newOffice(t), context.Background()
	server := notifytest.NewMailServer(t, "", "", nil, false)
	host, port, err := net.SplitHostPort(server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	cfg := mail.Config{Host: host, From: "TAS <tas@example.com>", Security: mail.None}
	if cfg.Port, err = strconv.Atoi(port); err != nil {
		t.Fatal(err)
	}
	if o.Mailer, err = mail.New(cfg); err != nil {
		t.Fatal(err)
	}
	hook := notifytest.NewReceiver(t, func(http.Header, []byte) error { return nil })
	o.add(notify.Webhook, hook.URL, notify.Filter{Events: []notify.Type{notify.BugOpened, notify.BugReopened}})
	_, _, err = o.Save(ctx, o.v, notify.Destination{ProjectID: o.p.ID, Name: "people", Kind: notify.Email, To: []string{"ada@example.com", "bo@example.com"},
		Filter: notify.Filter{Events: notify.Types(), Branches: []string{"main"}}})
	if err != nil {
		t.Fatal(err)
	}
	said := func() (out []string) {
		t.Helper()
		o.carryOut()
		for range len(hook.Arrived) {
			x := <-hook.Arrived
			var e struct {
				Type string
				Data struct {
					Bug struct{ Key, Title, URL, State string }
					Run struct{ ID string }
				}
			}
			if err := json.Unmarshal(x.Body, &e); err != nil || e.Data.Bug.URL != "https://tas.example/bugs/"+e.Data.Bug.Key || e.Data.Run.ID == "" {
				t.Errorf("%s, %v", x.Body, err)
			}
			out = append(out, e.Type+" "+e.Data.Bug.Key)
		}
		return out
	}
	is := func(what string, got []string, want string) {
		t.Helper()
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: %q, not %q", what, got, want)
		}
	}
	o.failed("main", "Error: the cart is empty\r\nBcc: eve@example.com", 2)
	is("a first failure", said(), "bug.opened BUG-1")
	o.failed("main", "Error: the cart is empty\r\nBcc: eve@example.com", 2)
	is("the same again", said(), "")
	bugs := bug.Service{Store: o.db, Clock: time.Now}
	if err := bugs.Move(ctx, account.Actor{ProjectID: o.p.ID, Via: account.ViaKey, KeyID: "k"}, "BUG-1", bug.Fixed, nil, ""); err != nil {
		t.Fatal(err)
	}
	o.failed("feature", "Error: the cart is empty\r\nBcc: eve@example.com", 1)
	is("after it was fixed", said(), "bug.reopened BUG-1")
	// Letters: three of bugs and runs on main, none of the branch that nobody there asked for.
	subjects := map[string]int{}
	for _, l := range server.Letters() {
		head, body, _ := strings.Cut(l.Text, "\r\n\r\n")
		if strings.Contains(strings.ToLower(head), "\nbcc:") || strings.Join(l.To, " ") != "ada@example.com bo@example.com" {
			t.Errorf("to %v:\n%s", l.To, head)
		}
		for line := range strings.Lines(head) {
			if s, ok := strings.CutPrefix(line, "Subject: "); ok {
				subjects[strings.TrimSpace(s)]++
			}
		}
		if text, err := io.ReadAll(quotedprintable.NewReader(strings.NewReader(body))); err != nil || !strings.Contains(string(text), "https://tas.example/") || !strings.Contains(string(text), "adds 0") {
			t.Errorf("%s, %v", text, err)
		}
	}
	if len(server.Letters()) != 3 || subjects["Shop: 2 of 2 tests failed on main"] != 2 {
		t.Errorf("%d letters: %v", len(server.Letters()), subjects)
	}
}
