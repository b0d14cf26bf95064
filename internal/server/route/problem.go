// Package route is what the surfaces of the server share: how a failure becomes an HTTP
// answer, who is calling, request IDs, logs and metrics of requests.
package route

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"tas-service/internal/fault"
)

// Problem is an error as every endpoint answers it: RFC 9457, application/problem+json.
type Problem struct {
	Type      string         `json:"type" doc:"Address of a page that explains this kind of problem" format:"uri"`
	Title     string         `json:"title" doc:"The kind of problem, in words"`
	Status    int            `json:"status" doc:"HTTP status"`
	Detail    string         `json:"detail" doc:"What is wrong here, and what to do about it"`
	RequestID string         `json:"requestId" doc:"ID of this request in the service's log"`
	Errors    []ProblemField `json:"errors,omitempty" doc:"The wrong places of the input"`
}

// ProblemField is one wrong place of the input.
type ProblemField struct {
	Path    string `json:"path" doc:"Where, for example body.shardCount"`
	Message string `json:"message" doc:"What is wrong there"`
}

// Error answers the detail.
func (p *Problem) Error() string { return p.Detail }

// GetStatus answers the HTTP status.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType is that of RFC 9457.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// Kind describes one kind of problem, also for its page.
type Kind struct {
	Slug, Title, About string
	Status             int
}

var kinds = map[fault.Kind]Kind{
	fault.Internal:        {"internal", "Internal error", "Something went wrong inside the service. The request ID finds it in the service's log.", http.StatusInternalServerError},
	fault.Unavailable:     {"unavailable", "Temporarily unavailable", "Something that the service needs, such as its database, is out of reach. Try again later.", http.StatusServiceUnavailable},
	fault.Invalid:         {"invalid-request", "Invalid request", "The request cannot be used as it is. The field errors names each wrong place.", http.StatusBadRequest},
	fault.Unauthenticated: {"unauthenticated", "Not authenticated", "The API key is missing, malformed, unknown or was rotated.", http.StatusUnauthorized},
	fault.Forbidden:       {"forbidden", "Not allowed", "The caller is known and may not do this.", http.StatusForbidden},
	fault.NotFound:        {"not-found", "Not found", "There is no such thing, or none in the project that the API key belongs to.", http.StatusNotFound},
	fault.Conflict:        {"conflict", "Conflict", "The thing is in a state that does not allow this now.", http.StatusConflict},
	fault.TooLarge:        {"too-large", "Too large", "The request has more bytes than are accepted.", http.StatusRequestEntityTooLarge},
	fault.RateLimited:     {"rate-limited", "Too many requests", "The API key is used too often. Retry-After tells when to try again.", http.StatusTooManyRequests},
	fault.Superseded:      {"superseded", "Superseded", "A worker whose attempt was given up still reports.", http.StatusGone},
	fault.External:        {"external", "Outside refusal", "Something outside of the service, such as a repository, refused.", http.StatusBadGateway},
}

var httpKinds = map[int]Kind{
	http.StatusMethodNotAllowed:     {"method-not-allowed", "Method not allowed", "This address exists, but not with this method. The header Allow lists those that it has.", http.StatusMethodNotAllowed},
	http.StatusNotAcceptable:        {"not-acceptable", "Not acceptable", "The API answers JSON only.", http.StatusNotAcceptable},
	http.StatusUnsupportedMediaType: {"unsupported-media-type", "Unsupported media type", "A request with a body must say Content-Type: application/json.", http.StatusUnsupportedMediaType},
}

// Kinds lists every kind of problem.
func Kinds() []Kind {
	var out []Kind
	for _, k := range fault.Kinds() {
		out = append(out, kinds[k])
	}
	for _, status := range []int{http.StatusMethodNotAllowed, http.StatusNotAcceptable, http.StatusUnsupportedMediaType} {
		out = append(out, httpKinds[status])
	}
	return out
}

// kindOfStatus finds the kind for a status that a library chose.
func kindOfStatus(status int) Kind {
	if k, ok := httpKinds[status]; ok {
		return k
	}
	if status == http.StatusUnprocessableEntity { // ours are 400
		return kinds[fault.Invalid]
	}
	for _, k := range fault.Kinds() {
		if kinds[k].Status == status {
			return kinds[k]
		}
	}
	if status >= 400 && status < 500 {
		return kinds[fault.Invalid]
	}
	return kinds[fault.Internal]
}

func (k Kind) problem(ctx context.Context, detail string) *Problem {
	in := infoOf(ctx)
	return &Problem{Type: in.baseURL + "/problems/" + k.Slug, Title: k.Title, Status: k.Status, Detail: detail, RequestID: in.id}
}

