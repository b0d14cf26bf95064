// Package shop is Morrow & Leaf, a small tea and coffee shop that the demo tests run against.
//
// It behaves like a real shop (sign-in, catalogue, cart, checkout, orders, administration) but keeps
// everything in memory, and keeps it once per visit: every browser context gets a cookie and with it
// a private copy of the cart, the orders, the stock and the prices. So tests that run side by side never meet.
//
// A shop can be broken on purpose, in known ways, with switches; see [Breaks].
package shop

import (
	"crypto/rand"
	"embed"
	"net/http"
	"time"
)

//go:embed templates static
var files embed.FS

// Config says how a shop is built. Its zero value is a shop that works.
type Config struct {
	// Breaks names the switches that are on; [Breaks] lists the known ones.
	Breaks []string
	// MaxVisits bounds how many visits are remembered; the one unused for longest goes first. 0 means 500.
	MaxVisits int
}

// server is the shop. Everything in it but visits is fixed once New has returned.
type server struct {
	broken  switches
	visits  *visits
	pages   pages
	signKey []byte
	now     func() time.Time
	delay   time.Duration // how late the catalogue is under slow-page
}

// New builds a shop. It is safe for concurrent use. An unknown switch is an error that names the known ones.
func New(cfg Config) (http.Handler, error) {
	s, err := newServer(cfg)
	if err != nil {
		return nil, err
	}
	return s.routes(), nil
}

func newServer(cfg Config) (*server, error) {
	broken, err := parseSwitches(cfg.Breaks)
	if err != nil {
		return nil, err
	}
	if cfg.MaxVisits <= 0 {
		cfg.MaxVisits = 500
	}
	pages, err := parsePages(broken)
	if err != nil {
		return nil, err
	}
	s := &server{broken: broken, pages: pages, signKey: make([]byte, 32), now: time.Now, delay: 8 * time.Second}
	rand.Read(s.signKey)
	s.visits = newVisits(cfg.MaxVisits, s.now)
	return s, nil
}

func (s *server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("ok\n")) })
	mux.Handle("GET /static/", http.FileServerFS(files))

	on := func(pattern string, h handler) { mux.Handle(pattern, s.serve(h)) }
	on("GET /{$}", s.catalogue)
	on("GET /results", s.results)
	on("GET /products/{slug}", s.product)
	on("GET /signin", s.signInPage)
	on("POST /signin", s.signIn)
	on("POST /signout", s.signOut)
	on("GET /cart", s.cartPage)
	on("POST /cart/items", s.cartAdd)
	on("POST /cart/items/{slug}", s.cartChange)
	on("POST /cart/empty", s.cartEmpty)
	on("POST /cart/code", s.cartCode)
	on("GET /checkout", customer(s.checkoutPage))
	on("POST /checkout", customer(s.checkout))
	on("GET /orders", customer(s.orders))
	on("GET /orders/{number}", customer(s.order))
	on("GET /orders/{number}/thanks", customer(s.thanks))
	on("GET /admin", administrator(s.adminProducts))
	on("POST /admin/products/{slug}", administrator(s.adminSaveProduct))
	on("GET /admin/orders", administrator(s.adminOrders))
	on("POST /admin/orders/{number}", administrator(s.adminSaveOrder))
	on("GET /api/products", s.apiProducts)
	on("GET /api/cart", s.apiCart)
	on("POST /api/cart/items", s.apiCartAdd)
	on("PATCH /api/cart/items/{slug}", s.apiCartChange)
	on("DELETE /api/cart/items/{slug}", s.apiCartRemove)
	on("POST /test/reset", s.reset)
	on("/", s.missing)

	return http.NewCrossOriginProtection().Handler(harden(mux))
}

// harden sets the headers that every answer carries: nothing is loaded from elsewhere.
func harden(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
		next.ServeHTTP(w, r)
	})
}
