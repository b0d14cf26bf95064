package test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"tas-service/client"
	"tas-service/test/harness"
)

// TestClientShapes holds the Go client's shapes to the API's document: no field of an answer
// that the client does not know, none in the client that no answer has.
func TestClientShapes(t *testing.T) {
	doc, err := harness.Contract("v1")
	if err != nil {
		t.Fatal(err)
	}
	for name, shape := range map[string]any{
		"MeOutBody": client.Project{}, "StartedBody": client.Started{}, "Status": client.Status{}, "Shard": client.Shard{}, "Plan": client.Plan{}, "Warning": client.Warning{},
		"Result": client.Result{}, "Attempt": client.Attempt{}, "ResultError": client.ResultError{}, "Location": client.Location{}, "ReportOutBody": client.Report{}, "Test": client.Test{},
		"Collection": client.Collection{}, "Rule": client.Rule{}, "Bug": client.Bug{}, "VerdictInput": client.Verdict{}, "VerdictsOutBody": client.Judged{}, "Counts": client.Counts{},
		"Health": client.Health{}, "Quarantine": client.Quarantine{}, "AutoHeal": client.AutoHeal{}, "Problem": client.Problem{}, "ProblemField": client.ProblemField{},
	} {
		ref := doc.Components.Schemas[name]
		if ref == nil {
			t.Errorf("the document has no %s", name)
			continue
		}
		compare(t, name, ref.Value, reflect.TypeOf(shape))
	}
}

// aliases are fields that say what another one says already.
var aliases = []string{"Status.status"}

func compare(t *testing.T, name string, s *openapi3.Schema, shape reflect.Type) {
	t.Helper()
	var has []string
	for i := range shape.NumField() {
		if tag, _, _ := strings.Cut(shape.Field(i).Tag.Get("json"), ","); tag != "-" {
			has = append(has, tag)
		}
	}
	for field := range s.Properties {
		if !slices.Contains(has, field) && !slices.Contains(aliases, name+"."+field) {
			t.Errorf("the client does not know %s.%s", name, field)
		}
	}
	for _, field := range has {
		if s.Properties[field] == nil {
			t.Errorf("the client's %s.%s is in no answer", name, field)
		}
	}
}
