package shop

import (
	"fmt"
	"strings"
)

// Break is a switch that breaks the shop in one known way.
type Break struct {
	Name string
	// Drift tells a change that was meant, after which tests should be adapted, from a bug of the shop.
	Drift bool
	Says  string // one line for people
}

const (
	renamedButton = "renamed-button"
	movedForm     = "moved-form"
	changedText   = "changed-text"
	slowPage      = "slow-page"
	http500       = "http-500"
	wrongTotal    = "wrong-total"
)

// Breaks lists the switches a shop knows.
func Breaks() []Break {
	return []Break{
		{renamedButton, true, "the button “Add to cart” is called “Add to basket”"},
		{movedForm, true, "the delivery address at the checkout moves into a dialog behind “Add delivery address”"},
		{changedText, true, "headings and messages say the same in other words"},
		{slowPage, false, "the catalogue's products come 8 seconds late"},
		{http500, false, "the order history answers 500"},
		{wrongTotal, false, "the checkout charges shipping twice"},
	}
}

// switches is the set of those that are on.
type switches map[string]bool

func parseSwitches(names []string) (switches, error) {
	known := map[string]bool{}
	var list []string
	for _, b := range Breaks() {
		known[b.Name] = true
		list = append(list, b.Name)
	}
	on := switches{}
	for _, name := range names {
		if !known[name] {
			return nil, fmt.Errorf("shop: unknown switch %q; known are %s", name, strings.Join(list, ", "))
		}
		on[name] = true
	}
	return on, nil
}

// words are the texts that changed-text rewords: as they are, and reworded.
var words = map[string][2]string{
	"cart.heading":     {"Your cart", "What you picked"},
	"cart.empty":       {"Your cart is empty", "Nothing in here yet"},
	"checkout.heading": {"Checkout", "Almost yours"},
	"checkout.invalid": {"Please check the fields marked below", "Some details still need your attention"},
	"orders.heading":   {"Your orders", "Purchase history"},
	"thanks.heading":   {"Thank you for your order", "All set, we are on it"},
	"search.none":      {"No products match", "We have nothing like that"},
	"signin.wrong":     {"Email or password is wrong", "Those details do not belong to an account"},
	"cart.added":       {"added to your cart", "is waiting for you"},
	"code.applied":     {"Code applied", "That one works"},
}

// text gives the words under a key.
func (on switches) text(key string) string {
	w, ok := words[key]
	if !ok {
		panic("shop: no words for " + key)
	}
	if on[changedText] {
		return w[1]
	}
	return w[0]
}

// addLabel is what the button that puts a product into the cart says.
func (on switches) addLabel() string {
	if on[renamedButton] {
		return "Add to basket"
	}
	return "Add to cart"
}
