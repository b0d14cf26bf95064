package test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"tas-service/internal/account"
	"tas-service/internal/project"
	"tas-service/internal/server"
	"tas-service/test/harness"
)

const (
	v1Root  = "/public-api/v1"
	v2Root  = "/public-api/v2"
	unknown = "00000000-0000-4000-8000-000000000000"
)

// endpoints are all that need a key, with a body that is right where one is needed.
var endpoints = []struct {
	method, path string
	body         any
}{
	{"GET", v1Root + "/me", nil},
	{"GET", v1Root + "/tests", nil},
	{"POST", v1Root + "/execution/suite", nil},
	{"POST", v1Root + "/execution/tests", map[string]any{"testIds": []string{unknown}}},
	{"POST", v1Root + "/execution/grep", map[string]any{"grep": "x"}},
	{"POST", v2Root + "/execution/grep", map[string]any{"grep": "x"}},
	{"GET", v1Root + "/execution/status/run/" + unknown, nil},
	{"GET", v1Root + "/execution/status/some-job", nil},
	{"GET", v2Root + "/execution/status/some-job", nil},
	{"GET", v1Root + "/test-runs", nil},
	{"GET", v1Root + "/test-runs/latest", nil},
	{"GET", v1Root + "/test-runs/" + unknown + "/results", nil},
	{"GET", v1Root + "/test-runs/" + unknown + "/report", nil},
	{"GET", v1Root + "/test-runs/" + unknown + "/tests/" + unknown + "/attachments", nil},
	{"POST", v1Root + "/test-runs/" + unknown + "/report/verdicts", map[string]any{"verdicts": []any{map[string]any{"serviceTestId": unknown, "verdict": "bug"}}}},
	{"GET", v1Root + "/health-dashboard/bugs", nil},
	{"GET", v1Root + "/collections", nil},
	{"POST", v1Root + "/collections", map[string]any{"name": "x", "rule": map[string]any{"title": "x"}}},
	{"PUT", v1Root + "/collections/" + unknown, map[string]any{"name": "x", "rule": map[string]any{"title": "x"}}},
	{"DELETE", v1Root + "/collections/" + unknown, nil},
	{"POST", v1Root + "/execution/collection/" + unknown, nil},
	{"GET", v1Root + "/quarantine", nil},
	{"PUT", v1Root + "/tests/" + unknown + "/quarantine", map[string]any{"owner": "x", "reason": "x", "expiresAt": time.Now().Add(time.Hour)}},
	{"DELETE", v1Root + "/tests/" + unknown + "/quarantine", nil},
}

// problem fails the test unless an answer is a problem of this status in the right form;
// it answers the detail with the errors.
func problem(t *testing.T, a harness.Answer, status int) string {
	t.Helper()
	if a.Status != status {
		t.Fatalf("status %d, want %d: %s", a.Status, status, a.Text)
	}
	if ct := a.Header.Get("Content-Type"); ct != "application/problem+json" {
		t.Errorf("content type %q: %s", ct, a.Text)
	}
	for _, field := range []string{"type", "title", "detail", "requestId"} {
		if s, _ := a.Body[field].(string); s == "" {
			t.Errorf("the problem has no %s: %s", field, a.Text)
		}
	}
	if a.Body["status"] != float64(status) {
		t.Errorf("the problem says status %v: %s", a.Body["status"], a.Text)
	}
	if typ, _ := a.Body["type"].(string); !strings.Contains(typ, "/problems/") {
		t.Errorf("type %q is no slug below /problems/", typ)
	}
	if id := a.Header.Get("X-Request-Id"); id == "" || id != a.Body["requestId"] {
		t.Errorf("X-Request-Id %q, requestId %v", id, a.Body["requestId"])
	}
	return fmt.Sprint(a.Body["detail"], a.Body["errors"])
}

// idle is a system that starts no worker: its runs stay queued.
func idle(t *testing.T) *harness.System {
	t.Helper()
	s, _ := newPuppet(t)
	return s
}

