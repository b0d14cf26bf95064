package shop

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// browser is somebody with cookies of their own.
type browser struct {
	t    *testing.T
	base string
	http *http.Client
}

func open(t *testing.T, breaks ...string) *browser {
	t.Helper()
	h, err := New(Config{Breaks: breaks})
	if err != nil {
		t.Fatal(err)
	}
	return visitor(t, serve(t, h))
}

func serve(t *testing.T, h http.Handler) string {
	ts := httptest.NewServer(h)
	t.Cleanup(ts.Close)
	return ts.URL
}

func visitor(t *testing.T, base string) *browser {
	jar, _ := cookiejar.New(nil)
	return &browser{t, base, &http.Client{Jar: jar}}
}

func (b *browser) do(method, path, kind, body string) (int, string) {
	b.t.Helper()
	req, _ := http.NewRequest(method, b.base+path, strings.NewReader(body))
	req.Header.Set("Content-Type", kind)
	res, err := b.http.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	all, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(all)
}

func (b *browser) get(path string) (int, string) { b.t.Helper(); return b.do("GET", path, "", "") }

func (b *browser) post(path string, form ...string) (int, string) {
	b.t.Helper()
	values := url.Values{}
	for i := 0; i < len(form); i += 2 {
		values.Set(form[i], form[i+1])
	}
	return b.do("POST", path, "application/x-www-form-urlencoded", values.Encode())
}

func (b *browser) json(method, path, body string) (int, string) {
	b.t.Helper()
	return b.do(method, path, "application/json", body)
}

func (b *browser) add(slug string, quantity int) {
	b.t.Helper()
	if status, body := b.json("POST", "/api/cart/items", fmt.Sprintf(`{"product":%q,"quantity":%d}`, slug, quantity)); status != 200 {
		b.t.Fatalf("adding %s: %d %s", slug, status, body)
	}
}

func (b *browser) signIn(u *user) {
	b.t.Helper()
	if status, _ := b.post("/signin", "email", u.Email, "password", u.password); status != 200 {
		b.t.Fatalf("signing in: %d", status)
	}
}

func (b *browser) count() int {
	b.t.Helper()
	_, body := b.get("/api/cart")
	var c apiCartData
	if err := json.Unmarshal([]byte(body), &c); err != nil {
		b.t.Fatal(err)
	}
	return c.Count
}

// shown is what a page says under a test ID.
func shown(t *testing.T, page, id string) string {
	t.Helper()
	m := regexp.MustCompile(`data-testid="` + id + `">([^<]*)<`).FindStringSubmatch(page)
	if m == nil {
		t.Fatalf("the page has no %s", id)
	}
	return m[1]
}

func has(t *testing.T, page string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(page, w) {
			t.Errorf("the page does not say %q", w)
		}
	}
}

var goodForm = []string{"name", "Ada Moreno", "street", "Lindenweg 12", "postcode", "10115", "city", "Berlin",
	"country", "Germany", "card", "4242 4242 4242 4242", "expiry", "12/34", "cvc", "123"}

// but gives the good form with other values.
func but(changes ...string) []string {
	return append(append([]string{}, goodForm...), changes...)
}

func TestCatalogue(t *testing.T) {
	t.Parallel()
	b := open(t)
	for path, want := range map[string]string{
		"/":                                 "18 products",
		"/?q=japan":                         "3 products",
		"/?q=green+leaf":                    "0 products",
		"/?category=tea&max=10":             "2 products",
		"/results?q=JASMINE":                "1 product",
		"/results?max=none&sort=somersault": "18 products",
	} {
		if status, page := b.get(path); status != 200 || shown(t, page, "result-count") != want {
			t.Errorf("%s: %d, %s; want %s", path, status, shown(t, page, "result-count"), want)
		}
	}
	if _, page := b.get("/?q=%3Cscript%3E"); strings.Contains(page, "<script>") {
		t.Error("what is searched for is not escaped")
	}
	if status, _ := b.get("/products/nothing"); status != 404 {
		t.Errorf("an unknown product: %d", status)
	}
}

func TestProductsAreWhole(t *testing.T) {
	for _, p := range products {
		if p.CategoryName() == "" || p.Price <= 0 || len(p.Facts) != 3 || p.art.object() == "" {
			t.Errorf("%s lacks something", p.Slug)
		}
	}
}

