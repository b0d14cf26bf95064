package forgetest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"tas-service/internal/fault"
	"tas-service/internal/forge"
)

// deed is what must be done once.
type deed struct {
	name string
	do   func(ctx context.Context, f forge.Forge, number int, text string) error
}

// branch is the deeds' own.
const branch = "once"

func deeds(repo string) []deed {
	return []deed{
		{"ensure", func(ctx context.Context, f forge.Forge, _ int, text string) error {
			_, _, err := forge.Ensure(ctx, f, repo, forge.NewPullRequest{Title: "T " + text, Body: text, Head: branch, Base: "main", Draft: text == "draft"})
			return err
		}},
		{"stick", func(ctx context.Context, f forge.Forge, number int, text string) error {
			_, err := forge.Stick(ctx, f, repo, number, forge.Marker("once"), text, "")
			return err
		}},
	}
}

// count answers how often each deed was done, as a quiet client sees it, and the last text.
func count(t *testing.T, f forge.Forge, repo string, number int) (pulls, sticky int, body, said string) {
	t.Helper()
	ctx := context.Background()
	for n := 1; n < 400; n++ {
		p, err := f.PullRequest(ctx, repo, n)
		if fault.KindOf(err) == fault.NotFound {
			break
		}
		must(t, err)
		if p.Head.Branch == branch && p.Head.Repo == repo && p.State == forge.Open {
			pulls++
			body = p.Body
		}
	}
	all, err := f.Comments(ctx, repo, number)
	must(t, err)
	for _, c := range all {
		if strings.HasPrefix(c.Body, forge.Marker("once")) {
			sticky++
			_, said, _ = strings.Cut(c.Body, "\n")
		}
	}
	return pulls, sticky, body, said
}

// hold checks that a deed was done exactly once, with one of these texts.
func hold(t *testing.T, f Fixture, d deed, number int, text string) {
	t.Helper()
	pulls, sticky, body, said := count(t, f.Fresh(t, nil), f.Repo, number)
	switch {
	case d.name == "ensure" && (pulls != 1 || text != "" && body != text):
		t.Errorf("%d pull requests, saying %q, want %q", pulls, body, text)
	case d.name == "stick" && (sticky != 1 || text != "" && said != text):
		t.Errorf("%d sticky comments, saying %q, want %q", sticky, said, text)
	}
}

// fiftyAtOnce does each deed fifty times at once, one at a time as the database sees to,
// while every fourth call meets trouble: each is tried until it is done.
func fiftyAtOnce(t *testing.T, f Fixture) {
	if f.Fresh == nil {
		t.Skip("no other client is to be had")
	}
	p := begin(t, f, "base-of-comments")
	f.Commit(t, branch, map[string]string{"once.ts": "x\n"})
	if f.Double != nil {
		kinds := []Trouble{{Status: 409, Body: `{"message":"conflict"}`}, {Status: 429, Header: map[string]string{"Retry-After": "0"}}, {Status: 500, Body: "oops"}, {Status: 502, Body: "<html>"},
			{Lost: true}, {Drop: true}, {Status: 503, Header: map[string]string{"Retry-After": "1"}}, {Lost: true}}
		f.Double.SetTrouble(func(call int, _ *http.Request) Trouble {
			// Every fourth or so, without a rhythm that a deed could be locked in.
			dice := uint32(call) * 2654435761 >> 12
			if dice%4 != 0 {
				return Trouble{}
			}
			return kinds[dice/4%uint32(len(kinds))]
		})
	}
	for _, d := range deeds(f.Repo) {
		var one sync.Mutex // as a key's row in the database
		var wait sync.WaitGroup
		for i := range 50 {
			client := f.Fresh(t, nil)
			wait.Go(func() {
				for try := 0; ; try++ {
					one.Lock()
					err := d.do(context.Background(), client, p.Number, fmt.Sprint("text ", i))
					one.Unlock()
					if err == nil {
						return
					}
					// A conflict that somebody else caused is looked at again, too.
					if fault.Permanent(err) && fault.KindOf(err) != fault.Conflict || try > 200 {
						t.Errorf("%s: %v", d.name, err)
						return
					}
				}
			})
		}
		wait.Wait()
	}
	if f.Double != nil {
		f.Double.SetTrouble(nil)
	}
	for _, d := range deeds(f.Repo) {
		hold(t, f, d, p.Number, "")
		must(t, d.do(context.Background(), f.Fresh(t, nil), p.Number, "the last word"))
		hold(t, f, d, p.Number, "the last word")
	}
}

