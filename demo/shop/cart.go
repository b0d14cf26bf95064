package shop

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
)

// add puts a number of a product into the cart, as far as the stock allows.
func (st *state) add(slug string, quantity int) error {
	p, ok := st.product(slug)
	if !ok {
		return fault{http.StatusNotFound, "We do not sell that"}
	}
	if quantity < 1 || quantity > 99 {
		return fault{http.StatusBadRequest, "Choose a quantity from 1 to 99"}
	}
	i := slices.IndexFunc(st.cart, func(l cartLine) bool { return l.slug == slug })
	have := 0
	if i >= 0 {
		have = st.cart[i].quantity
	}
	if have+quantity > p.Stock {
		return fault{http.StatusConflict, short(p)}
	}
	if i < 0 {
		st.cart = append(st.cart, cartLine{slug, quantity})
		return nil
	}
	st.cart[i].quantity += quantity
	return nil
}

// set changes the quantity of what is in the cart; 0 takes it out.
func (st *state) set(slug string, quantity int) error {
	i := slices.IndexFunc(st.cart, func(l cartLine) bool { return l.slug == slug })
	if i < 0 {
		return fault{http.StatusNotFound, "That is not in your cart"}
	}
	p, _ := st.product(slug)
	switch {
	case quantity < 0 || quantity > 99:
		return fault{http.StatusBadRequest, "Choose a quantity from 1 to 99"}
	case quantity > p.Stock:
		return fault{http.StatusConflict, short(p)}
	case quantity == 0:
		st.cart = slices.Delete(st.cart, i, i+1)
	default:
		st.cart[i].quantity = quantity
	}
	return nil
}

func short(p product) string {
	if p.Stock == 0 {
		return p.Name + " is sold out"
	}
	return fmt.Sprintf("Only %d of %s left", p.Stock, p.Name)
}

// took is what the shop says after something went into the cart.
func (s *server) took(v *visit, slug string) string {
	p, _ := v.product(slug)
	return p.Name + " " + s.broken.text("cart.added")
}

type cartData struct {
	Items     []item
	Totals    totals
	Code      string // as typed, when it was refused
	CodeError string
	CodeSays  string
}

func (v *visit) cartData() cartData {
	items := v.items()
	return cartData{Items: items, Totals: sum(items, v.code), CodeSays: v.code.says}
}

func (s *server) cartPage(v *visit) (reply, error) {
	return reply{page: "cart", title: s.broken.text("cart.heading"), data: v.cartData()}, nil
}

// The four below serve forms, for browsers without JavaScript; with it, app.js asks the API instead.

func (s *server) cartAdd(v *visit) (reply, error) {
	slug := v.r.FormValue("product")
	quantity, _ := strconv.Atoi(v.r.FormValue("quantity"))
	return s.afterCart(v, v.add(slug, quantity), s.took(v, slug))
}

func (s *server) cartChange(v *visit) (reply, error) {
	quantity, err := strconv.Atoi(v.r.FormValue("quantity"))
	if err != nil {
		return reply{}, fault{http.StatusBadRequest, "Choose a quantity from 1 to 99"}
	}
	return s.afterCart(v, v.set(v.r.PathValue("slug"), quantity), "")
}

func (s *server) cartEmpty(v *visit) (reply, error) {
	v.cart, v.code = nil, code{}
	return reply{redirect: "/cart"}, nil
}

func (s *server) cartCode(v *visit) (reply, error) {
	typed := v.r.FormValue("code")
	if v.r.FormValue("remove") != "" {
		v.code = code{}
		return reply{redirect: "/cart"}, nil
	}
	c, err := findCode(typed)
	if err != nil {
		data := v.cartData()
		data.Code, data.CodeError = typed, err.Error()
		return reply{status: http.StatusBadRequest, page: "cart", title: s.broken.text("cart.heading"), data: data}, nil
	}
	v.code = c
	v.flash = s.broken.text("code.applied") + ": " + c.says
	return reply{redirect: "/cart"}, nil
}

// afterCart goes to the cart with what there is to say; a shortage is said there, not on an error page.
func (s *server) afterCart(v *visit, err error, says string) (reply, error) {
	var f fault
	if errors.As(err, &f) && f.status == http.StatusConflict {
		err, says = nil, f.says
	}
	v.flash = says
	return reply{redirect: "/cart"}, err
}

// apiCartData is the cart as the API gives it, with amounts ready to show.
type apiCartData struct {
	Count          int       `json:"count"`
	Items          []apiItem `json:"items"`
	Subtotal       string    `json:"subtotal"`
	Discount       string    `json:"discount"`
	Shipping       string    `json:"shipping"`
	Total          string    `json:"total"`
	ToFreeShipping string    `json:"toFreeShipping,omitempty"`
	Message        string    `json:"message,omitempty"`
}

type apiItem struct {
	Slug     string `json:"slug"`
	Name     string `json:"name"`
	Quantity int    `json:"quantity"`
	Total    string `json:"total"`
}

func (v *visit) apiCart(message string) reply {
	items := v.items()
	t := sum(items, v.code)
	out := apiCartData{Count: t.Count, Items: []apiItem{}, Subtotal: t.Subtotal.String(), Discount: (-t.Discount).String(),
		Shipping: t.ShippingText(), Total: t.Total.String(), Message: message}
	if t.ToFreeShipping > 0 {
		out.ToFreeShipping = t.ToFreeShipping.String()
	}
	for _, i := range items {
		out.Items = append(out.Items, apiItem{i.Product.Slug, i.Product.Name, i.Quantity, i.Total().String()})
	}
	return reply{json: out}
}

// ShippingText is the shipping as people read it.
func (t totals) ShippingText() string {
	if t.Shipping == 0 {
		return "Free"
	}
	return t.Shipping.String()
}

func (s *server) apiCart(v *visit) (reply, error) { return v.apiCart(""), nil }

type cartAsk struct {
	Product  string `json:"product"`
	Quantity int    `json:"quantity"`
}

func readAsk(r *http.Request) (cartAsk, error) {
	ask := cartAsk{Quantity: 1}
	if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
		return ask, fault{http.StatusBadRequest, "The request is not the JSON we expect"}
	}
	return ask, nil
}

func (s *server) apiCartAdd(v *visit) (reply, error) {
	ask, err := readAsk(v.r)
	if err != nil {
		return reply{}, err
	}
	if err := v.add(ask.Product, ask.Quantity); err != nil {
		return reply{}, err
	}
	return v.apiCart(s.took(v, ask.Product)), nil
}

func (s *server) apiCartChange(v *visit) (reply, error) {
	ask, err := readAsk(v.r)
	if err != nil {
		return reply{}, err
	}
	if err := v.set(v.r.PathValue("slug"), ask.Quantity); err != nil {
		return reply{}, err
	}
	return v.apiCart(""), nil
}

func (s *server) apiCartRemove(v *visit) (reply, error) {
	p, _ := v.product(v.r.PathValue("slug"))
	if err := v.set(p.Slug, 0); err != nil {
		return reply{}, err
	}
	return v.apiCart(p.Name + " removed"), nil
}
