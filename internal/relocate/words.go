package relocate

import (
	"slices"
	"strings"
	"unicode"
)

// word is a hash of a word (FNV-1a): comparing pages compares numbers. Two words of two pages
// meet in one hash too seldom to matter.
type word uint64

func hashOf(s string) word {
	h := uint64(14695981039346656037)
	for i := 0; i < len(s); i++ {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return word(h)
}

// bag is a sorted set of words.
type bag []word

func bagOf(words []string) bag {
	if len(words) == 0 {
		return nil
	}
	b := make(bag, len(words))
	for i, w := range words {
		b[i] = hashOf(w)
	}
	slices.Sort(b)
	return slices.Compact(b)
}

func union(bags ...bag) bag {
	var n int
	for _, b := range bags {
		n += len(b)
	}
	if n == 0 {
		return nil
	}
	all := make(bag, 0, n)
	for _, b := range bags {
		all = append(all, b...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// plain makes two ways of writing one text equal: case, blanks, and signs at its ends.
func plain(s string) string {
	s = strings.Join(strings.Fields(strings.ToLower(s)), " ")
	if t := strings.TrimFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }); t != "" {
		return t
	}
	return s
}

// split cuts a text or an identifier into lower-case words: at signs, at a change from lower to
// upper case, and between letters and digits.
func split(s string) []string {
	var out []string
	start, last := -1, rune(0)
	for i, r := range s {
		letter, digit := unicode.IsLetter(r), unicode.IsDigit(r)
		switch {
		case !letter && !digit:
			if start >= 0 && r != '\'' && r != '’' {
				out = append(out, strings.ToLower(s[start:i]))
				start = -1
			}
		case start < 0:
			start = i
		case unicode.IsLower(last) && unicode.IsUpper(r), letter && unicode.IsDigit(last), digit && unicode.IsLetter(last):
			out = append(out, strings.ToLower(s[start:i]))
			start = i
		}
		last = r
	}
	if start >= 0 {
		out = append(out, strings.ToLower(s[start:]))
	}
	return out
}

// made says whether an identifier looks like a machine's: digits among letters, as build tools
// give to classes and frameworks to IDs. It says nothing about what the element is.
func made(s string) bool {
	var digits, turns int
	last := false
	for i, r := range s {
		d := unicode.IsDigit(r)
		if d {
			digits++
		}
		if i > 0 && d != last {
			turns++
		}
		last = d
	}
	return digits >= 4 || turns >= 3 && digits >= 2
}

// stable answers the words of an identifier that a person may have chosen.
func stable(s string) []string {
	var out []string
	for _, part := range strings.Fields(s) {
		for _, w := range split(part) {
			if len(w) > 1 && !unicode.IsDigit(rune(w[0])) {
				out = append(out, w)
			}
		}
	}
	return out
}

// trigrams answers the runs of three letters of a text, with its ends marked.
func trigrams(s string) bag {
	if s == "" {
		return nil
	}
	if len(s) > 80 {
		s = s[:80]
	}
	s = "^" + s + "$"
	b := make(bag, 0, len(s))
	for i := 0; i+3 <= len(s); i++ {
		b = append(b, word(s[i])<<16|word(s[i+1])<<8|word(s[i+2]))
	}
	slices.Sort(b)
	return slices.Compact(b)
}

// dice answers how much of two sets is common, from 0 to 1.
func dice(a, b bag) float64 {
	if len(a)+len(b) == 0 {
		return 0
	}
	n := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			n, i, j = n+1, i+1, j+1
		case a[i] < b[j]:
			i++
		default:
			j++
		}
	}
	return 2 * float64(n) / float64(len(a)+len(b))
}

// weighed is a bag with the weight of each of its words on a page: a word that few elements have
// says more.
type weighed struct {
	bag
	weight []float64
	total  float64
}

// share answers the weight that two bags have in common over the weight of their union, and over
// that of the lighter one.
func share(a, b *weighed) (jaccard, contained float64) {
	if len(a.bag) == 0 || len(b.bag) == 0 {
		return 0, 0
	}
	var common float64
	for i, j := 0, 0; i < len(a.bag) && j < len(b.bag); {
		switch {
		case a.bag[i] == b.bag[j]:
			common += (a.weight[i] + b.weight[j]) / 2
			i, j = i+1, j+1
		case a.bag[i] < b.bag[j]:
			i++
		default:
			j++
		}
	}
	if common == 0 {
		return 0, 0
	}
	return common / max(a.total+b.total-common, common), min(1, common/max(min(a.total, b.total), 1e-9))
}
