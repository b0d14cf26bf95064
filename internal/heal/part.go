package heal

import (
	"regexp"
	"strconv"
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
	odd    bool // a name that is a pattern, or an option that is not known here
	exact  bool
	level  string // of { level: 2 }
	more   bool   // there is more than the first argument
	// of filter: the text, or the other locator, that must be inside
	hasText string
	has     []Part
	number  int // of nth
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
	p.more = p.plain && strings.TrimSpace(strings.Trim(rest, ", ")) != ""
	if i := strings.Index(rest, "name:"); i >= 0 {
		p.named = true
		if text, _, is := firstText(strings.TrimSpace(rest[i+len("name:"):])); is {
			p.name = text
		} else {
			p.odd = true
		}
	}
	p.exact = strings.Contains(rest, "exact: true")
	if m := levelOption.FindStringSubmatch(rest); m != nil {
		p.level = m[1]
	}
	if p.method == string(locator.ByRole) && states.MatchString(bareOptions(rest)) {
		p.odd = true
	}
	switch p.method {
	case "nth":
		n, err := strconv.Atoi(args)
		p.odd, p.number = err != nil, n
	case "filter":
		p.filter(args)
	}
	return p, true
}

var (
	levelOption = regexp.MustCompile(`level: (\d)`)
	states      = regexp.MustCompile(`checked:|selected:|expanded:|pressed:|disabled:|includeHidden:|description:`)
)

// bareOptions answers options without the texts in them.
func bareOptions(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if strings.IndexByte("'\"`", s[i]) >= 0 {
			end := skipText(s, i, s[i])
			if end < 0 {
				break
			}
			i = end
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// filter reads { hasText: 'x' } and { has: page.getBy… }, one of them.
func (p *Part) filter(args string) {
	inner, open := strings.CutPrefix(args, "{")
	inner, closed := strings.CutSuffix(strings.TrimSpace(inner), "}")
	if !open || !closed {
		return
	}
	inner = strings.TrimSuffix(strings.TrimSpace(inner), ",")
	if rest, is := strings.CutPrefix(inner, "hasText:"); is {
		if text, after, is := firstText(strings.TrimSpace(rest)); is && strings.TrimSpace(after) == "" {
			p.hasText = text
		}
		return
	}
	if rest, is := strings.CutPrefix(inner, "has:"); is {
		p.has = Parts(strings.TrimPrefix(strings.TrimSpace(rest), "page."))
	}
}

// place answers which of n found elements first, last and nth mean.
func (p *Part) place(n int) (at int, ok bool) {
	switch p.method {
	case "first":
		return 0, true
	case "last":
		return n - 1, true
	}
	if p.number < 0 {
		return n + p.number, !p.odd
	}
	return p.number, !p.odd
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
	has := func(s string) bool { return s != "" && locator.FitsAttribute(s, p.text, p.exact) }
	if !p.plain || p.odd {
		return false, false
	}
	switch locator.Strategy(p.method) {
	case locator.ByTestID:
		return e.TestID == p.text, true
	case locator.ByRole:
		return e.Role == p.text && !e.Hidden && (p.level == "" || p.level == levelOf(e)) && (!p.named || e.Name != "" && holds(e.Name, p.name)), true
	case locator.ByLabel:
		return e.Name != "" && holds(e.Name, p.text), true
	case locator.ByPlaceholder:
		return has(e.Hint), true
	case locator.ByAltText:
		return has(e.Alt), true
	case locator.ByTitle:
		return has(e.Title), true
	case locator.ByText:
		return e.Text != "" && holds(e.Text, p.text) || e.Value != "" && holds(e.Value, p.text), true
	}
	return false, false
}

// levelOf answers the level of a heading.
func levelOf(e *relocate.Element) string {
	if l := e.Attributes["aria-level"]; l != "" {
		return l
	}
	if len(e.Tag) == 2 && e.Tag[0] == 'h' {
		return e.Tag[1:]
	}
	return ""
}
