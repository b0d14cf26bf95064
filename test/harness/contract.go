package harness

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
)

// Contract answers the kept OpenAPI document of a version of the API ("v1"), checked.
func Contract(version string) (*openapi3.T, error) {
	text, err := os.ReadFile(filepath.Join(Root(), "docs", "api", version+".json"))
	if err != nil {
		return nil, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, fmt.Errorf("read the document of %s: %w", version, err)
	}
	return doc, doc.Validate(context.Background())
}

// Operations answers every operation of the public API by its version, method and path:
// "v1 GET /tests".
func Operations(t testing.TB) map[string]*openapi3.Operation {
	t.Helper()
	ops := map[string]*openapi3.Operation{}
	for _, version := range []string{"v1", "v2"} {
		doc, err := Contract(version)
		if err != nil {
			t.Fatal(err)
		}
		for path, item := range doc.Paths.Map() {
			for method, op := range item.Operations() {
				ops[version+" "+method+" "+path] = op
			}
		}
	}
	return ops
}

var contracts = sync.OnceValues(func() (map[string]routers.Router, error) {
	out := map[string]routers.Router{}
	for _, version := range []string{"v1", "v2"} {
		doc, err := Contract(version)
		if err != nil {
			return nil, err
		}
		if out[version], err = legacy.NewRouter(doc); err != nil {
			return nil, err
		}
	}
	return out, nil
})

// Allowed reports whether the kept OpenAPI document has an answer of the public API: its
// status, its type and its body. What no operation is at is not looked at.
func Allowed(req *http.Request, status int, header http.Header, body []byte) error {
	rest, ok := strings.CutPrefix(req.URL.Path, "/public-api/")
	if !ok {
		return nil
	}
	version, _, _ := strings.Cut(rest, "/")
	all, err := contracts()
	if err != nil {
		return err
	}
	router := all[version]
	if router == nil || strings.HasSuffix(req.URL.Path, "/") { // the router is generous, the service is not
		return nil
	}
	bare := req.Clone(context.Background())
	bare.URL.Scheme, bare.URL.Host, bare.Host = "", "", ""
	r, params, err := router.FindRoute(bare)
	if err != nil {
		return nil //nolint:nilerr // nothing is there: the service says so itself
	}
	in := &openapi3filter.ResponseValidationInput{Status: status, Header: header, Body: io.NopCloser(bytes.NewReader(body)),
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: bare, PathParams: params, Route: r},
		Options:                &openapi3filter.Options{IncludeResponseStatus: true}}
	if err := openapi3filter.ValidateResponse(context.Background(), in); err != nil {
		return fmt.Errorf("%s %s: the document does not allow this answer: %w\n%.2000s", req.Method, req.URL.Path, err, body)
	}
	return nil
}

// hold fails a test whose service answered what the document does not allow.
func hold(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}