func TestKeys(t *testing.T) {
	t.Parallel()
	s := idle(t)
	other := s.Another(t, project.Project{Name: "Rotated", Repository: project.Repository{URL: s.Repo.URL()}})
	old := other.Key
	fresh, err := s.Server.Store().RotateKey(context.Background(), other.ProjectID)
	if err != nil {
		t.Fatal(err)
	}
	flipped := s.Key[:10] + map[bool]string{true: "b", false: "a"}[s.Key[10] == 'a'] + s.Key[11:]
	for _, c := range []struct{ name, header, tells string }{
		{"missing", "", "missing"},
		{"no scheme", s.Key, "without the scheme"},
		{"lower-case scheme", "bearer " + s.Key, "capital B"},
		{"upper-case scheme", "BEARER " + s.Key, "capital B"},
		{"wrong scheme", "Basic " + s.Key, "another scheme"},
		{"wrong scheme that begins alike", "BearerX " + s.Key, "another scheme"},
		{"no key", "Bearer", "no key"},
		{"quoted key", `Bearer "` + s.Key + `"`, "quotes"},
		{"single-quoted key", "Bearer '" + s.Key + "'", "quotes"},
		{"quoted header", `"Bearer ` + s.Key + `"`, "quotes"},
		{"two blanks", "Bearer  " + s.Key, "blanks"},
		{"tab", "Bearer\t" + s.Key, ""},
		{"blank inside", "Bearer " + s.Key[:20] + " " + s.Key[20:], "blanks"},
		{"placeholder", "Bearer $SERVICE_API_KEY", "begin with tas_"},
		{"truncated", "Bearer " + s.Key[:len(s.Key)-1], "cut off"},
		{"longer", "Bearer " + s.Key + "x", "cut off"},
		{"one character changed", "Bearer " + flipped, "cut off or changed"},
		{"unknown", "Bearer " + account.NewKey(), "unknown"},
		{"rotated", "Bearer " + old, "rotated"},
		{"two keys", "Bearer " + s.Key + ",Bearer " + s.Key, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, e := range endpoints {
				a := s.Call(t, e.method, e.path, e.body, "Authorization", c.header)
				said := problem(t, a, http.StatusUnauthorized)
				if !strings.Contains(said, c.tells) {
					t.Errorf("%s %s does not tell of %q: %s", e.method, e.path, c.tells, said)
				}
				if a.Header.Get("WWW-Authenticate") != "Bearer" {
					t.Errorf("WWW-Authenticate is %q", a.Header.Get("WWW-Authenticate"))
				}
				for i := 8; i+8 < len(s.Key); i += 4 {
					if strings.Contains(a.Text, s.Key[i:i+8]) {
						t.Fatalf("the answer tells the key: %s", a.Text)
					}
				}
			}
		})
	}
	other.Key = fresh
	if a := other.Call(t, "GET", v1Root+"/me", nil); a.Status != 200 || a.Body["id"] != other.ProjectID || a.Body["name"] != "Rotated" || a.Body["hasTestsRepo"] != true {
		t.Errorf("the new key: %d %s", a.Status, a.Text)
	}
	t.Run("a key that worked stops when it is rotated", func(t *testing.T) {
		if _, err := s.Server.Store().RotateKey(context.Background(), other.ProjectID); err != nil {
			t.Fatal(err)
		}
		deadline := time.Now().Add(15 * time.Second)
		for other.Call(t, "GET", v1Root+"/me", nil).Status != http.StatusUnauthorized {
			if time.Now().After(deadline) {
				t.Fatal("the old key still works")
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
}

// TestOthers looks at one project with the key of another: nothing there exists.
func TestOthers(t *testing.T) {
	t.Parallel()
	s, dir := newPuppet(t)
	p := play(t, s, dir, nil)
	p.plan(t, "a")
	testID := s.Call(t, "GET", v1Root+"/tests", nil).Body["tests"].([]any)[0].(map[string]any)["serviceTestId"].(string)
	name := s.Call(t, "GET", v1Root+"/execution/status/run/"+p.run, nil).Body["name"].(string)
	other := s.Another(t, project.Project{Name: "Other", Repository: project.Repository{URL: s.Repo.URL()}})
	const id = "same-request-id"
	for _, path := range []string{"/execution/status/run/%s", "/test-runs/%s/results", "/test-runs/%s/report", "/test-runs/%s/tests/" + testID + "/attachments", "/execution/status/%s"} {
		real, none := p.run, unknown
		if path == "/execution/status/%s" {
			real, none = name, "other-job-name"
		}
		theirs := other.Call(t, "GET", v1Root+fmt.Sprintf(path, real), nil, "X-Request-Id", id)
		nothing := other.Call(t, "GET", v1Root+fmt.Sprintf(path, none), nil, "X-Request-Id", id)
		problem(t, theirs, http.StatusNotFound)
		theirs.Header.Del("Date")
		nothing.Header.Del("Date")
		if theirs.Text != nothing.Text || fmt.Sprint(theirs.Header) != fmt.Sprint(nothing.Header) {
			t.Errorf("%s: another project's answer differs from an unknown one's:\n%s\n%s", path, theirs.Text, nothing.Text)
		}
	}
	said := problem(t, other.Call(t, "POST", v1Root+"/execution/tests", map[string]any{"testIds": []string{testID}}), http.StatusBadRequest)
	if !strings.Contains(said, testID) || !strings.Contains(said, "body.testIds[0]") {
		t.Errorf("another project's test: %s", said)
	}
	if got := other.Call(t, "GET", v1Root+"/tests", nil); len(got.Body["tests"].([]any)) != 0 {
		t.Errorf("another project's tests are listed: %s", got.Text)
	}
	problem(t, other.Call(t, "GET", v1Root+"/test-runs/latest", nil), http.StatusNotFound)
	// The own key reads all of it, under every spelling of the ID.
	for _, spelt := range []string{p.run, strings.ToUpper(p.run)} {
		if a := s.Call(t, "GET", v1Root+"/execution/status/run/"+spelt, nil); a.Status != 200 || a.Body["runId"] != p.run {
			t.Errorf("%s: %d %s", spelt, a.Status, a.Text)
		}
	}
	for _, path := range []string{"/execution/status/run/%s", "/test-runs/%s/results", "/test-runs/%s/report", "/test-runs/%s/tests/" + testID + "/attachments"} {
		said := problem(t, s.Call(t, "GET", v1Root+fmt.Sprintf(path, name), nil), http.StatusBadRequest)
		if !strings.Contains(said, "job name") || !strings.Contains(said, "runId") {
			t.Errorf("a job name at %s: %s", path, said)
		}
	}
	problem(t, s.Call(t, "GET", v1Root+"/test-runs/"+p.run+"/report", nil), http.StatusConflict)
	problem(t, s.Call(t, "GET", v1Root+"/test-runs/"+p.run+"/tests/"+unknown+"/attachments", nil), http.StatusNotFound)
}

func many(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = unknown
	}
	return ids
}

func TestBodies(t *testing.T) {
	t.Parallel()
	s := idle(t)
	suite, tests, grep1, grep2 := v1Root+"/execution/suite", v1Root+"/execution/tests", v1Root+"/execution/grep", v2Root+"/execution/grep"
	with := func(field string, v any) map[string]any { return map[string]any{"grep": "x", field: v} }
	type bad struct {
		path  string
		body  any
		names string
	}
	cases := []bad{
		{suite, map[string]any{"autoheal": map[string]any{}}, "body.autoheal"},
		{suite, map[string]any{"branch": "main"}, "body.branch"},
		{suite, map[string]any{"autoHeal": map[string]any{"autoCreatePr": true}}, "body.autoHeal.autoCreatePr"},
		{suite, map[string]any{"autoHeal": true}, "body.autoHeal"},
		{suite, map[string]any{"autoHeal": map[string]any{"prNumber": 0}}, "body.autoHeal.prNumber"},
		{suite, map[string]any{"workers": 0}, "body.workers"},
		{suite, map[string]any{"workers": 9}, "body.workers"},
		{suite, []any{}, "body"},
		{suite, `"text"`, "body"},
		{suite, `{`, "body"},
		{suite, `{"workers": 1} and more`, "body"},
		{suite, `nonsense`, "body"},
		{tests, nil, "body"},
		{tests, map[string]any{}, "testIds"},
		{tests, map[string]any{"testIds": []string{}}, "body.testIds"},
		{tests, map[string]any{"testIds": "one"}, "body.testIds"},
		{tests, map[string]any{"testIds": []any{1}}, "body.testIds[0]"},
		{tests, map[string]any{"testIds": nil}, "body.testIds"},
		{tests, map[string]any{"testIds": many(5001)}, "5000"},
		{tests, map[string]any{"testIds": []string{"", "nonsense"}}, "body.testIds[1]"},
		{tests, map[string]any{"testIds": many(30)}, "30 unknown IDs"},
		{tests, map[string]any{"testIDs": many(1)}, "body.testIDs"},
		{grep1, map[string]any{}, "grep"},
		{grep1, nil, "body"},
		{grep1, with("branch", "main"), "/public-api/v2/execution/grep"},
		{grep1, with("shardCount", 2), "/public-api/v2/execution/grep"},
		{grep1, with("autoHeal", map[string]any{}), "body.autoHeal"},
		{grep2, map[string]any{}, "grep"},
		{grep2, map[string]any{"grep": 5}, "body.grep"},
		{grep2, map[string]any{"grep": nil}, "body.grep"},
		{grep2, with("Branch", "main"), "body.Branch"},
		{grep2, with("branch", 1), "body.branch"},
		{grep2, with("envOverrides", []any{}), "body.envOverrides"},
		{grep2, with("envOverrides", map[string]any{"A": 1}), "body.envOverrides.A"},
	}
	for _, n := range []any{0, 1, 41, -1, 2.5, "4", true, 1e300} {
		for _, path := range []string{suite, tests, grep2} {
			body := map[string]any{"shardCount": n}
			if path == tests {
				body["testIds"] = many(1)
			} else if path == grep2 {
				body["grep"] = "x"
			}
			cases = append(cases, bad{path, body, "body.shardCount"})
		}
	}
	for _, name := range []string{"CI", "ci", "Ci", "SERVICE_X", "service_api_key", "SERVICE_", "PATH", "NODE_OPTIONS", "LD_PRELOAD", "PLAYWRIGHT_BROWSERS_PATH", "TAS_X", "GIT_DIR", "1A", "A B", "A=B", ""} {
		cases = append(cases, bad{grep2, with("envOverrides", map[string]string{name: "1"}), "body.envOverrides." + name})
	}
	for _, pattern := range []string{"", " ", "(", "[", "*", "a{2,1}", "(?<n>a)(?<n>b)", `\`, "/[/g", "/(/i"} {
		cases = append(cases, bad{grep2, map[string]any{"grep": pattern}, "body.grep"}, bad{grep1, map[string]any{"grep": pattern}, "body.grep"})
	}
	for _, branch := range []string{"-x", "a..b", "a b", "a~1", "a^", "a:b", "refs/heads/x.lock", "/a", "a/", "a\\b", "a\nb", "@{-1}", strings.Repeat("x", 300)} {
		cases = append(cases, bad{grep2, with("branch", branch), "body.branch"})
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("%s %.60v", c.path[len("/public-api"):], c.body), func(t *testing.T) {
			if said := problem(t, s.Call(t, "POST", c.path, c.body), http.StatusBadRequest); !strings.Contains(said, c.names) {
				t.Errorf("the problem does not name %s: %s", c.names, said)
			}
		})
	}
	for path, body := range map[string]any{suite: map[string]any{"x": strings.Repeat("x", 2<<20)}, tests: strings.Repeat(" ", 2<<20), grep2: map[string]any{"grep": strings.Repeat("x", 2<<20)}} {
		problem(t, s.Call(t, "POST", path, body), http.StatusRequestEntityTooLarge)
	}
	for _, ct := range []string{"text/plain", "application/x-www-form-urlencoded", "application/xml", "nonsense;;"} {
		problem(t, s.Call(t, "POST", grep2, map[string]any{"grep": "x"}, "Content-Type", ct), http.StatusUnsupportedMediaType)
	}
	// What is right is taken, however it is written.
	for _, c := range []bad{
		{suite, nil, ""}, {suite, map[string]any{}, ""}, {suite, map[string]any{"autoHeal": map[string]any{}}, ""}, {suite, map[string]any{"workers": 8}, ""},
		{grep1, map[string]any{"grep": "a.b"}, ""}, {grep2, map[string]any{"grep": "/^a$/i", "branch": "feature/a.b#c"}, ""},
		{grep2, with("envOverrides", map[string]string{"URL": "https://example.com/?a=b"}), ""},
		{grep2, with("envOverrides", map[string]string{"CIRCLE": "1", "SERVICE": "1"}), ""},
	} {
		a := s.Call(t, "POST", c.path, c.body, "Content-Type", "application/json; charset=utf-8")
		if a.Status != http.StatusCreated || a.Header.Get("Location") != v1Root+"/execution/status/run/"+fmt.Sprint(a.Body["runId"]) ||
			a.Body["name"] == nil || a.Body["sharded"] != false || a.Body["shardCount"] != nil || a.Body["testRunUrl"] == "" || a.Header.Get("X-Request-Id") == "" {
			t.Errorf("%s %v: %d %s", c.path, c.body, a.Status, a.Text)
		}
	}
}

// TestShardedForms starts sharded runs, which have no job name, whatever asks for one.
func TestShardedForms(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Options{Config: func(c *server.Config) { c.Program = []string{"/bin/sh", "-c", "exec sleep 600"} }})
	for _, c := range []struct {
		path string
		body map[string]any
	}{{"/public-api/v1/execution/suite", map[string]any{"shardCount": 2}}, {"/public-api/v2/execution/grep", map[string]any{"grep": "x", "shardCount": 40, "workers": 8}}} {
		a := s.Call(t, "POST", c.path, c.body)
		if a.Status != http.StatusCreated || a.Body["name"] != nil || a.Body["sharded"] != true || a.Body["shardCount"] != float64(c.body["shardCount"].(int)) {
			t.Fatalf("%s: %s", c.path, a.Text)
		}
		id := a.Body["runId"].(string)
		r, err := s.Server.Store().Run(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		for _, version := range []string{"v1", "v2"} {
			for _, name := range []string{r.Name, id} {
				problem(t, s.Call(t, "GET", "/public-api/"+version+"/execution/status/"+name, nil), http.StatusNotFound)
			}
		}
		if a := s.Call(t, "GET", "/public-api/v1/execution/status/run/"+r.Name, nil); a.Status != http.StatusBadRequest || strings.Contains(a.Text, "is the job name of a run") {
			t.Errorf("by its hidden name: %s", a.Text)
		}
		st := s.Status(t, id, "")
		if shards := st["shards"].([]any); len(shards) != c.body["shardCount"] || st["name"] != nil {
			t.Errorf("status: %v", st)
		}
	}
}

// TestListRuns pages through runs, newest first, while more are started.
func TestListRuns(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Options{Config: func(c *server.Config) { c.Program = []string{"/bin/sh", "-c", "exec sleep 600"} }})
	const path = "/public-api/v1/test-runs"
	if a := s.Call(t, "GET", path, nil); a.Status != http.StatusOK || len(a.Body["testRuns"].([]any)) != 0 || a.Body["nextCursor"] != nil {
		t.Fatalf("no runs yet: %s", a.Text)
	}
	var want []string
	start := func(body map[string]any, headers ...string) {
		a := s.Call(t, "POST", "/public-api/v2/execution/grep", body, headers...)
		want = append([]string{a.Body["runId"].(string)}, want...)
	}
	for i := range 7 {
		body := map[string]any{"grep": "x"}
		if i%2 == 0 {
			body["branch"] = "even"
		}
		start(body, "X-TAS-Trigger", []string{"ci", "api"}[i/4])
	}
	ids := func(a harness.Answer) (out []string) {
		for _, x := range a.Body["testRuns"].([]any) {
			out = append(out, x.(map[string]any)["id"].(string))
		}
		return out
	}
	var got []string
	cursor := ""
	for pages := 0; ; pages++ {
		a := s.Call(t, "GET", path+"?limit=3&cursor="+cursor, nil)
		got = append(got, ids(a)...)
		if a.Body["nextCursor"] == nil {
			break
		}
		cursor = a.Body["nextCursor"].(string)
		s.Call(t, "POST", "/public-api/v2/execution/grep", map[string]any{"grep": "later"})
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	for query, n := range map[string]int{"?branch=even": 4, "?trigger=ci": 4, "?trigger=ci&branch=even": 2, "?status=passed": 0, "?branch=none": 0, "?trigger=schedule": 0} {
		if a := s.Call(t, "GET", path+query, nil); len(ids(a)) != n {
			t.Errorf("%s: %d runs, want %d", query, len(ids(a)), n)
		}
	}
	if a := s.Call(t, "GET", path+"?status=queued,preparing", nil); len(ids(a)) < 7 {
		t.Errorf("open runs: %s", a.Text)
	}
	for _, query := range []string{"?status=done", "?trigger=me", "?limit=0", "?limit=201", "?cursor=nonsense"} {
		problem(t, s.Call(t, "GET", path+query, nil), http.StatusBadRequest)
	}
	other := s.Another(t, project.Project{Name: "Other", Repository: project.Repository{URL: "/x"}})
	if a := other.Call(t, "GET", path, nil); len(ids(a)) != 0 {
		t.Errorf("another project sees %s", a.Text)
	}
}

func TestForms(t *testing.T) {
	t.Parallel()
	s, dir := newPuppet(t)
	p := play(t, s, dir, nil)
	p.plan(t, "a", "b", "c")
	for _, e := range endpoints {
		problem(t, s.Call(t, e.method, e.path, e.body, "Accept", "text/html"), http.StatusNotAcceptable)
		wrong := "PATCH"
		a := s.Call(t, wrong, e.path, nil)
		problem(t, a, http.StatusMethodNotAllowed)
		if !strings.Contains(a.Header.Get("Allow"), e.method) {
			t.Errorf("%s %s: Allow is %q", wrong, e.path, a.Header.Get("Allow"))
		}
	}
	for _, path := range []string{v1Root + "/nothing", v1Root, v1Root + "/", v2Root + "/execution/suite", "/public-api/v3/me", "/public-api", v1Root + "/execution/tests/", "/nothing"} {
		for _, method := range []string{"GET", "POST"} {
			a := s.Call(t, method, path, nil)
			if a.Status == http.StatusMethodNotAllowed { // v1 status by job name has the address of some of these
				continue
			}
			problem(t, a, http.StatusNotFound)
		}
	}
	status, results := v1Root+"/execution/status/run/"+p.run, v1Root+"/test-runs/"+p.run+"/results"
	for path, names := range map[string]string{
		status + "?wait=x": "query.wait", status + "?wait=61s": "query.wait", status + "?wait=-1s": "query.wait", status + "?wiat=1s": "wiat",
		results + "?limit=0": "query.limit", results + "?limit=201": "query.limit", results + "?limit=x": "query.limit", results + "?limit=1.5": "query.limit",
		results + "?cursor=x": "query.cursor", results + "?cursor=" + base64.RawURLEncoding.EncodeToString([]byte(`{"f":"a"}`)): "query.cursor",
		results + "?status=nope": "query.status", results + "?status=passed,nope": "nope", results + "?statuses=passed": "statuses",
		v1Root + "/tests?limit=-1": "query.limit", v1Root + "/tests?cursor=!": "query.cursor", v1Root + "/tests?cursor=MQ": "query.cursor",
	} {
		if said := problem(t, s.Call(t, "GET", path, nil), http.StatusBadRequest); !strings.Contains(said, names) {
			t.Errorf("%s does not name %s: %s", path, names, said)
		}
	}
	for _, path := range []string{status + "?wait=0s", status + "?wait=1", results + "?status=pending&limit=1", results + "?status=", v1Root + "/tests?q=%25&limit=200"} {
		if a := s.Call(t, "GET", path, nil); a.Status != 200 || a.Header.Get("X-Request-Id") == "" || a.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %v %s", path, a.Status, a.Header, a.Text)
		}
	}
	// Pages of one are all of it, once each.
	seen, cursor := map[string]bool{}, ""
	for range 10 {
		a := s.Call(t, "GET", v1Root+"/tests?limit=1"+cursor, nil)
		for _, x := range a.Body["tests"].([]any) {
			seen[x.(map[string]any)["serviceTestId"].(string)] = true
		}
		next, ok := a.Body["nextCursor"].(string)
		if !ok {
			break
		}
		cursor = "&cursor=" + next
	}
	if len(seen) != 3 {
		t.Errorf("%d of 3 tests in pages of one", len(seen))
	}
	for _, version := range []string{v1Root, v2Root} {
		job := s.Call(t, "GET", version+"/execution/status/"+s.Status(t, p.run, "0s")["name"].(string), nil)
		if _, early := job.Body["testRunId"]; job.Status != 200 || early || job.Body["verdict"] != "pending" || job.Body["isTerminal"] != false {
			t.Errorf("job status: %s", job.Text)
		}
	}
	p.say(t, "/finish", map[string]any{"complete": true}, 200)
	st := s.Wait(t, p.run)
	job := s.Call(t, "GET", v2Root+"/execution/status/"+st["name"].(string), nil)
	if job.Body["testRunId"] != p.run || job.Body["verdict"] != "fail" {
		t.Errorf("job status at the end: %s", job.Text)
	}
	if a := s.Call(t, "GET", v1Root+"/me", nil, "X-Request-Id", "mine-1"); a.Header.Get("X-Request-Id") != "mine-1" {
		t.Errorf("the caller's own request ID is not kept: %v", a.Header)
	}
	if a := s.Call(t, "GET", v1Root+"/me", nil, "X-Request-Id", "a b<script>"); strings.Contains(a.Header.Get("X-Request-Id"), "<") {
		t.Errorf("a strange request ID is kept: %v", a.Header)
	}
}

// TestRateLimit holds one project's calls back, and nobody else's.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Options{Config: func(c *server.Config) { c.RateLimit = 2 }})
	other := s.Another(t, project.Project{Name: "Other"})
	var refused harness.Answer
	for range 200 {
		if refused = s.Call(t, "GET", v1Root+"/me", nil); refused.Status != http.StatusOK {
			break
		}
	}
	if detail := problem(t, refused, http.StatusTooManyRequests); !strings.Contains(detail, "wait=30s") || refused.Header.Get("Retry-After") != "1" {
		t.Errorf("%s, Retry-After %q", detail, refused.Header.Get("Retry-After"))
	}
	if a := other.Call(t, "GET", v1Root+"/me", nil); a.Status != http.StatusOK {
		t.Errorf("another project: %s", a.Text)
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		if a := s.Call(t, "GET", v1Root+"/me", nil); a.Status == http.StatusOK {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("it is never let through again: %s", a.Text)
		}
	}
}
