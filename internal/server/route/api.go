package route

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"tas-service/internal/account"
	"tas-service/internal/fault"
)

func encode(w io.Writer, v any) {
	json.NewEncoder(w).Encode(v) //nolint:errcheck // the caller is gone
}

// Version is one version of the API.
type Version struct {
	Prefix string // of every path
	Number string // of its document
	About  string
	Tags   []*huma.Tag
	Auth   *account.Authenticator
	Limits *Limits
}

// NewAPI makes one version of the API on the mux. Its OpenAPI document is served beside it,
// at /openapi.json.
func NewAPI(mux *http.ServeMux, v Version) huma.API {
	cfg := huma.DefaultConfig("Test Automation Service", v.Number)
	cfg.Info.Description, cfg.Tags = v.About, v.Tags
	cfg.DocsPath, cfg.SchemasPath, cfg.CreateHooks = "", "", nil
	cfg.OpenAPIPath = "/openapi"
	cfg.RejectUnknownQueryParameters = true
	cfg.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"apiKey": {Type: "http", Scheme: "bearer", Description: "The project's API key"},
	}
	cfg.Security = []map[string][]string{{"apiKey": {}}}
	cfg.OnAddOperation = append(cfg.OnAddOperation, func(_ *huma.OpenAPI, op *huma.Operation) {
		// huma documents 422 for what it refuses; here that is 400.
		if r, ok := op.Responses["422"]; ok {
			delete(op.Responses, "422")
			op.Responses["400"] = r
		}
		describe(op)
	})
	api := humago.NewWithPrefix(mux, v.Prefix, cfg)
	api.UseMiddleware(Authenticated(v.Auth, v.Limits))
	return api
}

// Headers of answers, as the document describes them.
var (
	requestID  = &huma.Param{Description: "The request's ID in the service's log: the caller's own X-Request-Id, or a new one", Schema: &huma.Schema{Type: huma.TypeString}}
	retryAfter = &huma.Param{Description: "Seconds to wait before trying again", Schema: &huma.Schema{Type: huma.TypeInteger}}
	entityTag  = &huma.Param{Description: "Names this answer: send it as If-None-Match, and an unchanged answer is 304", Schema: &huma.Schema{Type: huma.TypeString}}
)

// describe completes what the document says of an operation's answers.
func describe(op *huma.Operation) {
	for text, r := range op.Responses {
		if r.Headers == nil {
			r.Headers = map[string]*huma.Header{}
		}
		r.Headers["X-Request-Id"] = requestID
		switch status, _ := strconv.Atoi(text); {
		case status >= 400:
			r.Description = kindOfStatus(status).About
			if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
				r.Headers["Retry-After"] = retryAfter
			}
		case status == http.StatusOK && op.Method == http.MethodGet:
			r.Headers["ETag"] = entityTag
		}
	}
	if op.Method == http.MethodGet {
		op.Responses["304"] = &huma.Response{Description: "What If-None-Match names has not changed.", Headers: map[string]*huma.Header{"X-Request-Id": requestID, "ETag": entityTag}}
	}
}

// Statuses are the error statuses that every operation may answer.
func Statuses(more ...int) []int {
	return append([]int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusNotAcceptable, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable}, more...)
}

// Cursor turns a position into an opaque text.
func Cursor(v any) *string {
	text, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	s := base64.RawURLEncoding.EncodeToString(text)
	return &s
}

// ReadCursor reads what Cursor made; an empty cursor leaves v as it is.
func ReadCursor(cursor string, v any) error {
	if cursor == "" {
		return nil
	}
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		return fault.New(fault.Invalid, "The cursor is not one of this list.").
			WithFix("Use the value of nextCursor as it was answered, or leave it out for the first page.").
			At("query.cursor", "cannot be read")
	}
	return nil
}
