package forgetest

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"tas-service/internal/fault"
	"tas-service/internal/forge"
)

// RunReceiver holds a receiver to its interface, with webhooks of a double.
func RunReceiver(t *testing.T, start func(t *testing.T) *Double, r forge.Receiver, secret string) {
	t.Helper()
	const repo = "shop/tests"
	d := start(t)
	d.Commit(t, repo, "heal/1", map[string]string{"a.ts": "a\n"})
	n := d.OpenPull(t, repo, repo, "heal/1", "main")
	reader := forge.User{ID: itoa(d.account("reader").id), Login: "reader"}
	receive := func(x forge.Delivery) forge.Event {
		t.Helper()
		if peeked, err := r.Peek(x); err != nil || peeked != repo {
			t.Errorf("%q, %v", peeked, err)
		}
		e, err := r.Receive(x, secret)
		if err != nil || e.ID == "" || e.Repo != repo || e.Digest != forge.Digest(x.Body) {
			t.Errorf("%+v, %v", e, err)
		}
		return e
	}
	for _, c := range []struct {
		do     func(t *testing.T, repo string, n int)
		what   string
		state  forge.State
		action string
	}{{nil, "opened", forge.Open, forge.ActionOpened}, {nil, "updated", forge.Open, forge.ActionUpdated}, {d.Close, "closed", forge.Closed, forge.ActionClosed},
		{d.Reopen, "reopened", forge.Open, forge.ActionReopened}, {d.Merge, "merged", forge.Merged, forge.ActionMerged}} {
		if c.do != nil {
			c.do(t, repo, n)
		}
		if e := receive(d.Delivery(repo, n, c.what, "", secret)); e.Kind != forge.EventPull || e.Number != n || e.State != c.state || e.Action != c.action || e.Draft || e.Sender != reader {
			t.Errorf("%s: %+v", c.what, e)
		}
	}
	c := d.Say(repo, n, "reader", "/tas run")
	said := d.Delivery(repo, n, "commented", c, secret)
	if e := receive(said); e.Kind != forge.EventComment || e.Number != n || e.Comment.ID != c || e.Comment.Body != "/tas run" || e.Comment.Author != reader || e.Comment.CreatedAt.IsZero() {
		t.Errorf("%+v", e)
	}
	// An edit, as our own come back, is no new comment.
	if e := receive(d.Delivery(repo, n, "edited", c, secret)); e.Kind != forge.EventOther || e.Comment.ID != "" {
		t.Errorf("an edit: %+v", e)
	}
	head := receive(d.PushDelivery(repo, "main", secret))
	if head.Kind != forge.EventPush || head.Branch != "main" || !head.Default || len(head.Commit) != 40 || head.Sender.Login != "owner" {
		t.Errorf("%+v", head)
	}
	if e := receive(d.PushDelivery(repo, "gone", secret)); e.Default || e.Branch != "gone" || e.Commit != "" {
		t.Errorf("a branch that was deleted: %+v", e)
	}
	// What is not signed with the secret is not taken, whatever it says.
	for name, x := range map[string]struct {
		d      forge.Delivery
		secret string
		kind   fault.Kind
	}{
		"wrong secret": {said, secret + "x", fault.Unauthenticated},
		"no secret":    {said, "", fault.Unauthenticated},
		"no headers":   {forge.Delivery{Header: func(string) string { return "" }, Body: said.Body}, secret, fault.Unauthenticated},
		"no body":      {forge.Delivery{Header: said.Header}, secret, fault.Invalid},
		"too large":    {forge.Delivery{Header: said.Header, Body: make([]byte, forge.MaxDelivery+1)}, secret, fault.TooLarge},
	} {
		_, err := r.Receive(x.d, x.secret)
		want(t, name, err, x.kind)
	}
	if d.Kind != forge.GitLab || strings.HasPrefix(secret, "whsec_") {
		_, err := r.Receive(forge.Delivery{Header: said.Header, Body: append(slices.Clone(said.Body), ' ')}, secret)
		want(t, "a body that was changed", err, fault.Unauthenticated)
	}
	_, err := r.Peek(forge.Delivery{Header: said.Header, Body: []byte(`[1]`)})
	want(t, "another shape", err, fault.Invalid)
	_, err = r.Peek(forge.Delivery{Header: func(string) string { return "" }, Body: said.Body})
	want(t, "another forge", err, fault.Invalid)
	overHTTP(t, d, r, secret)
}

// overHTTP receives what the double sends by itself.
func overHTTP(t *testing.T, d *Double, r forge.Receiver, secret string) {
	events := make(chan forge.Event, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		body := make([]byte, req.ContentLength)
		if _, err := req.Body.Read(body); err != nil && err.Error() != "EOF" {
			t.Error(err)
		}
		e, err := r.Receive(forge.Delivery{Header: req.Header.Get, Body: body}, secret)
		if err != nil {
			t.Error(err)
		}
		events <- e
	}))
	defer server.Close()
	d.AddHook("shop/tests", server.URL, secret)
	d.Commit(t, "shop/tests", "hooked", map[string]string{"h.ts": "h\n"})
	n := d.OpenPull(t, "shop/tests", "shop/tests", "hooked", "main")
	if e := <-events; e.Kind != forge.EventPull || e.Number != n || e.Action != forge.ActionOpened {
		t.Errorf("%+v", e)
	}
}

// FuzzReceiver holds a receiver to taking nothing that is not signed, and to surviving
// whatever is.
func FuzzReceiver(f *testing.F, r forge.Receiver, event string, sign func(body []byte, event, id string) func(string) string, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s), event)
	}
	f.Fuzz(func(t *testing.T, body []byte, event string) {
		plain := forge.Delivery{Header: func(string) string { return event }, Body: body}
		if _, err := r.Receive(plain, "the secret"); err == nil {
			t.Error("what is not signed was taken")
		}
		if repo, err := r.Peek(plain); (err == nil) != (forge.CheckRepo(repo) == nil) {
			t.Errorf("%q, %v", repo, err)
		}
		e, err := r.Receive(forge.Delivery{Header: sign(body, event, "id"), Body: body}, "the secret")
		if err != nil {
			if k := fault.KindOf(err); k != fault.Invalid && k != fault.TooLarge {
				t.Errorf("%s: %v", k, err)
			}
			return
		}
		if e.ID == "" || forge.CheckRepo(e.Repo) != nil || e.Kind == "" || (e.Kind == forge.EventPull || e.Kind == forge.EventComment) != (e.Number > 0) || (e.Kind == forge.EventComment) != (e.Comment.ID != "") {
			t.Errorf("%+v", e)
		}
	})
}
