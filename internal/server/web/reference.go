package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// reference is the API's document as people read it.
type reference struct {
	Versions []version
}

type version struct {
	Prefix   string
	About    []string // paragraphs
	Document string   // address of the document
	Groups   []group
}

type group struct {
	Name, About string
	Operations  []operation
}

type operation struct {
	ID, Method, Path, Summary, About string
	Parameters                       []field
	Body                             []field
	BodyRequired                     bool
	Answers                          []answer
	Curl                             string
}

type answer struct {
	Status int
	About  string
	Fields []field
}

// field is one value of an input or an answer, with those within it.
type field struct {
	Name, Where, Type, About string
	Required                 bool
	Fields                   []field
}

// methods in the order in which a reader wants them.
var methods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete}

// maxDepth bounds objects within objects.
const maxDepth = 5

// referenceOf reads documents.
func referenceOf(documents []*huma.OpenAPI, baseURL string) reference {
	var out reference
	for _, d := range documents {
		prefix := d.Servers[0].URL
		v := version{Prefix: prefix, About: strings.Split(d.Info.Description, "\n\n"), Document: prefix + "/openapi.json"}
		for _, tag := range d.Tags {
			g := group{Name: tag.Name, About: tag.Description}
			for path, item := range d.Paths {
				for method, op := range map[string]*huma.Operation{http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPut: item.Put, http.MethodDelete: item.Delete} {
					if op != nil && slices.Contains(op.Tags, tag.Name) {
						g.Operations = append(g.Operations, operationOf(d, method, prefix, path, op, baseURL))
					}
				}
			}
			slices.SortFunc(g.Operations, func(a, b operation) int {
				return cmp.Or(strings.Compare(a.Path, b.Path), slices.Index(methods, a.Method)-slices.Index(methods, b.Method))
			})
			v.Groups = append(v.Groups, g)
		}
		out.Versions = append(out.Versions, v)
	}
	return out
}

func operationOf(d *huma.OpenAPI, method, prefix, path string, op *huma.Operation, baseURL string) operation {
	o := operation{ID: strings.TrimPrefix(prefix, "/public-api/") + "-" + op.OperationID, Method: method, Path: prefix + path, Summary: op.Summary, About: op.Description}
	for _, p := range op.Parameters {
		f := fieldOf(d, p.Name, p.Schema, maxDepth)
		f.Where, f.Required, f.About = p.In, p.Required || p.In == "path", p.Description
		o.Parameters = append(o.Parameters, f)
	}
	o.Curl = "curl"
	if method != http.MethodGet {
		o.Curl += " -X " + method
	}
	o.Curl += " " + baseURL + prefix + path + " \\\n  -H \"Authorization: Bearer $SERVICE_API_KEY\""
	if b := op.RequestBody; b != nil && b.Content["application/json"] != nil {
		s := b.Content["application/json"].Schema
		o.BodyRequired, o.Body = b.Required, fieldsOf(d, s, 0)
		if text, err := json.Marshal(example(d, s, 0)); err == nil && b.Required {
			o.Curl += " \\\n  -H \"Content-Type: application/json\" -d '" + string(text) + "'"
		}
	}
	for text, r := range op.Responses {
		status, _ := strconv.Atoi(text) //nolint:errcheck // huma writes them
		a := answer{Status: status, About: r.Description}
		if c := r.Content["application/json"]; c != nil {
			a.Fields = fieldsOf(d, c.Schema, 0)
		}
		o.Answers = append(o.Answers, a)
	}
	slices.SortFunc(o.Answers, func(a, b answer) int { return a.Status - b.Status })
	return o
}

func resolve(d *huma.OpenAPI, s *huma.Schema) *huma.Schema {
	for s != nil && s.Ref != "" {
		s = d.Components.Schemas.SchemaFromRef(s.Ref)
	}
	return s
}

// fieldsOf answers the fields of an object, or of the objects in an array, the required
// ones first.
func fieldsOf(d *huma.OpenAPI, s *huma.Schema, depth int) []field {
	s = resolve(d, s)
	for s != nil && s.Type == huma.TypeArray {
		s = resolve(d, s.Items)
	}
	if s == nil || depth > maxDepth {
		return nil
	}
	var out []field
	for name, p := range s.Properties {
		f := fieldOf(d, name, p, depth)
		f.Required = slices.Contains(s.Required, name)
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b field) int {
		if a.Required != b.Required {
			if a.Required {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}

func fieldOf(d *huma.OpenAPI, name string, s *huma.Schema, depth int) field {
	f := field{Name: name, About: s.Description}
	null := ""
	if len(s.AnyOf) > 0 { // an object, or null
		null, s = " or null", s.AnyOf[0]
	}
	r := resolve(d, s)
	f.About = cmp.Or(f.About, r.Description)
	f.Type = typeOf(d, r) + null
	f.Fields = fieldsOf(d, r, depth+1)
	return f
}

// typeOf says what a value is, in words.
func typeOf(d *huma.OpenAPI, s *huma.Schema) string {
	t := s.Type
	switch {
	case t == huma.TypeArray:
		t = "array of " + typeOf(d, resolve(d, s.Items))
	case len(s.Enum) > 0:
		names := make([]string, len(s.Enum))
		for i, e := range s.Enum {
			names[i] = fmt.Sprint(e)
		}
		t = strings.Join(names, " | ")
	case s.Format == "date-time" || s.Format == "uuid" || s.Format == "uri":
		t = s.Format
	}
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		t += fmt.Sprintf(", %g to %g", *s.Minimum, *s.Maximum)
	case s.Minimum != nil:
		t += fmt.Sprintf(", from %g", *s.Minimum)
	case s.MaxItems != nil:
		t += fmt.Sprintf(", at most %d", *s.MaxItems)
	}
	if s.Default != nil {
		t += fmt.Sprintf(", default %v", s.Default)
	}
	if s.Nullable {
		t += " or null"
	}
	return t
}

// example is a value with what is required of an input.
func example(d *huma.OpenAPI, s *huma.Schema, depth int) any {
	s = resolve(d, s)
	switch {
	case s == nil || depth > maxDepth:
		return nil
	case len(s.Examples) > 0:
		return s.Examples[0]
	case len(s.Enum) > 0:
		return s.Enum[0]
	}
	switch s.Type {
	case huma.TypeObject:
		out := map[string]any{}
		for _, name := range s.Required {
			out[name] = example(d, s.Properties[name], depth+1)
		}
		return out
	case huma.TypeArray:
		return []any{example(d, s.Items, depth+1)}
	case huma.TypeInteger, huma.TypeNumber:
		return 2
	case huma.TypeBoolean:
		return true
	}
	if s.Format == "date-time" {
		return "2030-01-31T12:00:00Z"
	}
	return "…"
}

func (a *App) reference(w http.ResponseWriter, r *http.Request) {
	a.show(w, r, http.StatusOK, "open/reference", Page{Title: "API reference", Data: referenceOf(a.Documents, a.BaseURL)})
}
