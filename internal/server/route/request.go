package route

import (
	"context"
	"log/slog"
	"math"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"tas-service/internal/account"
	"tas-service/internal/fault"
)

// info is what is known of the request under way.
type info struct {
	id      string
	from    string
	baseURL string
	log     *slog.Logger
}

type infoKey struct{}

func infoOf(ctx context.Context) info {
	if in, ok := ctx.Value(infoKey{}).(info); ok {
		return in
	}
	return info{log: slog.Default()}
}

// RequestID answers the ID of the request under way, "" outside of one.
func RequestID(ctx context.Context) string { return infoOf(ctx).id }

// RemoteAddress answers the network address that the request came from: that of a proxy,
// where there is one that is not trusted.
func RemoteAddress(ctx context.Context) string { return infoOf(ctx).from }

// Base is what all requests of a server share.
type Base struct {
	BaseURL string
	Log     *slog.Logger
	// Proxies are where requests come through; what they say of their callers is believed.
	Proxies []netip.Prefix
	// Observe, when set, hears of every answered request.
	Observe func(pattern, method string, status int, took time.Duration)
}

var usableID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// Wrap gives every request an ID (the caller's own if it sent a usable X-Request-Id), a
// line in the log and an answer in the right form when it matches nothing or panics.
func (b Base) Wrap(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		id := r.Header.Get("X-Request-Id")
		if !usableID.MatchString(id) {
			id = uuid.NewString()
		}
		log := b.Log.With("request", id)
		r = r.WithContext(context.WithValue(r.Context(), infoKey{}, info{id: id, from: b.caller(r), baseURL: b.BaseURL, log: log}))
		sw := &statusWriter{ResponseWriter: w}
		sw.Header().Set("X-Request-Id", id)
		sw.Header().Set("X-Content-Type-Options", "nosniff")
		handler, pattern := mux.Handler(r)
		defer func() {
			if p := recover(); p != nil {
				log.Error("a handler panicked", "panic", p)
				if sw.status == 0 {
					Write(sw, r, fault.New(fault.Internal, "panic"))
				}
			}
			took := time.Since(began)
			if b.Observe != nil {
				b.Observe(pattern, r.Method, sw.status, took)
			}
			log.LogAttrs(r.Context(), levelOf(sw.status, pattern), "request", slog.String("method", r.Method), slog.String("path", loggedPath(r.URL.Path)),
				slog.Int("status", sw.status), slog.Duration("took", took), slog.Int64("bytes", sw.bytes))
		}()
		if pattern == "" {
			nothing(sw, r, handler)
			return
		}
		Conditional("/public-api/", mux).ServeHTTP(sw, r)
	})
}

// caller answers the network address of whoever calls: the last one that no proxy of ours
// vouches to be another proxy of ours.
func (b Base) caller(r *http.Request) string {
	from := host(r.RemoteAddr)
	said := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(said) - 1; i >= 0; i-- {
		at, err := netip.ParseAddr(from)
		if err != nil || !slices.ContainsFunc(b.Proxies, func(p netip.Prefix) bool { return p.Contains(at.Unmap()) }) {
			break
		}
		next, err := netip.ParseAddr(strings.TrimSpace(said[i]))
		if err != nil {
			break
		}
		from = next.String()
	}
	return from
}

// host leaves the port out.
func host(address string) string {
	if h, _, err := net.SplitHostPort(address); err == nil {
		return h
	}
	return address
}

// loggedPath leaves the tokens of signed links out of the log.
func loggedPath(path string) string {
	if rest, ok := strings.CutPrefix(path, "/content/"); ok {
		_, after, _ := strings.Cut(rest, "/")
		return "/content/…/" + after
	}
	for _, page := range []string{"/welcome/", "/invitations/", "/password/"} {
		if strings.HasPrefix(path, page) {
			return page + "…"
		}
	}
	for _, page := range []string{"/runs/", "/bugs/"} {
		if rest, ok := strings.CutPrefix(path, page); ok {
			id, _, _ := strings.Cut(rest, "/")
			return page + id + "/…"
		}
	}
	return path
}

func levelOf(status int, pattern string) slog.Level {
	switch {
	case status >= 500:
		return slog.LevelError
	case strings.HasPrefix(pattern, "POST /attempt/") || strings.HasPrefix(pattern, "PUT /attempt/") || strings.HasPrefix(pattern, "GET /content/"):
		return slog.LevelDebug
	default:
		return slog.LevelInfo
	}
}

