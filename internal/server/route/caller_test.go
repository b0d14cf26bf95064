package route_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"tas-service/internal/server/route"
)

// TestCaller believes of a caller's address what trusted proxies say, and nobody else.
func TestCaller(t *testing.T) {
	t.Parallel()
	ours := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	for name, c := range map[string]struct {
		proxies          []netip.Prefix
		from, said, want string
	}{
		"nobody is trusted":     {nil, "10.0.0.1:99", "1.2.3.4", "10.0.0.1"},
		"a stranger":            {ours, "9.9.9.9:99", "1.2.3.4", "9.9.9.9"},
		"a proxy":               {ours, "10.0.0.1:99", "1.2.3.4", "1.2.3.4"},
		"made up by the caller": {ours, "10.0.0.1:99", "6.6.6.6, 1.2.3.4", "1.2.3.4"},
		"two proxies":           {ours, "10.0.0.1:99", "6.6.6.6, 1.2.3.4, 10.0.0.2", "1.2.3.4"},
		"nonsense":              {ours, "10.0.0.1:99", "x", "10.0.0.1"},
		"nothing":               {ours, "10.0.0.1:99", "", "10.0.0.1"},
		"as IPv6":               {ours, "[::ffff:10.0.0.1]:99", "1.2.3.4", "1.2.3.4"},
	} {
		var got string
		mux := http.NewServeMux()
		mux.HandleFunc("GET /", func(_ http.ResponseWriter, r *http.Request) { got = route.RemoteAddress(r.Context()) })
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		r.RemoteAddr = c.from
		if c.said != "" {
			r.Header.Set("X-Forwarded-For", c.said)
		}
		route.Base{Log: slog.New(slog.DiscardHandler), Proxies: c.proxies}.Wrap(mux).ServeHTTP(httptest.NewRecorder(), r)
		if got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
