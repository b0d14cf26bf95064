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
	single := func(styled bool) bool {
		for _, part := range b.parts {
			if code := now.write(parts, part, it, unfit, styled); code != "" {
				p.Part, p.Before, p.After = part, parts[part].Code, code
				return true
			}
		}
		return false
	}
	several := func() bool {
		at, code := now.widely(parts, b, it, unfit)
		if code != "" {
			p.Part, p.Through, p.Before, p.After = at, last, codes(parts[at:last+1]), code
		}
		return code != ""
	}
	styled := locator.StrategyOf(parts[last].Code) == ""
	return single(styled) || several() || !styled && single(true)
}

// write answers code for one part of a locator with which the whole of it finds one element
// and no other one; "" where nothing does. CSS is written only where styled says so.
func (p *page) write(parts []Part, part, it int, unfit func(Part) bool, styled bool) string {
	last := naming(parts, len(parts)-1)
	try := func(code string) bool {
		fresh := Parts(code)
		return len(fresh) == 1 && code != parts[part].Code && (part != last || unfit == nil || !unfit(fresh[0])) && p.findsAlone(slices.Concat(parts[:part], fresh, parts[part+1:]), it)
	}
	if part == last {
		all := p.named(it, p.room(parts, part, it), parts[part].Code)
		if styled {
			all = append(all, p.styled(it)...)
		}
		return firstOf(all, try)
	}
	// What is around the element: the nearest of which a locator is known.
	prefer := locator.StrategyOf(parts[part].Code)
	for up := p.parent(it); up >= 0; up = p.parent(up) {
		all := p.areas(up, parts[part].Code)
		if e := &p.all[up]; e.Role != "" && !e.Hidden && prefer == locator.ByRole {
			all = append(all, byRole(e))
		}
		if styled {
			all = append(all, p.styled(up)...)
		}
		if code := firstOf(all, try); code != "" {
			return code
		}
	}
	return ""
}

// findsAlone reports whether a locator finds one element and no other one.
func (p *page) findsAlone(parts []Part, it int) bool {
	f := p.find(parts)
	return f.known && len(f.last()) == 1 && f.last()[0] == it
}

// firstOf answers the first code that will do, "" for none.
func firstOf(all []string, try func(code string) bool) string {
	if i := slices.IndexFunc(all, try); i >= 0 {
		return all[i]
	}
	return ""
}

func byRole(e *relocate.Element) string { return "getByRole(" + locator.Quote(e.Role) + ")" }

// areas answers locators for what is around an element: not by its text, which is that of all in it.
func (p *page) areas(at int, was string) []string {
	return slices.DeleteFunc(p.named(at, p.all, was), func(code string) bool { return locator.StrategyOf(code) == locator.ByText })
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
	if code := p.scoped(parts, last, last, it, unfit); code != "" || b.part == last {
		return last, code
	}
	return b.part, p.scoped(parts, b.part, last, it, unfit)
}

// scopes are the roles of what people know as an area of a page.
var scopes = []string{"main", "navigation", "complementary", "banner", "contentinfo", "region", "search", "form", "dialog", "alertdialog", "tablist", "tabpanel", "table", "toolbar", "menu"}

// scoped answers code for an element in place of some parts of a locator: by itself, or in an area
// around it. It replaces nothing that narrows, which says which of several is meant.
func (p *page) scoped(parts []Part, at, through, it int, unfit func(Part) bool) string {
	if slices.ContainsFunc(parts[at:through+1], func(part Part) bool { return part.narrows() }) {
		return ""
	}
	try := func(code string) bool {
		fresh := Parts(code)
		return len(fresh) > 0 && (unfit == nil || !unfit(fresh[len(fresh)-1])) && p.findsAlone(slices.Concat(parts[:at], fresh, parts[through+1:]), it)
	}
	was := parts[through].Code
	if at < through {
		if code := firstOf(append(p.named(it, p.room(parts, at, it), was), p.styled(it)...), try); code != "" {
			return code
		}
	}
	for up := p.parent(it); up >= 0; up = p.parent(up) {
		e := &p.all[up]
		if !slices.Contains(scopes, e.Role) || e.Hidden {
			continue
		}
		own := p.named(it, p.inside(up), was)
		for _, area := range append(p.areas(up, ""), byRole(e)) {
			if code := firstOf(own, func(code string) bool { return try(area + "." + code) }); code != "" {
				return area + "." + code
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