func TestCart(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.add("hand-grinder", 2)
	for _, ask := range []struct {
		method, path, body string
		want               int
	}{
		{"POST", "/api/cart/items", `{"product":"hand-grinder","quantity":2}`, 409},
		{"POST", "/api/cart/items", `{"product":"tide-mug","quantity":0}`, 400},
		{"POST", "/api/cart/items", `{"product":"nothing"}`, 404},
		{"POST", "/api/cart/items", `what`, 400},
		{"PATCH", "/api/cart/items/hand-grinder", `{"quantity":3}`, 200},
		{"PATCH", "/api/cart/items/hand-grinder", `{"quantity":4}`, 409},
		{"PATCH", "/api/cart/items/tide-mug", `{"quantity":1}`, 404},
	} {
		if status, body := b.json(ask.method, ask.path, ask.body); status != ask.want {
			t.Errorf("%s %s %s: %d %s, want %d", ask.method, ask.path, ask.body, status, body, ask.want)
		}
	}
	if n := b.count(); n != 3 {
		t.Errorf("%d in the cart, want 3", n)
	}
	if status, _ := b.json("DELETE", "/api/cart/items/hand-grinder", ""); status != 200 || b.count() != 0 {
		t.Errorf("removing: %d, %d left", status, b.count())
	}
	if _, page := b.post("/cart/items", "product", "smoky-lapsang", "quantity", "1"); !strings.Contains(page, "Smoky Lapsang is sold out") {
		t.Error("what is sold out is not said")
	}
}

func TestCheckoutValidates(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.signIn(users[0])
	b.add("tide-mug", 1)
	for want, changes := range map[string][]string{
		"Enter your full name":            {"name", " "},
		"Enter a street and number":       {"street", ""},
		"Enter a postcode, such as 10115": {"postcode", "1"},
		"Enter a city":                    {"city", ""},
		"Choose a country":                {"country", "Atlantis"},
		"Enter a card number of 16 dig":   {"card", "4242 4242 4242 4243"},
		"Enter the date as MM/YY":         {"expiry", "13/34"},
		"This card has expired":           {"expiry", "01/20"},
		"Enter the 3 digits":              {"cvc", "12"},
		"Your card was declined":          {"card", declinedCard},
	} {
		if status, page := b.post("/checkout", but(changes...)...); status != 422 || !strings.Contains(page, want) {
			t.Errorf("%v: %d, and not %q", changes, status, want)
		}
	}
	if n := b.count(); n != 1 {
		t.Errorf("%d in the cart after refusals, want 1", n)
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	b := open(t)
	if _, page := b.get("/checkout"); !strings.Contains(page, "<h1>Sign in</h1>") {
		t.Error("a stranger may check out")
	}
	b.signIn(users[0])
	b.add("clay-teapot", 5)
	status, page := b.post("/checkout", goodForm...)
	if status != 200 || shown(t, page, "order-number") != "ML-1005" || shown(t, page, "total") != "€210.00" {
		t.Fatalf("ordering: %d, %s, %s", status, shown(t, page, "order-number"), shown(t, page, "total"))
	}
	if n := b.count(); n != 0 {
		t.Errorf("%d left in the cart", n)
	}
	_, page = b.get("/products/clay-teapot")
	if got := shown(t, page, "stock"); got != "Sold out" {
		t.Errorf("the stock is %q", got)
	}
	if _, page = b.get("/orders"); !strings.Contains(page, "ML-1005") || strings.Contains(page, "ML-1002") {
		t.Error("the history lacks the order or shows another's")
	}
	if status, _ := b.get("/orders/ML-1002"); status != 404 {
		t.Errorf("another's order: %d", status)
	}
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	b := open(t)
	if status, page := b.post("/signin", "email", "ada@example.com", "password", "wrong"); status != 401 || !strings.Contains(page, "Email or password is wrong") {
		t.Errorf("a wrong password: %d", status)
	}
	b.signIn(users[0])
	if status, _ := b.get("/admin"); status != 403 {
		t.Errorf("a customer at the administration: %d", status)
	}
	b.post("/signout")
	if _, page := b.get("/orders"); !strings.Contains(page, "<h1>Sign in</h1>") {
		t.Error("still signed in")
	}
	base, _ := url.Parse(b.base)
	b.http.Jar.SetCookies(base, []*http.Cookie{{Name: userCookie, Value: "iris@example.com|00"}})
	if status, page := b.get("/admin"); status != 200 || !strings.Contains(page, "<h1>Sign in</h1>") {
		t.Error("a forged cookie is believed")
	}
	for next, want := range map[string]string{"/orders?x=1": "/orders?x=1", "//evil.example": "/", "https://evil.example": "/", `/\evil.example`: "/", "": "/"} {
		if got := localPath(next); got != want {
			t.Errorf("localPath(%q) = %q, want %q", next, got, want)
		}
	}
}

func TestAdministration(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.signIn(users[2])
	_, page := b.post("/admin/products/tide-mug", "price", "16.50", "stock", "4")
	has(t, page, "Tide Mug saved")
	_, page = b.post("/admin/products/tide-mug", "price", "-1", "stock", "4")
	has(t, page, "must be an amount")
	_, page = b.get("/products/tide-mug")
	has(t, page, "€16.50", "Only 4 left")
	_, page = b.post("/admin/orders/ML-1004", "status", "Cancelled")
	has(t, page, "ML-1004 is now Cancelled")
	_, page = b.post("/admin/orders/ML-1004", "status", "Placed")
	has(t, page, "ML-1004 is cancelled and stays so")
	if status, _ := b.post("/admin/orders/ML-1004", "status", "Lost"); status != 400 {
		t.Errorf("an unknown status: %d", status)
	}
}

func TestVisitsAreApart(t *testing.T) {
	t.Parallel()
	h, _ := New(Config{})
	base := serve(t, h)
	a, b := visitor(t, base), visitor(t, base)
	a.signIn(users[2])
	a.post("/admin/products/tide-mug", "price", "99.00", "stock", "1")
	a.add("tide-mug", 1)
	if n := b.count(); n != 0 {
		t.Errorf("another's cart shows: %d", n)
	}
	if _, page := b.get("/products/tide-mug"); shown(t, page, "price") != "€14.00" {
		t.Error("another's price shows")
	}

	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 5 {
				b.json("POST", "/api/cart/items", `{"product":"breakfast-assam"}`)
			}
		})
	}
	all.Wait()
	if n := b.count(); n != 40 {
		t.Errorf("%d after 40 were added at once", n)
	}
}

