package test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"tas-service/test/harness"
)

// TestOpenAPI holds the service's documents to the kept ones in docs/api, which a change of
// the API changes too, in plain sight. UPDATE=1 writes them anew.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	s := idle(t)
	for _, version := range []string{"v1", "v2"} {
		a := s.Call(t, "GET", "/public-api/"+version+"/openapi.json", nil)
		if a.Status != http.StatusOK {
			t.Fatalf("%s: %d %s", version, a.Status, a.Text)
		}
		var now bytes.Buffer
		if err := json.Indent(&now, []byte(a.Text), "", " "); err != nil {
			t.Fatal(err)
		}
		now.WriteByte('\n')
		path := filepath.Join(harness.Root(), "docs", "api", version+".json")
		if os.Getenv("UPDATE") != "" {
			if err := os.WriteFile(path, now.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		kept, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(kept, now.Bytes()) {
			t.Errorf("the API is not as docs/api/%s.json says: look at what changed, raise info.version, and write it anew with `make generate-api`", version)
		}
		doc, err := harness.Contract(version)
		if err != nil {
			t.Fatalf("%s: %v", version, err)
		}
		lint(t, version, doc)
	}
}

var kebab = regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)

// lint holds a document to what readers and generators of clients need: names that are
// unique and alike, words for everything, an answer for every refusal.
func lint(t *testing.T, version string, doc *openapi3.T) {
	t.Helper()
	seen := map[string]bool{}
	tags := map[string]bool{}
	for _, tag := range doc.Tags {
		tags[tag.Name] = tag.Description != ""
	}
	for path, item := range doc.Paths.Map() {
		if path != "/" && strings.HasSuffix(path, "/") {
			t.Errorf("%s %s ends with a slash", version, path)
		}
		for method, op := range item.Operations() {
			at := version + " " + method + " " + path
			if !kebab.MatchString(op.OperationID) || seen[op.OperationID] {
				t.Errorf("%s: operationId %q is no unique kebab-case name", at, op.OperationID)
			}
			seen[op.OperationID] = true
			if op.Summary == "" || strings.HasSuffix(op.Summary, ".") || op.Summary[0] < 'A' || op.Summary[0] > 'Z' {
				t.Errorf("%s: the summary %q is no title", at, op.Summary)
			}
			if len(op.Tags) != 1 || !tags[op.Tags[0]] {
				t.Errorf("%s: the tag of %v has no description", at, op.Tags)
			}
			for _, name := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(path, -1) {
				if op.Parameters.GetByInAndName("path", name[1]) == nil {
					t.Errorf("%s: the parameter %s is not described", at, name[1])
				}
			}
			for _, p := range op.Parameters {
				if p.Value.Description == "" {
					t.Errorf("%s: the parameter %s has no description", at, p.Value.Name)
				}
			}
			lintAnswers(t, at, method, op)
		}
	}
	for name, s := range doc.Components.Schemas {
		for field, p := range s.Value.Properties {
			if !regexp.MustCompile(`^[a-z][A-Za-z]*$`).MatchString(field) {
				t.Errorf("%s: %s.%s is not in camel case", version, name, field)
			}
			if p.Ref == "" && p.Value.Type.Is("array") && p.Value.Items == nil {
				t.Errorf("%s: %s.%s has items of any kind", version, name, field)
			}
		}
	}
}

func lintAnswers(t *testing.T, at, method string, op *openapi3.Operation) {
	t.Helper()
	want := []string{"400", "401", "406", "429", "500", "503"}
	if op.RequestBody != nil {
		want = append(want, "413", "415")
	}
	if method == http.MethodGet {
		want = append(want, "304")
	}
	for _, status := range want {
		if op.Responses.Value(status) == nil {
			t.Errorf("%s: the answer %s is not described", at, status)
		}
	}
	for status, r := range op.Responses.Map() {
		content := r.Value.Content
		problem := content.Get("application/problem+json")
		switch {
		case r.Value.Description == nil || *r.Value.Description == "":
			t.Errorf("%s: the answer %s has no words", at, status)
		case status >= "400" && (problem == nil || problem.Schema.Ref != "#/components/schemas/Problem"):
			t.Errorf("%s: the answer %s is no problem", at, status)
		case slices.Contains([]string{"200", "201", "202"}, status) && content.Get("application/json") == nil:
			t.Errorf("%s: the answer %s has no JSON", at, status)
		case r.Value.Headers["X-Request-Id"] == nil:
			t.Errorf("%s: the answer %s has no X-Request-Id", at, status)
		}
	}
}
