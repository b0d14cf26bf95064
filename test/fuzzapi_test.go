package test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"tas-service/internal/project"
	"tas-service/internal/server"
	"tas-service/test/harness"
)

// inventor makes requests up from the API's documents: mostly right, mostly almost.
type inventor struct {
	*rand.Rand
	ids  []string
	tame bool // keeps to what the documents ask for, as far as they say it
}

// words are strings that most fields take.
var words = []string{"main", "smoke", "@smoke", "tests/**", "checkout team", "2099-01-01T00:00:00Z"}

// texts are strings that have broken programs before.
var texts = []string{"", " ", "a", "main", "BUG-1", "@smoke", "tests/**", "[", "(a+)+$", "\\", "%", "'; DROP TABLE run; --", "\x00", "\u202e", "é", "日本語", "🧪", "../../etc/passwd",
	"{{.}}", "null", "true", "-1", "1e309", "2026-11-21T00:00:00Z", "9999-12-31T23:59:59+23:59", "refs/heads/main", "-rf", "%00", "a\nb", strings.Repeat("x", 300), strings.Repeat("(", 2000), "\xff\xfe"}

func (in *inventor) text() string {
	if in.tame && in.IntN(4) > 0 {
		return fmt.Sprint(pick(in, words), " ", in.IntN(1000))
	}
	if in.IntN(3) == 0 {
		return pick(in, in.ids)
	}
	return pick(in, texts)
}

func pick[T any](in *inventor, list []T) T { return list[in.IntN(len(list))] }

// value makes a value of a schema, now and then of another kind.
func (in *inventor) value(ref *openapi3.SchemaRef, depth int) any {
	if ref == nil || ref.Value == nil || depth > 6 || !in.tame && in.IntN(12) == 0 {
		return pick(in, []any{nil, true, -1, 0, 2.5, 1e300, "x", []any{}, map[string]any{}, []any{[]any{nil}}, json.Number("12345678901234567890")})
	}
	s := ref.Value
	if len(s.AnyOf) > 0 {
		return in.value(s.AnyOf[in.IntN(len(s.AnyOf))], depth+1)
	}
	switch {
	case len(s.Enum) > 0 && (in.tame || in.IntN(4) > 0):
		return pick(in, s.Enum)
	case s.Type.Includes("object"):
		out := map[string]any{}
		for name, p := range s.Properties {
			if slices.Contains(s.Required, name) && (in.tame || in.IntN(8) > 0) || in.IntN(2) == 0 {
				out[name] = in.value(p, depth+1)
			}
		}
		if !in.tame && in.IntN(10) == 0 {
			out[in.text()] = in.text()
		}
		return out
	case s.Type.Includes("array"):
		out := []any{}
		for range pick(in, []int{0, 1, 1, 1, 2, 3, 50}) {
			out = append(out, in.value(s.Items, depth+1))
		}
		return out
	case s.Type.Includes("integer"), s.Type.Includes("number"):
		return pick(in, []any{0, 1, 2, 8, 40, 41, -1, 2147483648, -9223372036854775808.0, 0.5})
	case s.Type.Includes("boolean"):
		return in.IntN(2) == 0
	}
	return in.text()
}

// body writes a value as JSON, now and then broken.
func (in *inventor) body(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "{}"
	}
	if in.tame {
		return string(text)
	}
	switch in.IntN(30) {
	case 0:
		return string(text[:in.IntN(len(text)+1)])
	case 1:
		return "\ufeff" + string(text)
	case 2:
		return strings.Replace(string(text), "{", `{"x":1,"x":2,`, 1)
	case 3:
		return strings.Repeat("[", 5000)
	case 4:
		return string(text) + string(text)
	}
	return string(text)
}

// request is one made-up call.
func (in *inventor) request(op string, o *openapi3.Operation) (method, path, body string, headers []string) {
	parts := strings.Fields(op)
	path = "/public-api/" + parts[0] + pathName.ReplaceAllStringFunc(parts[2], func(string) string { return url.PathEscape(in.text()) })
	query := url.Values{}
	for _, p := range o.Parameters {
		switch {
		case in.IntN(2) == 0:
		case p.Value.In == "query":
			query.Add(p.Value.Name, fmt.Sprint(in.value(p.Value.Schema, 5)))
		case p.Value.In == "header":
			if v := fmt.Sprint(in.value(p.Value.Schema, 5)); !strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r == 0x7f }) {
				headers = append(headers, p.Value.Name, v)
			}
		}
	}
	query.Del("wait") // it would only hold the answer back
	if in.IntN(20) == 0 {
		query.Add(in.text(), in.text())
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	if o.RequestBody != nil && in.IntN(20) > 0 {
		body = in.body(in.value(o.RequestBody.Value.Content.Get("application/json").Schema, 0))
	}
	return parts[1], path, body, headers
}

