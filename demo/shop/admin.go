package shop

import (
	"net/http"
	"slices"
	"strconv"
)

type adminProductsData struct {
	Products []product
	Low      int // how many are nearly or quite sold out
}

// LowStock says whether somebody should order more.
func (p product) LowStock() bool { return p.Stock <= 5 }

func (s *server) adminProducts(v *visit) (reply, error) {
	data := adminProductsData{Products: v.find(filter{Sort: "name"})}
	for _, p := range data.Products {
		if p.LowStock() {
			data.Low++
		}
	}
	return reply{page: "admin", title: "Stock and prices", data: data}, nil
}

func (s *server) adminSaveProduct(v *visit) (reply, error) {
	p, ok := v.product(v.r.PathValue("slug"))
	if !ok {
		return reply{}, fault{http.StatusNotFound, "We do not sell that"}
	}
	price, priced := parseCents(v.r.FormValue("price"))
	stock, err := strconv.Atoi(v.r.FormValue("stock"))
	switch {
	case !priced || price == 0:
		v.flash = "The price of " + p.Name + " must be an amount such as 12.50"
	case err != nil || stock < 0 || stock > 9999:
		v.flash = "The stock of " + p.Name + " must be a number from 0 to 9999"
	default:
		v.price[p.Slug], v.stock[p.Slug] = price, stock
		v.flash = p.Name + " saved"
	}
	return reply{redirect: "/admin"}, nil
}

type adminOrdersData struct {
	Orders   []order
	Statuses []string
	Open     int // not on their way yet
}

func (s *server) adminOrders(v *visit) (reply, error) {
	data := adminOrdersData{Statuses: append(slices.Clone(statuses), cancelled)}
	for _, o := range slices.Backward(v.state.orders) {
		data.Orders = append(data.Orders, o)
		if o.Status == "Placed" || o.Status == "Packed" {
			data.Open++
		}
	}
	return reply{page: "adminorders", title: "Orders", data: data}, nil
}

func (s *server) adminSaveOrder(v *visit) (reply, error) {
	status := v.r.FormValue("status")
	if status != cancelled && !slices.Contains(statuses, status) {
		return reply{}, fault{http.StatusBadRequest, "There is no such status"}
	}
	for i := range v.orders {
		o := &v.orders[i]
		if o.Number != v.r.PathValue("number") {
			continue
		}
		if o.Status == cancelled && status != cancelled {
			v.flash = o.Number + " is cancelled and stays so"
		} else {
			o.Status = status
			v.flash = o.Number + " is now " + status
		}
		return reply{redirect: "/admin/orders"}, nil
	}
	return reply{}, fault{http.StatusNotFound, "There is no such order"}
}
