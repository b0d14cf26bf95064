package shop

import (
	"cmp"
	"slices"
	"strings"
)

// product is what the shop sells. Price and Stock are those a visit starts with.
type product struct {
	Slug     string
	Name     string
	Category string
	Note     string // a few words under the name
	About    string
	Facts    [][2]string
	Brew     []string // the steps of the brewing guide, if there is one
	Price    Cents
	Stock    int
	art      art
}

type category struct{ ID, Name string }

var categories = []category{{"tea", "Tea"}, {"coffee", "Coffee"}, {"gear", "Brewing"}, {"cups", "Cups & pots"}}

// CategoryName is the category as people read it.
func (p product) CategoryName() string {
	for _, c := range categories {
		if c.ID == p.Category {
			return c.Name
		}
	}
	return ""
}

var (
	brewFilter = []string{"Grind 16 g, as fine as sand", "Pour 50 g of water at 94 °C and wait 30 seconds", "Pour up to 250 g in slow circles", "Be done after three minutes"}
	brewShot   = []string{"Grind 18 g, fine", "Tamp level", "Stop at 36 g, after 28 seconds"}
	brewBlack  = []string{"Boil fresh water", "Use 3 g for a cup", "Steep for four minutes", "Add milk if you like"}
	brewGreen  = []string{"Let the water cool to 75 °C", "Use 4 g for a cup", "Steep for one minute", "Steep the same leaves again"}
	brewHerb   = []string{"Boil fresh water", "Use a heaped spoon for a cup", "Cover and wait for seven minutes"}
)

// products is the catalogue in the order the shop likes best.
var products = []product{
	{"harbour-blend", "Harbour Blend", "coffee", "Cocoa, hazelnut, fig", "Our house espresso since the first day: two washed coffees and a natural, roasted slowly until they taste of cocoa and dried fig. Forgiving in every machine.",
		[][2]string{{"Origin", "Brazil, Guatemala"}, {"Roast", "Medium"}, {"Weight", "250 g"}}, brewShot, 1250, 40, art{"bag", "wave", "#2f5d62", "#21464a", "#f3e3c3", "#dfe9e4"}},
	{"sencha-spring", "Sencha Spring", "tea", "First flush, steamed", "Picked in the first week of May and steamed the same afternoon. Bright, a little sweet, with the smell of a mown lawn.",
		[][2]string{{"Origin", "Shizuoka, Japan"}, {"Caffeine", "Medium"}, {"Weight", "80 g"}}, brewGreen, 1400, 24, art{"tin", "leaf", "#6f8f4e", "#56723a", "#f4f1dc", "#e6eddb"}},
	{"stone-dripper", "Stone Dripper", "gear", "Stoneware, for two cups", "A dripper that keeps its heat. Spiral ribs let the water leave evenly, and the wide foot sits on any mug.",
		[][2]string{{"Material", "Stoneware"}, {"Filters", "Size 02"}, {"Made in", "Portugal"}}, brewFilter, 2400, 15, art{"dripper", "", "#d9c7ae", "#b89f80", "#7a5c43", "#efe7db"}},
	{"jasmine-pearls", "Jasmine Pearls", "tea", "Hand rolled, scented six times", "Green tea rolled into pearls and laid among fresh jasmine for six nights. One spoon opens into a whole garden.",
		[][2]string{{"Origin", "Fujian, China"}, {"Caffeine", "Medium"}, {"Weight", "80 g"}}, brewGreen, 1750, 12, art{"tin", "flower", "#c98b9b", "#ab6b7c", "#fff3ee", "#f6e6e6"}},
	{"yirgacheffe-dawn", "Yirgacheffe Dawn", "coffee", "Bergamot, apricot, honey", "A washed heirloom coffee from high farms: light, floral and clear, more like tea than you expect.",
		[][2]string{{"Origin", "Gedeo, Ethiopia"}, {"Roast", "Light"}, {"Weight", "250 g"}}, brewFilter, 1600, 18, art{"bag", "sun", "#d98f4e", "#b8723a", "#fff1d6", "#f8e8d3"}},
	{"tide-mug", "Tide Mug", "cups", "Dipped glaze, 300 ml", "Thrown by hand and dipped twice, so no two tide lines are the same. Safe in the dishwasher.",
		[][2]string{{"Material", "Stoneware"}, {"Holds", "300 ml"}, {"Made in", "Denmark"}}, nil, 1400, 30, art{"mug", "", "#f1ebe0", "#d8cdbb", "#3f7480", "#dcebec"}},
	{"breakfast-assam", "Breakfast Assam", "tea", "Malty, brisk, good with milk", "Second flush leaves with golden tips. Strong enough for milk, kind enough without.",
		[][2]string{{"Origin", "Assam, India"}, {"Caffeine", "High"}, {"Weight", "100 g"}}, brewBlack, 950, 60, art{"tin", "sun", "#a6452f", "#843322", "#fbe6c8", "#f4e0d6"}},
	{"gooseneck-kettle", "Gooseneck Kettle", "gear", "Exact to the degree, 0.9 l", "Holds any temperature from 40 to 100 °C for an hour. The thin spout pours as slowly as you wish.",
		[][2]string{{"Material", "Steel, walnut"}, {"Holds", "0.9 l"}, {"Power", "1200 W"}}, nil, 6900, 8, art{"kettle", "", "#3c4146", "#272b2f", "#a5714a", "#e4e3df"}},
	{"huila-sunset", "Huila Sunset", "coffee", "Caramel, red apple, plum", "From eleven small farms around Pitalito. Round and sweet, at home in filter and press.",
		[][2]string{{"Origin", "Huila, Colombia"}, {"Roast", "Medium"}, {"Weight", "250 g"}}, brewFilter, 1500, 22, art{"bag", "hill", "#8c4a5e", "#6d3547", "#f9dcc4", "#f1dfe2"}},
	{"clay-teapot", "Clay Teapot", "cups", "Unglazed, 450 ml", "Red clay that remembers every tea it has held. Keep it for one kind.",
		[][2]string{{"Material", "Red clay"}, {"Holds", "450 ml"}, {"Made in", "Japan"}}, nil, 4200, 5, art{"teapot", "", "#a8553a", "#86402a", "#e8b692", "#f3e2d6"}},
	{"garden-chamomile", "Garden Chamomile", "tea", "Whole flowers, no caffeine", "Whole flower heads, dried in the shade. Tastes of honey and hay, and sends you to bed.",
		[][2]string{{"Origin", "Alentejo, Portugal"}, {"Caffeine", "None"}, {"Weight", "50 g"}}, brewHerb, 850, 35, art{"tin", "flower", "#e0b64c", "#c0962f", "#fffaf0", "#f8efd2"}},
	{"glass-press", "Glass Press", "gear", "Double wall, 600 ml", "A press whose coffee is still hot when you come back for the second cup.",
		[][2]string{{"Material", "Glass, steel"}, {"Holds", "600 ml"}, {"Made in", "Germany"}}, nil, 3400, 10, art{"press", "", "#5b3a29", "#3e2618", "#b9c4c9", "#e3e9ea"}},
	{"night-ferry-decaf", "Night Ferry Decaf", "coffee", "Chocolate, walnut, no hurry", "Decaffeinated with nothing but water, then roasted like a coffee that matters.",
		[][2]string{{"Origin", "Chiapas, Mexico"}, {"Roast", "Medium dark"}, {"Weight", "250 g"}}, brewShot, 1350, 16, art{"bag", "moon", "#35406b", "#252e50", "#f4e7b8", "#dfe2ee"}},
	{"hojicha-ember", "Hojicha Ember", "tea", "Roasted over charcoal", "Green tea roasted until it smells of toast and autumn. Low in caffeine, good after dinner.",
		[][2]string{{"Origin", "Kyoto, Japan"}, {"Caffeine", "Low"}, {"Weight", "80 g"}}, brewGreen, 1200, 20, art{"tin", "hill", "#8a6a4a", "#6c5036", "#f2dfc3", "#ece2d5"}},
	{"espresso-pair", "Espresso Pair", "cups", "Two cups, 80 ml each", "Thick walls, thin lips and a foot that fits under every portafilter.",
		[][2]string{{"Material", "Porcelain"}, {"Holds", "2 × 80 ml"}, {"Made in", "Italy"}}, nil, 1900, 14, art{"pair", "", "#e9a98a", "#cf8663", "#7d3f2b", "#f8e7dd"}},
	{"smoky-lapsang", "Smoky Lapsang", "tea", "Pine smoke, dark plum", "Dried over pine fires in the Wuyi hills. People love it or leave the room.",
		[][2]string{{"Origin", "Fujian, China"}, {"Caffeine", "High"}, {"Weight", "100 g"}}, brewBlack, 1090, 0, art{"tin", "wave", "#3d4a45", "#2a3531", "#e4d9c0", "#dfe4df"}},
	{"hand-grinder", "Hand Grinder", "gear", "Steel burrs, 30 clicks", "Grinds for one in forty seconds and fits into a coat. The burrs last longer than we will.",
		[][2]string{{"Material", "Steel, oak"}, {"Holds", "30 g"}, {"Made in", "Taiwan"}}, nil, 8900, 3, art{"grinder", "", "#8f979b", "#6d7579", "#a5714a", "#e7e4df"}},
	{"santos-morning", "Santos Morning", "coffee", "Peanut, toffee, mild", "The easy one: low in acid, sweet, and priced for a coffee you drink every day.",
		[][2]string{{"Origin", "Minas Gerais, Brazil"}, {"Roast", "Medium"}, {"Weight", "250 g"}}, brewFilter, 1190, 50, art{"bag", "leaf", "#4e7a5d", "#396046", "#f4e8cf", "#dfeae1"}},
}

