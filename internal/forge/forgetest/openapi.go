package forgetest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// Description finds GitHub's published description of its API, where scripts/setup.sh --tests
// put it.
func Description(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	must(t, err)
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if found, _ := filepath.Glob(filepath.Join(dir, ".tas/openapi/github-*.json")); len(found) > 0 {
			return found[len(found)-1]
		}
	}
	t.Fatal("GitHub's description of its API is not there: run scripts/setup.sh --tests")
	return ""
}

// rawDescription is as much of a description as is read: its 13 MB are mostly examples and
// calls that nobody makes here.
type rawDescription struct {
	Paths map[string]map[string]struct {
		Responses map[string]struct {
			Ref     string `json:"$ref"`
			Content map[string]struct {
				Schema json.RawMessage `json:"schema"`
			} `json:"content"`
		} `json:"responses"`
	} `json:"paths"`
	Components struct {
		Schemas map[string]json.RawMessage `json:"schemas"`
	} `json:"components"`
}

// Checked counts the answers that were held to a description, by operation and status.
type Checked struct {
	mu   sync.Mutex
	seen map[string]int
}

// Count answers how many answers of an operation were checked: "GET /repos/{owner}/{repo} 200".
func (c *Checked) Count(operation string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen[operation]
}

// HoldTo checks each of the double's good answers against the description in a file. What
// the description does not know is an error, too.
func (d *Double) HoldTo(t *testing.T, file string) *Checked {
	t.Helper()
	content, err := os.ReadFile(file)
	must(t, err)
	var raw rawDescription
	must(t, json.Unmarshal(content, &raw))
	checked := &Checked{seen: map[string]int{}}
	schemas := map[string]*openapi3.Schema{}
	d.check = func(r *http.Request, status int, header http.Header, body []byte) {
		path := strings.TrimPrefix(r.URL.Path, "/api/v3")
		if status >= 300 || path == r.URL.Path || !strings.Contains(header.Get("Content-Type"), "application/json") {
			return
		}
		checked.mu.Lock()
		defer checked.mu.Unlock()
		template := raw.match(r.Method, path)
		operation := r.Method + " " + template + " " + strconv.Itoa(status)
		s := schemas[operation]
		if s == nil {
			if s, err = raw.schema(template, r.Method, strconv.Itoa(status)); err != nil {
				t.Errorf("%s: %v", operation, err)
				return
			}
			schemas[operation] = s
		}
		checked.seen[operation]++
		var v any
		if err := json.Unmarshal(body, &v); err != nil {
			t.Errorf("%s: %v", operation, err)
		} else if err := s.VisitJSON(v, openapi3.MultiErrors()); err != nil {
			text := err.Error()
			t.Errorf("%s is not as GitHub describes it: %.1500s", operation, text)
		}
	}
	return checked
}

// match answers the template of a path, the one with the fewest parameters.
func (raw rawDescription) match(method, path string) string {
	best, fewest := "", 99
	parts := strings.Split(path, "/")
	for template, operations := range raw.Paths {
		if _, ok := operations[strings.ToLower(method)]; !ok {
			continue
		}
		names := strings.Split(template, "/")
		n := 0
		same := len(names) == len(parts)
		for i := 0; same && i < len(names); i++ {
			if strings.HasPrefix(names[i], "{") {
				n++
			} else {
				same = names[i] == parts[i]
			}
		}
		if same && n < fewest {
			best, fewest = template, n
		}
	}
	return best
}

// schema answers what an answer must be, with all that it refers to and nothing else.
func (raw rawDescription) schema(template, method, status string) (*openapi3.Schema, error) {
	want := raw.Paths[template][strings.ToLower(method)].Responses[status].Content["application/json"].Schema
	if want == nil {
		return nil, os.ErrNotExist
	}
	need := map[string]json.RawMessage{"the-answer": want}
	for todo := [][]byte{want}; len(todo) > 0; todo = todo[1:] {
		for rest := todo[0]; ; {
			_, after, found := bytes.Cut(rest, []byte(`"#/components/schemas/`))
			if !found {
				break
			}
			name, tail, _ := bytes.Cut(after, []byte(`"`))
			rest = tail
			if _, have := need[string(name)]; !have {
				need[string(name)] = raw.Components.Schemas[string(name)]
				todo = append(todo, need[string(name)])
			}
		}
	}
	small, err := json.Marshal(obj{"openapi": "3.0.3", "info": obj{"title": "GitHub", "version": "1"}, "paths": obj{}, "components": obj{"schemas": need}})
	if err != nil {
		return nil, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(small)
	if err != nil {
		return nil, err
	}
	return doc.Components.Schemas["the-answer"].Value, nil
}