// troubles meets each trouble at each call, and checks what the error says.
func troubles(t *testing.T, f Fixture) {
	if f.Double == nil {
		t.Skip("there is no HTTP to trouble")
	}
	cases := []struct {
		name    string
		trouble Trouble
		kind    fault.Kind
		after   time.Duration
	}{
		{"409", Trouble{Status: 409, Body: `{"message":"is at it"}`}, fault.Conflict, 0},
		{"422", Trouble{Status: 422, Body: `{"message":"Validation Failed"}`}, fault.Invalid, 0},
		{"422 exists", Trouble{Status: 422, Body: `{"message":"Validation Failed","errors":[{"message":"A pull request already exists for x:y."}]}`}, fault.Conflict, 0},
		{"429", Trouble{Status: 429, Header: map[string]string{"Retry-After": "7"}, Body: `{"message":"slowly"}`}, fault.RateLimited, 7 * time.Second},
		{"429 alone", Trouble{Status: 429}, fault.RateLimited, time.Minute},
		{"403 secondary", Trouble{Status: 403, Header: map[string]string{"Retry-After": "30"}, Body: `{"message":"You have exceeded a secondary rate limit."}`}, fault.RateLimited, 30 * time.Second},
		{"403", Trouble{Status: 403, Body: `{"message":"no"}`}, fault.Forbidden, 0},
		{"401", Trouble{Status: 401, Body: `{"message":"Bad credentials"}`}, fault.Unauthenticated, 0},
		{"500", Trouble{Status: 500, Body: "oops"}, fault.Unavailable, 0},
		{"502", Trouble{Status: 502, Body: "<html>bad gateway</html>"}, fault.Unavailable, 0},
		{"503", Trouble{Status: 503, Header: map[string]string{"Retry-After": "9"}}, fault.Unavailable, 9 * time.Second},
		{"not JSON", Trouble{Status: 200, Body: "<html>sign in</html>"}, fault.Unavailable, 0},
		{"nothing", Trouble{Status: 200, Header: map[string]string{"Content-Type": "application/json"}}, fault.Unavailable, 0},
		{"elsewhere", Trouble{Status: 302, Header: map[string]string{"Location": "http://elsewhere.invalid/x"}}, fault.Invalid, 0},
		{"cut", Trouble{Drop: true}, fault.Unavailable, 0},
		{"lost", Trouble{Lost: true}, fault.Unavailable, 0},
		{"hangs", Trouble{Hang: true}, fault.Unavailable, 0},
	}
	p := begin(t, f, "base-of-comments")
	for i, c := range cases {
		for _, d := range deeds(f.Repo) {
			own := fmt.Sprintf("%s-%d", branch, i)
			if d.name == "ensure" {
				f.Commit(t, own, map[string]string{own + ".ts": "x\n"})
				d.do = func(ctx context.Context, f2 forge.Forge, _ int, text string) error {
					_, _, err := forge.Ensure(ctx, f2, f.Repo, forge.NewPullRequest{Title: "T", Body: text, Head: own, Base: "main"})
					return err
				}
			}
			client := f.Fresh(t, nil)
			if c.trouble.Hang {
				client = f.Fresh(t, &http.Client{Timeout: 300 * time.Millisecond})
			}
			f.Double.SetTrouble(func(_ int, r *http.Request) Trouble {
				// The call that does the deed, or changes it.
				if r.Method == http.MethodGet {
					return Trouble{}
				}
				return c.trouble
			})
			err := d.do(context.Background(), client, p.Number, c.name)
			f.Double.SetTrouble(nil)
			if e := fault.As(err); e == nil || e.Kind != c.kind || e.RetryAfter != c.after || e.Public() == "" {
				t.Errorf("%s, %s: %+v, want %s after %s", d.name, c.name, err, c.kind, c.after)
			}
			must(t, d.do(context.Background(), f.Fresh(t, nil), p.Number, c.name))
			if d.name == "stick" {
				hold(t, f, d, p.Number, c.name)
				continue
			}
			n := 0
			for number := 1; number < 200; number++ {
				x, err := f.Forge.PullRequest(context.Background(), f.Repo, number)
				if fault.KindOf(err) == fault.NotFound {
					break
				}
				if x.Head.Branch == own {
					n++
				}
			}
			if n != 1 {
				t.Errorf("%s: %d pull requests", c.name, n)
			}
		}
	}
}

