package shop

import (
	"fmt"
	"net/http"
	"slices"
	"time"
)

// order is a cart that somebody paid for.
type order struct {
	Number   string
	Email    string
	Customer string
	Placed   time.Time
	Status   string
	Items    []item
	Totals   totals
	To       address
	Card     string // the last four digits
}

// statuses in the order they come. A cancelled order stays so.
var statuses = []string{"Placed", "Packed", "Shipped", "Delivered"}

const cancelled = "Cancelled"

func orderNumber(n int) string { return fmt.Sprintf("ML-%d", 1001+n) }

// maxOrders bounds what one visit keeps.
const maxOrders = 200

// Step is one station on an order's way.
type Step struct {
	Name string
	Done bool
	Here bool
}

// Steps is the order's way so far.
func (o order) Steps() []Step {
	at := slices.Index(statuses, o.Status)
	var steps []Step
	for i, name := range statuses {
		steps = append(steps, Step{name, i <= at, i == at})
	}
	return steps
}

// seedOrders are the orders that every visit starts with.
func seedOrders(now time.Time) []order {
	ada := address{"Ada Moreno", "Lindenweg 12", "10115", "Berlin", "Germany"}
	ben := address{"Ben Okafor", "Havnegade 7", "1058", "Copenhagen", "Denmark"}
	seeds := []struct {
		who    *user
		to     address
		days   int
		status string
		code   string
		cart   []cartLine
	}{
		{users[0], ada, 41, "Delivered", "WELCOME10", []cartLine{{"sencha-spring", 2}, {"tide-mug", 1}}},
		{users[1], ben, 19, "Delivered", "", []cartLine{{"gooseneck-kettle", 1}, {"yirgacheffe-dawn", 1}}},
		{users[0], ada, 6, "Shipped", "", []cartLine{{"harbour-blend", 2}, {"stone-dripper", 1}, {"espresso-pair", 1}}},
		{users[1], ben, 1, "Placed", "TEATIME", []cartLine{{"hojicha-ember", 1}, {"garden-chamomile", 1}}},
	}
	var orders []order
	for n, seed := range seeds {
		var items []item
		for _, l := range seed.cart {
			p, _ := findProduct(l.slug)
			items = append(items, item{p, l.quantity, p.Price})
		}
		c, _ := findCode(seed.code)
		orders = append(orders, order{
			Number: orderNumber(n), Email: seed.who.Email, Customer: seed.who.Name, Placed: now.AddDate(0, 0, -seed.days),
			Status: seed.status, Items: items, Totals: sum(items, c), To: seed.to, Card: "4242",
		})
	}
	return orders
}

// ordersOf gives the customer's orders, the newest first.
func (st *state) ordersOf(email string) []order {
	var mine []order
	for _, o := range slices.Backward(st.orders) {
		if o.Email == email {
			mine = append(mine, o)
		}
	}
	return mine
}

// findOrder gives one of the customer's own orders.
func (v *visit) findOrder() (order, error) {
	for _, o := range v.orders {
		if o.Number == v.r.PathValue("number") && o.Email == v.user.Email {
			return o, nil
		}
	}
	return order{}, fault{http.StatusNotFound, "You have no such order"}
}

func (s *server) orders(v *visit) (reply, error) {
	if s.broken[http500] {
		return reply{}, fmt.Errorf("orders: column %q does not exist", "placed_at")
	}
	return reply{page: "orders", title: s.broken.text("orders.heading"), data: v.ordersOf(v.user.Email)}, nil
}

func (s *server) order(v *visit) (reply, error) {
	o, err := v.findOrder()
	return reply{page: "order", title: "Order " + o.Number, data: o}, err
}

func (s *server) thanks(v *visit) (reply, error) {
	o, err := v.findOrder()
	return reply{page: "thanks", title: s.broken.text("thanks.heading"), data: o}, err
}
