package shop

import (
	"net/http"
	"strconv"
)

// catalogueData is the catalogue's page, and the part of it that live search replaces.
type catalogueData struct {
	Filter     filter
	Products   []product
	Categories []category
	Prices     []Cents
	Sorts      [][2]string
	Fresh      bool // nothing asked yet: show the greeting
}

func readFilter(r *http.Request) filter {
	f := filter{Query: r.FormValue("q"), Category: r.FormValue("category"), Sort: r.FormValue("sort")}
	if euros, err := strconv.Atoi(r.FormValue("max")); err == nil && euros > 0 && euros < 10_000 {
		f.Max = Cents(euros * 100)
	}
	return f
}

func (s *server) catalogueData(v *visit) catalogueData {
	f := readFilter(v.r)
	return catalogueData{
		Filter: f, Products: v.find(f), Categories: categories, Sorts: sorts,
		Prices: []Cents{1000, 1500, 3000, 5000}, Fresh: !f.On(),
	}
}

func (s *server) catalogue(v *visit) (reply, error) {
	return reply{page: "catalogue", title: "Tea and coffee", data: s.catalogueData(v), late: s.broken[slowPage]}, nil
}

// results is the catalogue's part that live search replaces.
func (s *server) results(v *visit) (reply, error) {
	return reply{page: "results", data: s.catalogueData(v), late: s.broken[slowPage]}, nil
}

type apiProduct struct {
	Slug     string `json:"slug"`
	Name     string `json:"name"`
	Category string `json:"category"`
	Price    string `json:"price"`
	Stock    int    `json:"stock"`
}

func (s *server) apiProducts(v *visit) (reply, error) {
	found := []apiProduct{}
	for _, p := range v.find(readFilter(v.r)) {
		found = append(found, apiProduct{p.Slug, p.Name, p.Category, p.Price.String(), p.Stock})
	}
	return reply{json: map[string]any{"products": found}}, nil
}

type productData struct {
	Product product
	Others  []product
}

func (s *server) product(v *visit) (reply, error) {
	p, ok := v.product(v.r.PathValue("slug"))
	if !ok {
		return reply{}, fault{http.StatusNotFound, "We do not sell that"}
	}
	data := productData{Product: p}
	for _, other := range v.find(filter{Category: p.Category}) {
		if other.Slug != p.Slug && len(data.Others) < 4 {
			data.Others = append(data.Others, other)
		}
	}
	return reply{page: "product", title: p.Name, data: data}, nil
}
