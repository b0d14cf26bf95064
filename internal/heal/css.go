package heal

import (
	"regexp"
	"slices"
	"strings"

	"tas-service/internal/locator"
	"tas-service/internal/relocate"
)

// css is a selector as far as elements of a page tell it: a list of chains of compounds.
type css [][]compound

// compound is what a selector says of one element, and how that stands to the one before.
type compound struct {
	combinator byte // ' ', '>', '+', '~'; of the first one ' '
	tag        string
	tests      []attributeTest
	hasText    string // of Playwright's :has-text()
	textIs     string // of Playwright's :text-is()
}

type attributeTest struct {
	name, op, value string // op "" asks whether it is there
}

var compoundPart = regexp.MustCompile(`^(?:([a-zA-Z][\w-]*|\*)|#([\w-]+)|\.([\w-]+)|\[\s*([\w-]+)\s*(?:([~^$*|]?=)\s*(?:"([^"]*)"|'([^']*)'|([\w-]+))\s*)?\]|:has-text\(\s*(?:"([^"]*)"|'([^']*)')\s*\)|:text-is\(\s*(?:"([^"]*)"|'([^']*)')\s*\))`)

// parseCSS reads a selector; false for what elements of a page do not tell, as pseudo-classes,
// and for what is no CSS.
func parseCSS(s string) (out css, ok bool) {
	s = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(s), "css="))
	if s == "" || len(s) > 1000 || strings.HasPrefix(s, "//") || strings.Contains(s, ">>") {
		return nil, false
	}
	chain, combinator, fresh := []compound{}, byte(' '), true
	for len(s) > 0 {
		if m := compoundPart.FindStringSubmatch(s); m != nil {
			s = s[len(m[0]):]
			if fresh {
				chain, fresh = append(chain, compound{combinator: combinator}), false
			} else if m[1] != "" {
				return nil, false // a tag comes first
			}
			c := &chain[len(chain)-1]
			switch {
			case m[1] == "*":
			case m[1] != "":
				c.tag = strings.ToLower(m[1])
			case m[2] != "":
				c.tests = append(c.tests, attributeTest{"id", "=", m[2]})
			case m[3] != "":
				c.tests = append(c.tests, attributeTest{"class", "~=", m[3]})
			case m[4] != "":
				c.tests = append(c.tests, attributeTest{strings.ToLower(m[4]), m[5], m[6] + m[7] + m[8]})
			case m[9]+m[10] != "":
				c.hasText = m[9] + m[10]
			case m[11]+m[12] != "":
				c.textIs = m[11] + m[12]
			default:
				return nil, false
			}
			continue
		}
		rest := strings.TrimLeft(s, " \t\n")
		switch {
		case rest == "":
			s = ""
		case fresh:
			return nil, false
		case rest[0] == ',':
			out, chain, combinator, fresh, s = append(out, chain), nil, ' ', true, strings.TrimSpace(rest[1:])
			if s == "" {
				return nil, false
			}
		case strings.IndexByte(">+~", rest[0]) >= 0:
			combinator, fresh, s = rest[0], true, strings.TrimLeft(rest[1:], " \t\n")
		case rest != s:
			combinator, fresh, s = ' ', true, rest
		default:
			return nil, false
		}
	}
	if fresh || len(chain) == 0 {
		return nil, false
	}
	return append(out, chain), true
}

// attributeOf answers an attribute of an element; false where it has none, or none is known.
func attributeOf(e *relocate.Element, name, testID string) (string, bool) {
	of := func(s string) (string, bool) { return s, s != "" }
	switch name {
	case testID:
		return of(e.TestID)
	case "id":
		return of(e.ID)
	case "class":
		return of(e.Class)
	case "name":
		return of(e.NameAttr)
	case "type":
		return of(e.Type)
	case "href":
		return of(e.Href)
	case "alt":
		return of(e.Alt)
	case "title":
		return of(e.Title)
	case "placeholder":
		return of(e.Hint)
	case "disabled":
		return "", e.Disabled
	}
	s, ok := e.Attributes[name]
	return s, ok
}

// fits reports whether an element is what a compound says, its ancestors aside.
func (c *compound) fits(e *relocate.Element, testID string) bool {
	if c.tag != "" && c.tag != e.Tag || c.hasText != "" && !contains(e.Text, c.hasText) || c.textIs != "" && !locator.Fits(e.OwnText, c.textIs, true) {
		return false
	}
	for _, t := range c.tests {
		have, ok := attributeOf(e, t.name, testID)
		if ok {
			switch t.op {
			case "=":
				ok = have == t.value
			case "~=":
				ok = slices.Contains(strings.Fields(have), t.value)
			case "^=":
				ok = t.value != "" && strings.HasPrefix(have, t.value)
			case "$=":
				ok = t.value != "" && strings.HasSuffix(have, t.value)
			case "*=":
				ok = t.value != "" && strings.Contains(have, t.value)
			case "|=":
				ok = have == t.value || strings.HasPrefix(have, t.value+"-")
			}
		}
		if !ok {
			return false
		}
	}
	return true
}

// known reports whether all that a selector asks for is kept of elements.
func (s css) known() bool {
	for _, chain := range s {
		for _, c := range chain {
			for _, t := range c.tests {
				if t.name == "value" || t.name == "style" || strings.HasPrefix(t.name, "on") {
					return false
				}
			}
		}
	}
	return true
}

// matches reports whether a selector finds an element of a page.
func (s css) matches(p *page, at int) bool {
	return slices.ContainsFunc(s, func(chain []compound) bool { return p.chain(chain, at) })
}

func (p *page) chain(chain []compound, at int) bool {
	last := len(chain) - 1
	if !chain[last].fits(&p.all[at], p.testID) {
		return false
	}
	if last == 0 {
		return true
	}
	switch rest := chain[:last]; chain[last].combinator {
	case '>':
		up := p.parent(at)
		return up >= 0 && p.chain(rest, up)
	case '+', '~':
		for i := range p.before(at) {
			k := p.before(at)[i]
			if p.chain(rest, k) {
				return true
			}
			if chain[last].combinator == '+' {
				break
			}
		}
		return false
	default:
		for up := p.parent(at); up >= 0; up = p.parent(up) {
			if p.chain(rest, up) {
				return true
			}
		}
		return false
	}
}
