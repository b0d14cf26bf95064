package shop

import "testing"

// cart makes items out of slugs and quantities at catalogue prices.
func cart(t *testing.T, lines ...cartLine) []item {
	t.Helper()
	st := &state{cart: lines}
	for _, l := range lines {
		if _, ok := findProduct(l.slug); !ok {
			t.Fatalf("no product %q", l.slug)
		}
	}
	return st.items()
}

func TestSum(t *testing.T) {
	mixed := []cartLine{{"sencha-spring", 2}, {"tide-mug", 1}} // 28.00 of tea and 14.00
	tests := []struct {
		name  string
		lines []cartLine
		code  string
		want  totals
	}{
		{"nothing", nil, "", totals{}},
		{"with shipping", mixed, "", totals{Count: 3, Subtotal: 4200, Shipping: 490, Total: 4690, ToFreeShipping: 800}},
		{"free from 50 euros", []cartLine{{"harbour-blend", 4}}, "", totals{Count: 4, Subtotal: 5000, Total: 5000}},
		{"a discount can cost the free shipping", []cartLine{{"harbour-blend", 4}}, "WELCOME10",
			totals{Count: 4, Subtotal: 5000, Discount: 500, Code: "WELCOME10", Shipping: 490, Total: 4990, ToFreeShipping: 500}},
		{"a code for one category", mixed, "teatime",
			totals{Count: 3, Subtotal: 4200, Discount: 420, Code: "TEATIME", Shipping: 490, Total: 4270, ToFreeShipping: 1220}},
		{"rounded half up", []cartLine{{"breakfast-assam", 1}}, "TEATIME", // 15 % of 9.50 is 1.425
			totals{Count: 1, Subtotal: 950, Discount: 143, Code: "TEATIME", Shipping: 490, Total: 1297, ToFreeShipping: 4193}},
		{"free shipping by code", mixed, " FreeShip ", totals{Count: 3, Subtotal: 4200, Code: "FREESHIP", Total: 4200}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var c code
			if tt.code != "" {
				var err error
				if c, err = findCode(tt.code); err != nil {
					t.Fatal(err)
				}
			}
			if got := sum(cart(t, tt.lines...), c); got != tt.want {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

func TestFindCodeRefuses(t *testing.T) {
	for typed, want := range map[string]string{
		"":         "Enter a code first",
		"summer25": "The code SUMMER25 has expired",
		"nope":     "There is no code NOPE",
	} {
		if _, err := findCode(typed); err == nil || err.Error() != want {
			t.Errorf("findCode(%q) = %v, want %q", typed, err, want)
		}
	}
}

func TestParseCents(t *testing.T) {
	for in, want := range map[string]Cents{"12": 1200, "12.5": 1250, " 12.50 ": 1250, "0.05": 5} {
		if got, ok := parseCents(in); !ok || got != want {
			t.Errorf("parseCents(%q) = %v, %v, want %v", in, got, ok, want)
		}
	}
	for _, in := range []string{"", "-1", "1.", "1.234", "1,50", "1.-5", "1e3", "99999999"} {
		if got, ok := parseCents(in); ok {
			t.Errorf("parseCents(%q) = %v, want it refused", in, got)
		}
	}
}
