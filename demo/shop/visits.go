package shop

import (
	"container/list"
	"crypto/rand"
	"net/http"
	"sync"
	"time"
)

// visitCookie names the visit; it holds no more than a random word.
const visitCookie = "visit"

// state is what one visit can change. Its mutex is held while a request of that visit is worked on.
type state struct {
	mu     sync.Mutex
	cart   []cartLine
	code   code
	orders []order // oldest first
	stock  map[string]int
	price  map[string]Cents
	flash  string // shown once, on the next page
}

type cartLine struct {
	slug     string
	quantity int
}

// start brings a visit's state to how every visit begins.
func (st *state) start(now time.Time) {
	st.cart, st.code, st.flash = nil, code{}, ""
	st.stock, st.price = map[string]int{}, map[string]Cents{}
	st.orders = seedOrders(now)
}

// of gives p with the price and stock of this visit.
func (st *state) of(p product) product {
	if c, ok := st.price[p.Slug]; ok {
		p.Price = c
	}
	if n, ok := st.stock[p.Slug]; ok {
		p.Stock = n
	}
	return p
}

func (st *state) product(slug string) (product, bool) {
	p, ok := findProduct(slug)
	return st.of(p), ok
}

// items is the cart with its prices.
func (st *state) items() []item {
	var items []item
	for _, l := range st.cart {
		p, _ := st.product(l.slug)
		items = append(items, item{p, l.quantity, p.Price})
	}
	return items
}

// visits remembers a bounded number of visits.
type visits struct {
	mu   sync.Mutex
	max  int
	now  func() time.Time
	byID map[string]*list.Element
	used *list.List // of *visitEntry, the latest used first
}

type visitEntry struct {
	id    string
	state *state
}

func newVisits(max int, now func() time.Time) *visits {
	return &visits{max: max, now: now, byID: map[string]*list.Element{}, used: list.New()}
}

// of gives the state of the request's visit. A request without a visit, or of one that was forgotten,
// starts a new one under a new name, in a cookie.
func (v *visits) of(w http.ResponseWriter, r *http.Request) *state {
	v.mu.Lock()
	defer v.mu.Unlock()
	if c, err := r.Cookie(visitCookie); err == nil {
		if e, ok := v.byID[c.Value]; ok {
			v.used.MoveToFront(e)
			return e.Value.(*visitEntry).state
		}
	}
	entry := &visitEntry{rand.Text(), &state{}}
	entry.state.start(v.now())
	v.byID[entry.id] = v.used.PushFront(entry)
	for v.used.Len() > v.max {
		oldest := v.used.Remove(v.used.Back()).(*visitEntry)
		delete(v.byID, oldest.id)
	}
	setCookie(w, visitCookie, entry.id)
	return entry.state
}

func setCookie(w http.ResponseWriter, name, value string) {
	c := &http.Cookie{Name: name, Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode}
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}
