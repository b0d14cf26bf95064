package route

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"tas-service/internal/account"
	"tas-service/internal/fault"
)

func encode(w io.Writer, v any) {
	json.NewEncoder(w).Encode(v) //nolint:errcheck // the caller is gone
}

// NewAPI makes one version of the API below a prefix of the mux. Its OpenAPI document is
// served beside it, at /openapi.json.
func NewAPI(mux *http.ServeMux, prefix, version, about string, auth *account.Authenticator, limits *Limits) huma.API {
	cfg := huma.DefaultConfig("Test Automation Service", version)
	cfg.Info.Description = about
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
	})
	api := humago.NewWithPrefix(mux, prefix, cfg)
	api.UseMiddleware(Authenticated(auth, limits))
	return api
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