// TestFuzzAPI sends TAS_FUZZ (2,000 unless said) made-up requests, from the seed
// TAS_FUZZ_FROM on: nothing may fail inside the service, and no answer may be one that the
// documents do not have.
func TestFuzzAPI(t *testing.T) {
	n, from := 2000, uint64(1)
	if v := os.Getenv("TAS_FUZZ"); v != "" {
		n, _ = strconv.Atoi(v) //nolint:errcheck // 0 fails below
	}
	if v := os.Getenv("TAS_FUZZ_FROM"); v != "" {
		from, _ = strconv.ParseUint(v, 10, 64) //nolint:errcheck // as above
	}
	if n <= 0 {
		t.Fatal("TAS_FUZZ is no number of requests")
	}
	s, empty := serveNobody(t)
	ops := harness.Operations(t)
	names := slices.Sorted(maps.Keys(ops))
	id := s.Begin(t, v1Root+"/execution/suite", nil)
	ids := []string{unknown, id, strings.ToUpper(id)}
	if a := s.Call(t, "POST", v1Root+"/collections", map[string]any{"name": "Real", "rule": map[string]any{"paths": []string{"**"}}}); a.Status == http.StatusCreated {
		ids = append(ids, a.Body["id"].(string))
	}
	var wait sync.WaitGroup
	var next, bad atomic.Int64
	var mu sync.Mutex
	answers := map[int]int{}
	for range 4 {
		wait.Go(func() {
			for {
				i := next.Add(1) - 1
				if i >= int64(n) || bad.Load() > 20 {
					return
				}
				seed := from + uint64(i)
				in := &inventor{Rand: rand.New(rand.NewPCG(seed, 0)), ids: ids, tame: seed%3 == 0}
				op := pick(in, names)
				method, path, body, headers := in.request(op, ops[op])
				at := s
				if strings.Contains(op, "POST /execution/") && in.IntN(200) > 0 {
					at = empty
				}
				a, err := sound(at, method, path, body, headers...)
				if err != nil {
					bad.Add(1)
					t.Errorf("seed %d: %s %s %.500s: %v", seed, method, path, body, err)
					continue
				}
				mu.Lock()
				answers[a.Status]++
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	t.Logf("%d requests: %v", n, answers)
	if answers[200] == 0 || answers[201] == 0 || answers[400] == 0 || answers[404] == 0 {
		t.Errorf("the requests are too wild, or too tame: %v", answers)
	}
}

// FuzzRequest lets the fuzzer write what a call asks for: the operation, what stands for the
// names in its path, its query and its body.
func FuzzRequest(f *testing.F) {
	_, empty := serveNobody(f)
	ops := harness.Operations(f)
	names := slices.Sorted(maps.Keys(ops))
	for i, op := range names {
		in := &inventor{Rand: rand.New(rand.NewPCG(uint64(i), 1)), ids: []string{unknown}}
		_, path, body, _ := in.request(op, ops[op])
		_, query, _ := strings.Cut(path, "?")
		f.Add(uint(i), unknown, query, body)
	}
	f.Fuzz(func(t *testing.T, op uint, id, query, body string) {
		if strings.Contains(query, "wait") || strings.ContainsFunc(query, func(r rune) bool { return r <= ' ' || r == '#' || r == 0x7f }) {
			t.Skip("it would hold the answer back, or cannot be sent")
		}
		parts := strings.Fields(names[op%uint(len(names))])
		path := "/public-api/" + parts[0] + pathName.ReplaceAllLiteralString(parts[2], url.PathEscape(id))
		if query != "" {
			path += "?" + query
		}
		if _, err := sound(empty, parts[1], path, body); err != nil {
			t.Errorf("%s %s %q: %v", parts[1], path, body, err)
		}
	})
}

// pathName is what stands for a value in an operation's path.
var pathName = regexp.MustCompile(`\{\w+\}`)

// serveNobody starts a service that executes nothing, with a project, and another one whose runs
// are refused.
func serveNobody(t testing.TB) (s, empty *harness.System) {
	s = harness.Start(t, harness.Options{Config: func(c *server.Config) {
		c.RateLimit, c.Program = 1<<30, []string{"/bin/sh", "-c", "exec sleep 600"}
	}, Files: map[string]string{"tests/a.spec.ts": harness.Test("t")}})
	return s, s.Another(t, project.Project{Name: "No repository"})
}

// sound sends a request and answers an error when it failed inside the service, or was
// answered as the documents do not say.
func sound(at *harness.System, method, path, body string, headers ...string) (harness.Answer, error) {
	var sent any
	if body != "" {
		sent = body
	}
	a, err := at.Try(method, path, sent, headers...)
	switch {
	case err != nil:
		return a, err
	case a.Status >= 500:
		return a, fmt.Errorf("%d %s", a.Status, a.Text)
	}
	return a, a.Forbidden
}
