package shop

import (
	"fmt"
	"strconv"
	"strings"
)

// Cents is an amount of euros, in cents.
type Cents int64

func (c Cents) String() string {
	sign := ""
	if c < 0 {
		sign, c = "−", -c
	}
	return fmt.Sprintf("%s€%d.%02d", sign, c/100, c%100)
}

// Plain is the amount as a form field holds it, such as 12.50.
func (c Cents) Plain() string { return fmt.Sprintf("%d.%02d", c/100, c%100) }

// percent is p percent of c, rounded half up.
func (c Cents) percent(p int64) Cents { return (c*Cents(p) + 50) / 100 }

// parseCents reads an amount such as 12, 12.5 or 12.50. It refuses what is negative or finer than a cent.
func parseCents(s string) (Cents, bool) {
	euros, rest, dotted := strings.Cut(strings.TrimSpace(s), ".")
	if len(rest) > 2 || dotted && rest == "" || len(euros) > 6 {
		return 0, false
	}
	e, err := strconv.ParseUint(euros, 10, 32)
	if err != nil {
		return 0, false
	}
	c, err := strconv.ParseUint((rest + "00")[:2], 10, 32)
	if err != nil {
		return 0, false
	}
	return Cents(e*100 + c), true
}

const (
	shippingFee  Cents = 490
	freeShipFrom Cents = 5000
)

// code is a discount code.
type code struct {
	name     string
	percent  int64
	category string // only products of this category, if set
	freeShip bool
	expired  bool
	says     string
}

var codes = []code{
	{name: "WELCOME10", percent: 10, says: "10% off everything"},
	{name: "TEATIME", percent: 15, category: "tea", says: "15% off tea"},
	{name: "FREESHIP", freeShip: true, says: "free shipping"},
	{name: "SUMMER25", percent: 25, expired: true},
}

// notice is an error that the shop shows to a person as a sentence.
type notice string

func (n notice) Error() string { return string(n) }

// findCode looks a code up as a person types it. Its error is meant for that person.
func findCode(typed string) (code, error) {
	name := strings.ToUpper(strings.TrimSpace(typed))
	if name == "" {
		return code{}, notice("Enter a code first")
	}
	for _, c := range codes {
		if c.name == name {
			if c.expired {
				return code{}, notice("The code " + name + " has expired")
			}
			return c, nil
		}
	}
	return code{}, notice("There is no code " + name)
}

// item is a number of one product at a price.
type item struct {
	Product  product
	Quantity int
	Price    Cents
}

func (i item) Total() Cents { return i.Price * Cents(i.Quantity) }

// totals is what items cost together.
type totals struct {
	Count    int
	Subtotal Cents
	Discount Cents
	Code     string
	Shipping Cents
	Total    Cents
	// ToFreeShipping is how much is missing for free shipping, 0 if it is free already.
	ToFreeShipping Cents
}

// sum works out what items cost with a code; the zero code is none.
func sum(items []item, c code) totals {
	t := totals{Code: c.name}
	for _, i := range items {
		t.Count += i.Quantity
		t.Subtotal += i.Total()
		if c.category == "" || c.category == i.Product.Category {
			t.Discount += i.Total().percent(c.percent)
		}
	}
	left := t.Subtotal - t.Discount
	if len(items) > 0 && left < freeShipFrom && !c.freeShip {
		t.Shipping = shippingFee
		t.ToFreeShipping = freeShipFrom - left
	}
	t.Total = left + t.Shipping
	return t
}

// checkoutTotals is what the checkout charges: the same as the cart says, unless wrong-total is on.
func (s *server) checkoutTotals(items []item, c code) totals {
	t := sum(items, c)
	if s.broken[wrongTotal] {
		t.Total += t.Shipping
	}
	return t
}

// Euros is the whole euros of an amount.
func (c Cents) Euros() int64 { return int64(c / 100) }

// Less and More are the quantities next to this one.
func (i item) Less() int { return i.Quantity - 1 }
func (i item) More() int { return i.Quantity + 1 }