// ProblemOf translates an error; one that is not ours tells the caller nothing but where
// to look it up, and is logged.
func ProblemOf(ctx context.Context, err error) *Problem {
	f := fault.As(err)
	if f == nil && errors.Is(err, context.Canceled) {
		f = fault.New(fault.Unavailable, "The request was cancelled.")
	}
	if f == nil || f.Kind == fault.Internal {
		infoOf(ctx).log.Error("a request failed", "error", err)
		return kinds[fault.Internal].problem(ctx, "Something went wrong inside the service. Its log has the reason under this request's ID.")
	}
	if f.Kind == fault.Unavailable {
		infoOf(ctx).log.Warn("something needed is unavailable", "error", err)
	}
	p := kinds[f.Kind].problem(ctx, f.Public())
	for _, d := range f.Details {
		p.Errors = append(p.Errors, ProblemField{Path: d.Path, Message: d.Message})
	}
	return p
}

// Write answers a request with a problem.
func Write(w http.ResponseWriter, r *http.Request, err error) {
	p := ProblemOf(r.Context(), err)
	writeProblem(w, p)
}

func writeProblem(w http.ResponseWriter, p *Problem) {
	setProblemHeaders(w.Header(), p.Status)
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	json.NewEncoder(w).Encode(p) //nolint:errcheck // the caller is gone
}

// retryIn is how many seconds a caller should wait when something is unavailable.
const retryIn = "5"

func setProblemHeaders(h http.Header, status int) {
	switch status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", "Bearer")
	case http.StatusServiceUnavailable:
		h.Set("Retry-After", retryIn)
	}
	h.Set("Cache-Control", "no-store")
}

// problemWithHeaders lets huma answer a Problem together with its headers.
type problemWithHeaders struct{ *Problem }

// GetHeaders answers the headers that belong to the status.
func (p problemWithHeaders) GetHeaders() http.Header {
	h := http.Header{}
	setProblemHeaders(h, p.Status)
	return h
}

// Unwrap answers the problem itself, which is what is written.
func (p problemWithHeaders) Unwrap() error { return p.Problem }

// Handle wraps an operation so that its errors become problems: the one place where
// handlers' faults are rendered.
func Handle[In, Out any](fn func(context.Context, *In) (*Out, error)) func(context.Context, *In) (*Out, error) {
	return func(ctx context.Context, in *In) (*Out, error) {
		out, err := fn(ctx, in)
		if err != nil {
			return nil, problemWithHeaders{ProblemOf(ctx, err)}
		}
		return out, nil
	}
}

// InstallErrors makes huma's own errors (validation, content negotiation) problems too,
// and a field in the wrong letter case an unknown one. huma keeps both in package
// variables, so they are set once, when the program starts.
func InstallErrors() {
	huma.ValidateStrictCasing = true
	huma.DefaultArrayNullable = false // ours are empty instead
	// What the document describes errors by.
	huma.NewError = func(int, string, ...error) huma.StatusError { return &Problem{} }
	huma.NewErrorWithContext = func(hc huma.Context, status int, message string, errs ...error) huma.StatusError {
		ctx := context.Background()
		var advice string
		if hc != nil {
			ctx = hc.Context()
			if op := hc.Operation(); op != nil && op.Metadata != nil {
				advice, _ = op.Metadata[AdviceOnInvalid].(string)
			}
		}
		k := kindOfStatus(status)
		p := k.problem(ctx, detailOf(k, message))
		for _, e := range errs {
			if e == nil {
				continue
			}
			var d huma.ErrorDetailer
			if errors.As(e, &d) {
				detail := d.ErrorDetail()
				p.Errors = append(p.Errors, ProblemField{Path: fieldPath(detail), Message: detail.Message})
			} else if k.Status < 500 {
				p.Errors = append(p.Errors, ProblemField{Path: "body", Message: e.Error()})
			}
		}
		if advice != "" && p.Status == http.StatusBadRequest {
			p.Detail += " " + advice
		}
		if k.Status >= 500 {
			infoOf(ctx).log.Error("a request failed", "message", message, "errors", errors.Join(errs...))
		}
		return p
	}
}

// AdviceOnInvalid is a key of an operation's metadata: a sentence that is added to the
// detail of its 400 answers.
const AdviceOnInvalid = "advice-on-invalid"

func fieldPath(d *huma.ErrorDetail) string {
	if d.Location == "" {
		return "body"
	}
	return d.Location
}

func detailOf(k Kind, message string) string {
	switch {
	case k.Status == http.StatusBadRequest && (message == "validation failed" || message == ""):
		return "The request is not valid. Correct the fields named in errors."
	case k.Status == http.StatusRequestEntityTooLarge:
		return "The body has more bytes than are accepted (1 MiB). Send less at a time."
	case k.Status >= 500:
		return "Something went wrong inside the service. Its log has the reason under this request's ID."
	case message == "":
		return k.About
	default:
		return strings.ToUpper(message[:1]) + message[1:] + "."
	}
}
