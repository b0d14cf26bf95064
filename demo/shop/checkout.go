package shop

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// address is where an order goes.
type address struct{ Name, Street, Postcode, City, Country string }

// checkoutForm is what a person filled in, and what is wrong with it by field.
type checkoutForm struct {
	address
	Card, Expiry, CVC string
	Errors            map[string]string
	Declined          string
}

var countries = []string{"Germany", "Denmark", "France", "Netherlands", "Portugal"}

var (
	postcodes = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z -]{2,8}[0-9A-Za-z]$`)
	cvcs      = regexp.MustCompile(`^[0-9]{3,4}$`)
	expiries  = regexp.MustCompile(`^(0[1-9]|1[0-2])\s?/\s?([0-9]{2})$`)
)

// declinedCard is a valid number that the bank always declines.
const declinedCard = "4000000000000002"

func readCheckout(r *http.Request) checkoutForm {
	get := func(name string) string { return strings.TrimSpace(r.FormValue(name)) }
	return checkoutForm{
		address: address{get("name"), get("street"), get("postcode"), get("city"), get("country")},
		Card:    get("card"), Expiry: get("expiry"), CVC: get("cvc"),
	}
}

// check fills Errors and says whether the form is good.
func (f *checkoutForm) check(now time.Time) bool {
	f.Errors = map[string]string{}
	need := func(ok bool, field, says string) {
		if !ok {
			f.Errors[field] = says
		}
	}
	need(f.Name != "", "name", "Enter your full name")
	need(f.Street != "", "street", "Enter a street and number")
	need(postcodes.MatchString(f.Postcode), "postcode", "Enter a postcode, such as 10115")
	need(f.City != "", "city", "Enter a city")
	known := false
	for _, c := range countries {
		known = known || c == f.Country
	}
	need(known, "country", "Choose a country")
	need(luhn(f.digits()), "card", "Enter a card number of 16 digits")
	need(cvcs.MatchString(f.CVC), "cvc", "Enter the 3 digits from the back")
	if m := expiries.FindStringSubmatch(f.Expiry); m == nil {
		f.Errors["expiry"] = "Enter the date as MM/YY"
	} else {
		month, _ := strconv.Atoi(m[1])
		year, _ := strconv.Atoi(m[2])
		end := time.Date(2000+year, time.Month(month)+1, 1, 0, 0, 0, 0, time.UTC)
		need(now.Before(end), "expiry", "This card has expired")
	}
	return len(f.Errors) == 0
}

func (f *checkoutForm) digits() string {
	return strings.NewReplacer(" ", "", "-", "").Replace(f.Card)
}

// AddressWrong says whether something in the delivery address needs attention.
func (f checkoutForm) AddressWrong() bool {
	for _, field := range []string{"name", "street", "postcode", "city", "country"} {
		if f.Errors[field] != "" {
			return true
		}
	}
	return false
}

// luhn checks a card number of 16 digits by its last digit.
func luhn(number string) bool {
	if len(number) != 16 {
		return false
	}
	total := 0
	for i, c := range number {
		if c < '0' || c > '9' {
			return false
		}
		d := int(c - '0')
		if i%2 == 0 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		total += d
	}
	return total%10 == 0
}

type checkoutData struct {
	Form      checkoutForm
	Countries []string
	Items     []item
	Totals    totals
}

func (s *server) checkoutData(v *visit, f checkoutForm) checkoutData {
	items := v.items()
	return checkoutData{Form: f, Countries: countries, Items: items, Totals: s.checkoutTotals(items, v.code)}
}

func (s *server) checkoutPage(v *visit) (reply, error) {
	if len(v.cart) == 0 {
		return reply{redirect: "/cart"}, nil
	}
	form := checkoutForm{address: address{Country: countries[0]}}
	return reply{page: "checkout", title: s.broken.text("checkout.heading"), data: s.checkoutData(v, form)}, nil
}

func (s *server) checkout(v *visit) (reply, error) {
	if len(v.cart) == 0 {
		return reply{redirect: "/cart"}, nil
	}
	form := readCheckout(v.r)
	good := form.check(s.now())
	if good && form.digits() == declinedCard {
		form.Declined = "Your card was declined. Nothing was charged."
	}
	if !good || form.Declined != "" {
		return reply{status: http.StatusUnprocessableEntity, page: "checkout", title: s.broken.text("checkout.heading"), data: s.checkoutData(v, form)}, nil
	}
	if len(v.orders) >= maxOrders {
		return reply{}, fault{http.StatusConflict, "This visit has enough orders. Reset it to start again"}
	}
	items := v.items()
	for _, i := range items {
		if i.Quantity > i.Product.Stock {
			return s.afterCart(v, fault{http.StatusConflict, short(i.Product)}, "")
		}
	}
	for _, i := range items {
		v.stock[i.Product.Slug] = i.Product.Stock - i.Quantity
	}
	o := order{
		Number: orderNumber(len(v.orders)), Email: v.user.Email, Customer: v.user.Name, Placed: s.now(), Status: "Placed",
		Items: items, Totals: s.checkoutTotals(items, v.code), To: form.address, Card: form.digits()[12:],
	}
	v.orders = append(v.orders, o)
	v.cart, v.code = nil, code{}
	return reply{redirect: "/orders/" + o.Number + "/thanks"}, nil
}