func findProduct(slug string) (product, bool) {
	for _, p := range products {
		if p.Slug == slug {
			return p, true
		}
	}
	return product{}, false
}

// filter is what a person asked of the catalogue.
type filter struct {
	Query    string
	Category string
	Max      Cents // 0 is any price
	Sort     string
}

var sorts = [][2]string{{"", "Our favourites"}, {"price", "Price, low to high"}, {"-price", "Price, high to low"}, {"name", "Name"}}

// On says whether anything is filtered.
func (f filter) On() bool { return f.Query != "" || f.Category != "" || f.Max != 0 }

// find gives the products that match, with the prices of this visit.
func (st *state) find(f filter) []product {
	var found []product
	query := strings.Fields(strings.ToLower(f.Query))
	for _, p := range products {
		p = st.of(p)
		text := strings.ToLower(p.Name + " " + p.Note + " " + p.CategoryName())
		for _, fact := range p.Facts {
			text += " " + strings.ToLower(fact[1])
		}
		all := !slices.ContainsFunc(query, func(w string) bool { return !strings.Contains(text, w) })
		if all && (f.Category == "" || f.Category == p.Category) && (f.Max == 0 || p.Price <= f.Max) {
			found = append(found, p)
		}
	}
	slices.SortStableFunc(found, func(a, b product) int {
		switch f.Sort {
		case "price":
			return cmp.Compare(a.Price, b.Price)
		case "-price":
			return cmp.Compare(b.Price, a.Price)
		case "name":
			return cmp.Compare(a.Name, b.Name)
		}
		return 0
	})
	return found
}
