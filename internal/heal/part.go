package heal

import (
	"strings"

	"tas-service/internal/locator"
	"tas-service/internal/relocate"
)

// Part is one part of a locator as Playwright writes it: getByRole('button', { name: 'Save' }).
type Part struct {
	Code   string
	method string
	text   string // the first argument, if it is a text
	plain  bool   // text is known: neither a pattern nor another locator
	name   string // of { name: … }
	named  bool
	odd    bool // a name that is a pattern
	exact  bool
}

// Parts takes a locator apart at its dots; none for what is no locator of Playwright's own
// writing.
func Parts(code string) (out []Part) {
	begin := 0
	for i, depth := 0, 0; i <= len(code); i++ {
		if i < len(code) {
			switch c := code[i]; c {
			case '\'', '"', '`':
				end := skipText(code, i, c)
				if end < 0 {
					return nil
				}
				i = end
				continue
			case '/':
				if prev := strings.TrimRight(code[:i], " "); prev != "" && strings.IndexByte("(,:[{", prev[len(prev)-1]) >= 0 {
					end := skipText(code, i, '/')
					if end < 0 {
						return nil
					}
					i = end
					continue
				}
			case '(', '{', '[':
				depth++
			case ')', '}', ']':
				depth--
			}
			if code[i] != '.' || depth != 0 {
				continue
			}
		}
		p, ok := part(strings.TrimSpace(code[begin:i]))
		if !ok {
			return nil
		}
		out, begin = append(out, p), i+1
	}
	return out
}

// skipText answers where a text ends that begins with a quote; -1 where it does not end.
func skipText(code string, from int, quote byte) int {
	for i := from + 1; i < len(code); i++ {
		switch code[i] {
		case '\\':
			i++
		case quote:
			return i
		}
	}
	return -1
}

func part(code string) (p Part, ok bool) {
	p.Code = code
	open := strings.IndexByte(code, '(')
	if open <= 0 || !strings.HasSuffix(code, ")") {
		return p, false
	}
	p.method = code[:open]
	for _, r := range p.method {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return p, false
		}
	}
	args := strings.TrimSpace(code[open+1 : len(code)-1])
	rest := args
	if text, after, is := firstText(args); is {
		p.text, p.plain, rest = text, true, after
	}
	if i := strings.Index(rest, "name:"); i >= 0 {
		p.named = true
		if text, _, is := firstText(strings.TrimSpace(rest[i+len("name:"):])); is {
			p.name = text
		} else {
			p.odd = true
		}
	}
	p.exact = strings.Contains(rest, "exact: true")
	return p, true
}

// firstText reads a text in quotes at the beginning.
func firstText(s string) (text, after string, ok bool) {
	if s == "" || strings.IndexByte("'\"`", s[0]) < 0 {
		return "", s, false
	}
	end := skipText(s, 0, s[0])
	if end < 0 {
		return "", s, false
	}
	var b strings.Builder
	for i := 1; i < end; i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		switch i++; s[i] {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), s[end+1:], true
}

// finds reports whether the part by itself finds an element. known is false for what a list
// of elements does not tell: CSS, patterns, parts that only narrow.
func (p Part) finds(e *relocate.Element) (found, known bool) {
	holds := func(s, want string) bool { return locator.Fits(s, want, p.exact) }
	if !p.plain || p.odd {
		return false, false
	}
	switch locator.Strategy(p.method) {
	case locator.ByTestID:
		return e.TestID == p.text, true
	case locator.ByRole:
		return e.Role == p.text && !e.Hidden && (!p.named || e.Name != "" && holds(e.Name, p.name)), true
	case locator.ByLabel:
		return e.Name != "" && holds(e.Name, p.text), true
	case locator.ByPlaceholder:
		return e.Hint != "" && holds(e.Hint, p.text), true
	case locator.ByAltText:
		return e.Alt != "" && holds(e.Alt, p.text), true
	case locator.ByTitle:
		return e.Title != "" && holds(e.Title, p.text), true
	case locator.ByText:
		return e.Text != "" && holds(e.Text, p.text), true
	}
	return false, false
}
