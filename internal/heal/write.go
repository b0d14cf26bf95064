package heal

import (
	"slices"

	"tas-service/internal/locator"
	"tas-service/internal/relocate"
)

// rewrite writes what is broken of a locator anew, so that it finds one element, and reports
// whether anything does. One part is better than several, and CSS comes last where the author of
// the test wrote none. What unfit holds of is not written; nil for all.
func (p *Proposal) rewrite(now *page, parts []Part, b fracture, it int, unfit func(Part) bool) bool {
	last := naming(parts, len(parts)-1)
	ways := []bool{false, true}
	if locator.StrategyOf(parts[last].Code) == "" {
		ways = []bool{true}
	}
	for n, styled := range ways {
		for _, part := range b.parts {
			if code := now.write(parts, part, it, unfit, styled); code != "" {
				p.Part, p.Before, p.After = part, parts[part].Code, code
				return true
			}
		}
		if n > 0 {
			break
		}
		if at, code := now.widely(parts, b, it, unfit); code != "" {
			p.Part, p.Through, p.Before, p.After = at, last, codes(parts[at:last+1]), code
			return true
		}
	}
	return false
}

// write answers code for one part of a locator with which the whole of it finds one element
// and no other one; "" where nothing does. CSS is written only where styled says so.
func (p *page) write(parts []Part, part, it int, unfit func(Part) bool, styled bool) string {
	last := naming(parts, len(parts)-1)
	try := func(code string) bool {
		fresh := Parts(code)
		if len(fresh) != 1 || code == parts[part].Code || part == last && unfit != nil && unfit(fresh[0]) {
			return false
		}
		whole := slices.Clone(parts)
		whole[part] = fresh[0]
		f := p.find(whole)
		return f.known && len(f.last()) == 1 && f.last()[0] == it
	}
	prefer := locator.StrategyOf(parts[part].Code)
	if part == last {
		all := p.named(it, p.room(parts, part, it), parts[part].Code)
		if styled {
			all = append(all, p.styled(it)...)
		}
		for _, code := range all {
			if try(code) {
				return code
			}
		}
		return ""
	}
	// What is around the element: the nearest of which a locator is known.
	for up := p.parent(it); up >= 0; up = p.parent(up) {
		codes := slices.DeleteFunc(p.named(up, p.all, parts[part].Code), func(code string) bool { return locator.StrategyOf(code) == locator.ByText })
		if e := &p.all[up]; e.Role != "" && !e.Hidden && prefer == locator.ByRole {
			codes = append(codes, "getByRole("+locator.Quote(e.Role)+")")
		}
		if styled {
			codes = append(codes, p.styled(up)...)
		}
		for _, code := range codes {
			if try(code) {
				return code
			}
		}
	}
	return ""
}

// room answers the elements among which a part chooses: those in what the parts before it find
// around the element.
func (p *page) room(parts []Part, part, it int) []relocate.Element {
	if part == 0 {
		return p.all
	}
	f := p.find(parts[:part])
	var out []relocate.Element
	for at := range p.all {
		if slices.ContainsFunc(f.last(), func(s int) bool { return p.within(at, s) && p.within(it, s) }) {
			out = append(out, p.all[at])
		}
	}
	if len(out) == 0 {
		return p.all
	}
	return out
}

func (p *page) named(at int, room []relocate.Element, was string) (out []string) {
	for _, l := range locator.ForInstead(&p.all[at], room, was) {
		out = append(out, l.Code)
	}
	return out
}

// styled answers CSS for an element: what locators are written of where nothing names it.
func (p *page) styled(at int) (out []string) {
	own := locator.Simple(&p.all[at])
	for _, s := range own {
		if s != p.all[at].Tag {
			out = append(out, "locator("+locator.Quote(s)+")")
		}
	}
	if prior := p.before(at); len(prior) > 0 {
		if term := locator.Term(&p.all[prior[0]]); term != "" {
			out = append(out, "locator("+locator.Quote(term+" + "+p.all[at].Tag)+")")
		}
	}
	for up, n := p.parent(at), 0; up >= 0 && n < 8; up, n = p.parent(up), n+1 {
		around := locator.Simple(&p.all[up])
		if key := locator.Around(&p.all[up], &p.all[at]); key != "" {
			around = append(around, key)
		}
		for _, a := range around {
			if a == p.all[up].Tag && !slices.Contains([]string{"main", "nav", "aside", "header", "footer", "dialog", "form", "article", "fieldset", "table"}, a) {
				continue
			}
			for _, s := range own {
				out = append(out, "locator("+locator.Quote(a+" "+s)+")")
			}
		}
	}
	return out
}

// widely answers code of several parts where no single one does: the element in what is around it,
// or in place of all that is broken of the locator: from the part at to the one that names the
// element.
func (p *page) widely(parts []Part, b fracture, it int, unfit func(Part) bool) (at int, code string) {
	last := naming(parts, len(parts)-1)
	for _, at := range []int{last, b.part} {
		if at > last || slices.ContainsFunc(parts[at:last+1], func(part Part) bool { return part.narrows() }) {
			continue // what narrows says which of several is meant
		}
		if code := p.scoped(parts, at, last, it, unfit); code != "" {
			return at, code
		}
	}
	return 0, ""
}

// scopes are the roles of what people know as an area of a page.
var scopes = []string{"main", "navigation", "complementary", "banner", "contentinfo", "region", "search", "form", "dialog", "alertdialog", "tablist", "tabpanel", "table", "toolbar", "menu"}

// scoped answers code for an element in place of some parts of a locator: by itself, or in an area
// around it.
func (p *page) scoped(parts []Part, at, through, it int, unfit func(Part) bool) string {
	try := func(code string) bool {
		fresh := Parts(code)
		if len(fresh) == 0 || unfit != nil && unfit(fresh[len(fresh)-1]) {
			return false
		}
		f := p.find(slices.Concat(parts[:at], fresh, parts[through+1:]))
		return f.known && len(f.last()) == 1 && f.last()[0] == it
	}
	was := parts[through].Code
	if at < through {
		for _, code := range append(p.named(it, p.room(parts, at, it), was), p.styled(it)...) {
			if try(code) {
				return code
			}
		}
	}
	for up := p.parent(it); up >= 0; up = p.parent(up) {
		e := &p.all[up]
		if !slices.Contains(scopes, e.Role) || e.Hidden {
			continue
		}
		around := append(slices.DeleteFunc(p.named(up, p.all, ""), func(code string) bool { return locator.StrategyOf(code) == locator.ByText }), "getByRole("+locator.Quote(e.Role)+")")
		for _, scope := range around {
			for _, own := range p.named(it, p.inside(up), was) {
				if code := scope + "." + own; try(code) {
					return code
				}
			}
		}
	}
	return ""
}

// inside answers the elements in one.
func (p *page) inside(scope int) (out []relocate.Element) {
	for at := range p.all {
		if p.within(at, scope) {
			out = append(out, p.all[at])
		}
	}
	return out
}