// everyCrash stops at every call of a deed, before it was heard or after it was done, and
// begins anew with nothing known.
func everyCrash(t *testing.T, f Fixture) {
	if f.Double == nil {
		t.Skip("there is no HTTP to stop at")
	}
	p := begin(t, f, "base-of-comments")
	f.Commit(t, branch, map[string]string{"once.ts": "x\n"})
	crashes := 0
	for _, d := range deeds(f.Repo) {
		// Made first; then changed, whose calls are others; a draft changes in its own way.
		for _, text := range []string{"made", "changed", "draft", "changed back"} {
			for _, after := range []bool{false, true} {
				for n := 1; ; n++ {
					if n > 30 {
						t.Fatal("it does not come to an end")
					}
					ctx, crash := context.WithCancelCause(context.Background())
					f.Double.SetTrouble(func(call int, _ *http.Request) Trouble {
						if call < n {
							return Trouble{}
						}
						// What was done is done before the service dies: what it sent may not
						// arrive after it is back.
						return Trouble{Drop: call > n || !after, Lost: call == n && after, Then: func() { crash(errCrash) }}
					})
					err := d.do(ctx, f.Fresh(t, nil), p.Number, fmt.Sprint(text, after, n))
					calls := f.Double.Calls()
					f.Double.SetTrouble(nil)
					crash(nil)
					if calls < n {
						must(t, err)
						break // it ended before
					}
					crashes++
					if err == nil {
						t.Fatalf("%s, call %d: no error", d.name, n)
					}
					must(t, d.do(context.Background(), f.Fresh(t, nil), p.Number, text))
					hold(t, f, d, p.Number, text)
				}
			}
		}
	}
	if crashes < 16 {
		t.Errorf("only %d crashes were tried", crashes)
	}
}

var errCrash = errors.New("the service died")

// noSecrets looks at every error that can be had: none tells a token.
func noSecrets(t *testing.T, f Fixture) {
	if f.Double == nil {
		t.Skip("there is no token")
	}
	token, err := f.Forge.Credentials(context.Background())
	must(t, err)
	p := begin(t, f, "secret")
	for _, trouble := range []Trouble{{Status: 401, Body: `{"message":"token ` + token + ` is bad"}`}, {Status: 500, Body: `{"message":"` + token + `"}`}, {Status: 422, Body: `{"errors":["` + token + `"]}`},
		{Status: 200, Body: token}, {Status: 200, Body: `{"number":"` + token + `"}`}, {Status: 302, Header: map[string]string{"Location": "https://x.invalid/?t=" + token}}, {Drop: true}} {
		f.Double.SetTrouble(func(int, *http.Request) Trouble { return trouble })
		_, err := f.Fresh(t, nil).PullRequest(context.Background(), f.Repo, p.Number)
		if err == nil || strings.Contains(fmt.Sprintf("%v %+v", err, err), token) || !strings.HasPrefix(fmt.Sprintf("%T", err), "*fault.") {
			t.Errorf("%+v: %T %v", trouble, err, err)
		}
	}
}