// nothing answers what the mux has no pattern for, as a problem instead of plain text.
func nothing(w http.ResponseWriter, r *http.Request, handler http.Handler) {
	probe := &probeWriter{header: http.Header{}}
	handler.ServeHTTP(probe, r)
	if probe.status == http.StatusMethodNotAllowed {
		allow := probe.header.Get("Allow")
		w.Header().Set("Allow", allow)
		writeProblem(w, httpKinds[http.StatusMethodNotAllowed].problem(r.Context(), r.Method+" is not possible here. Use "+allow+"."))
		return
	}
	if probe.status >= 300 && probe.status < 400 {
		handler.ServeHTTP(w, r)
		return
	}
	Write(w, r, fault.New(fault.NotFound, "There is nothing at %s.", loggedPath(r.URL.Path)).
		WithFix("The API is below /public-api/v1/ and /public-api/v2/."))
}

type probeWriter struct {
	header http.Header
	status int
}

func (p *probeWriter) Header() http.Header { return p.header }
func (p *probeWriter) WriteHeader(status int) {
	if p.status == 0 {
		p.status = status
	}
}
func (p *probeWriter) Write(b []byte) (int, error) {
	p.WriteHeader(http.StatusOK)
	return len(b), nil
}

// statusWriter remembers what was answered.
type statusWriter struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (s *statusWriter) WriteHeader(status int) {
	if s.status == 0 {
		s.status = status
	}
	s.ResponseWriter.WriteHeader(status)
}

func (s *statusWriter) Write(b []byte) (int, error) {
	if s.status == 0 {
		s.status = http.StatusOK
	}
	n, err := s.ResponseWriter.Write(b)
	s.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the real writer.
func (s *statusWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }

type actorKey struct{}

// ActorOf answers who is calling an operation behind Authenticated.
func ActorOf(ctx context.Context) account.Actor {
	a, _ := ctx.Value(actorKey{}).(account.Actor)
	return a
}

// Authenticated lets only requests with a valid API key through, and only in a form
// that the API speaks, and only as often as the limits allow.
func Authenticated(auth *account.Authenticator, limits *Limits) func(huma.Context, func(huma.Context)) {
	return func(hc huma.Context, next func(huma.Context)) {
		ctx := hc.Context()
		actor, err := auth.Bearer(ctx, hc.Header("Authorization"))
		if err != nil {
			answer(hc, ProblemOf(ctx, err))
			return
		}
		if wait, err := limits.take(actor.ProjectID); err != nil {
			hc.SetHeader("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
			answer(hc, ProblemOf(ctx, err))
			return
		}
		if p := wrongForm(hc); p != nil {
			answer(hc, p)
			return
		}
		next(huma.WithValue(hc, actorKey{}, actor))
	}
}

// wrongForm answers the problem with a request's Accept or Content-Type, or nil.
func wrongForm(hc huma.Context) *Problem {
	if accept := hc.Header("Accept"); accept != "" && !acceptsJSON(accept) {
		return httpKinds[http.StatusNotAcceptable].problem(hc.Context(), "The API answers application/json, which the header Accept does not allow.")
	}
	if ct := hc.Header("Content-Type"); ct != "" && (hc.Method() == http.MethodPost || hc.Method() == http.MethodPut) {
		if media, _, err := mime.ParseMediaType(ct); err != nil || media != "application/json" {
			return httpKinds[http.StatusUnsupportedMediaType].problem(hc.Context(), "The body must be JSON: send the header Content-Type: application/json.")
		}
	}
	return nil
}

func acceptsJSON(accept string) bool {
	for part := range strings.SplitSeq(accept, ",") {
		media, params, err := mime.ParseMediaType(strings.TrimSpace(part))
		if err != nil || params["q"] == "0" {
			continue
		}
		switch media {
		case "*/*", "application/*", "application/json", "application/problem+json":
			return true
		}
	}
	return false
}

func answer(hc huma.Context, p *Problem) {
	h := http.Header{}
	setProblemHeaders(h, p.Status)
	for k, v := range h {
		hc.SetHeader(k, v[0])
	}
	hc.SetHeader("Content-Type", "application/problem+json")
	hc.SetStatus(p.Status)
	encode(hc.BodyWriter(), p)
}