func TestReset(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.signIn(users[0])
	b.add("tide-mug", 1)
	b.post("/checkout", goodForm...)
	b.add("tide-mug", 1)
	if status, _ := b.post("/test/reset"); status != 200 {
		t.Fatalf("resetting: %d", status)
	}
	_, page := b.get("/orders")
	if b.count() != 0 || strings.Contains(page, "ML-1005") {
		t.Error("something is left")
	}
	has(t, page, "Ada Moreno", "ML-1003")
}

func TestOldVisitsAreForgotten(t *testing.T) {
	t.Parallel()
	s, err := newServer(Config{MaxVisits: 2})
	if err != nil {
		t.Fatal(err)
	}
	base := serve(t, s.routes())
	first, second := visitor(t, base), visitor(t, base)
	first.add("tide-mug", 1)
	second.add("tide-mug", 1)
	first.count() // used again: so the second goes when a third comes
	visitor(t, base).add("tide-mug", 1)
	if len(s.visits.byID) != 2 || s.visits.used.Len() != 2 {
		t.Errorf("%d visits remembered, want 2", len(s.visits.byID))
	}
	if first.count() != 1 || second.count() != 0 {
		t.Errorf("first has %d, want 1; second has %d, want 0", first.count(), second.count())
	}
}

func TestForeignPagesMayNotPost(t *testing.T) {
	t.Parallel()
	b := open(t)
	req, _ := http.NewRequest("POST", b.base+"/cart/empty", nil)
	req.Header.Set("Origin", "https://evil.example")
	res, err := b.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != 403 {
		t.Errorf("a foreign page posts: %d", res.StatusCode)
	}
}

func TestUnknownSwitch(t *testing.T) {
	_, err := New(Config{Breaks: []string{"wrong-total", "no-coffee"}})
	if err == nil {
		t.Fatal("an unknown switch is taken")
	}
	has(t, err.Error(), `"no-coffee"`)
	for _, b := range Breaks() {
		has(t, err.Error(), b.Name)
	}
}

// TestSwitches walks the same way through the shop with each switch and compares what differs.
func TestSwitches(t *testing.T) {
	walk := func(breaks ...string) map[string]string {
		s, err := newServer(Config{Breaks: breaks})
		if err != nil {
			t.Fatal(err)
		}
		s.delay = 300 * time.Millisecond
		b := visitor(t, serve(t, s.routes()))
		seen := map[string]string{}
		b.signIn(users[0])
		start := time.Now()
		_, page := b.get("/?q=zzz")
		seen["late"] = fmt.Sprint(time.Since(start) >= s.delay)
		seen["none"] = regexp.MustCompile(`<h3>([^<]*)`).FindStringSubmatch(page)[1]
		_, page = b.get("/products/tide-mug")
		seen["button"] = regexp.MustCompile(`<button class="main">([^<]*)`).FindStringSubmatch(page)[1]
		b.add("tide-mug", 1)
		_, page = b.get("/cart")
		seen["cart"] = regexp.MustCompile(`<h1>([^<]*)`).FindStringSubmatch(page)[1] + ", " + shown(t, page, "total")
		_, page = b.get("/checkout")
		seen["total"] = shown(t, page, "total")
		seen["address in a dialog"] = fmt.Sprint(strings.Contains(page, `<dialog id="address"`))
		_, page = b.post("/checkout", goodForm...)
		seen["charged"] = shown(t, page, "total")
		status, _ := b.get("/orders")
		seen["history"] = fmt.Sprint(status)
		return seen
	}
	whole := walk()
	for name, want := range map[string]map[string]string{
		renamedButton: {"button": "Add to basket"},
		movedForm:     {"address in a dialog": "true"},
		changedText:   {"none": "We have nothing like that", "cart": "What you picked, €18.90"},
		slowPage:      {"late": "true"},
		http500:       {"history": "500"},
		wrongTotal:    {"total": "€23.80", "charged": "€23.80"},
	} {
		t.Run(name, func(t *testing.T) {
			got := walk(name)
			for key, was := range whole {
				expected, changed := want[key]
				if !changed {
					expected = was
				} else if expected == was {
					t.Errorf("%s: %q with and without the switch", key, was)
				}
				if got[key] != expected {
					t.Errorf("%s: %q, want %q", key, got[key], expected)
				}
			}
		})
	}
}
