package web

import (
	"fmt"
	"html/template"
	"math"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"tas-service/internal/run"
)

// look is how a word of ours is shown: never by its colour alone.
type look struct{ Icon, Tone, Text string }

// looks are the words that stand in badges: verdicts, phases, statuses, the states and
// severities of bugs, the health of tests.
var looks = map[string]look{
	"pass": {"check", "good", "pass"}, "passed": {"check", "good", "passed"}, "healed": {"check", "good", "healed"}, "recovered": {"check", "good", "recovered"},
	"fail": {"cross", "bad", "fail"}, "failed": {"cross", "bad", "failed"}, "process-error": {"alert", "bad", "process error"}, "timedOut": {"clock", "bad", "timed out"},
	"bug": {"bug", "bad", "bug"}, "flaky": {"wave", "warn", "flaky"}, "interrupted": {"stop", "bad", "interrupted"},
	"skipped": {"dash", "quiet", "skipped"}, "cancelled": {"stop", "quiet", "cancelled"},
	"running": {"spin", "live", "running"}, "preparing": {"spin", "live", "preparing"}, "merging": {"spin", "live", "judging"},
	"queued": {"clock", "quiet", "queued"}, "pending": {"clock", "quiet", "pending"}, "finished": {"check", "quiet", "finished"}, "lost": {"alert", "bad", "lost"},
	"error": {"cross", "bad", "error"}, "uncaught": {"alert", "bad", "uncaught error"}, "warning": {"alert", "warn", "warning"},
	"needs-triage": {"question", "warn", "needs triage"}, "confirmed": {"bug", "bad", "confirmed"}, "fixed": {"check", "good", "fixed"},
	"not-bug": {"dash", "quiet", "not a bug"}, "snoozed": {"moon", "quiet", "snoozed"},
	"critical": {"alert", "bad", "critical"}, "major": {"up", "warn", "major"}, "minor": {"down", "quiet", "minor"},
	"healthy": {"check", "good", "healthy"}, "broken": {"cross", "bad", "broken"}, "outage": {"alert", "warn", "outage"}, "unknown": {"question", "quiet", "not run yet"},
	"open": {"branch", "live", "open"}, "merged": {"check", "good", "merged"}, "closed": {"dash", "quiet", "closed"}, "success": {"check", "good", "success"}, "failure": {"cross", "bad", "failure"},
	"waiting": {"question", "warn", "waits for approval"}, "done": {"check", "good", "done"}, "rejected": {"stop", "quiet", "rejected"}, "off": {"stop", "warn", "off"},
	"application-bug": {"bug", "bad", "application bug"}, "environment": {"alert", "warn", "environment"}, "not-healable": {"dash", "quiet", "not healable"},
	"cloning": {"spin", "live", "cloning"}, "verifying": {"spin", "live", "verifying"}, "waiting-for-input": {"question", "warn", "waits for a person"}, "completed": {"check", "quiet", "completed"},
	"requested": {"clock", "quiet", "asked for"}, "refused": {"stop", "warn", "refused"}, "approved": {"check", "good", "approved"}, "draft": {"dash", "quiet", "draft"}, "taken": {"check", "good", "taken"},
	"heal": {"check", "good", "sure enough to heal"}, "propose": {"question", "warn", "only to be proposed"}, "report": {"dash", "quiet", "not sure enough"},
	"read": {"search", "quiet", "looked"}, "ran": {"play", "quiet", "ran"}, "changed": {"branch", "quiet", "changed"}, "decided": {"check", "quiet", "decided"}, "said": {"talk", "quiet", "said"}, "trouble": {"alert", "bad", "trouble"},
	"new": {"plus", "bad", "new"}, "known": {"bug", "warn", "known"}, "quarantined": {"shield", "quiet", "quarantined"},
}

func lookOf(word any) look {
	w := fmt.Sprint(word)
	if l, ok := looks[w]; ok {
		return l
	}
	return look{"dot", "quiet", w}
}

// icon is a picture beside a word, so it is hidden from who cannot see it.
func icon(name string) template.HTML {
	return template.HTML(`<svg class="i" aria-hidden="true"><use href="#i-` + template.HTMLEscapeString(name) + `"/></svg>`) //nolint:gosec // escaped
}

func badge(word any) template.HTML {
	l := lookOf(word)
	return template.HTML(`<span class="badge `+l.Tone+`">`) + icon(l.Icon) + template.HTML(template.HTMLEscapeString(l.Text)+`</span>`) //nolint:gosec // escaped
}

// mark is a badge of which only the picture is seen, and the word is read out.
func mark(word any) template.HTML {
	l := lookOf(word)
	text := template.HTMLEscapeString(l.Text)
	return template.HTML(`<span class="mark `+l.Tone+`" title="`+text+`">`) + icon(l.Icon) + template.HTML(`<span class="sr">`+text+`</span></span>`) //nolint:gosec // escaped
}

// when is a time as one thinks of it, with the exact one at hand.
func (a *App) when(t any) template.HTML {
	var x time.Time
	switch t := t.(type) {
	case time.Time:
		x = t
	case *time.Time:
		if t != nil {
			x = *t
		}
	}
	if x.IsZero() {
		return ""
	}
	x = x.UTC()
	return template.HTML(fmt.Sprintf(`<time datetime="%s" title="%s UTC">%s</time>`, x.Format(time.RFC3339), x.Format("2006-01-02 15:04:05"), ago(a.Now().Sub(x)))) //nolint:gosec // only digits
}

// ago says how long something is past, or ahead.
func ago(d time.Duration) string {
	ahead := d < 0
	if ahead {
		d = -d
	}
	var text string
	switch {
	case d < 45*time.Second:
		if ahead {
			return "in a moment"
		}
		return "just now"
	case d < time.Hour:
		text = fmt.Sprintf("%d min", int(math.Max(1, d.Minutes())))
	case d < 24*time.Hour:
		text = fmt.Sprintf("%d h", int(d.Hours()))
	case d < 60*24*time.Hour:
		text = fmt.Sprintf("%d d", int(d.Hours()/24))
	default:
		text = fmt.Sprintf("%d mo", int(d.Hours()/24/30))
	}
	if ahead {
		return "in " + text
	}
	return text + " ago"
}

func showDuration(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 100*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	default:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
}

func percent(n, of int) int {
	if of <= 0 {
		return 0
	}
	return n * 100 / of
}

var ansi = regexp.MustCompile(`\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-_]`)

// plain is a text of test code without what would steer a terminal, or hide in a page.
func plain(s string) string {
	s = ansi.ReplaceAllString(s, "")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069':
			return -1
		}
		return r
	}, s)
}

// firstLine is what fits into a row.
func firstLine(s string, most int) string {
	s, _, _ = strings.Cut(strings.TrimSpace(plain(s)), "\n")
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// cut is a text of a stranger, of so many characters at most.
func cut(s string, most int) string {
	s = strings.TrimSpace(plain(s))
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// codeLine is one line of a code frame.
type codeLine struct {
	Text string
	Hot  bool // where it failed
}

// frame takes a code frame of Playwright apart.
func frame(snippet string) []codeLine {
	var out []codeLine
	for line := range strings.SplitSeq(strings.TrimRight(plain(snippet), "\n"), "\n") {
		out = append(out, codeLine{Text: line, Hot: strings.HasPrefix(strings.TrimSpace(line), ">")})
	}
	return out
}

// initial is the first letter of a name.
func initial(name string) string {
	r, _ := utf8.DecodeRuneInString(name)
	return string(r)
}

// plural is a number with its word.
func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	switch {
	case strings.HasSuffix(word, "y"):
		word = strings.TrimSuffix(word, "y") + "ies"
	case strings.HasSuffix(word, "s"):
		word += "es"
	default:
		word += "s"
	}
	return fmt.Sprintf("%d %s", n, word)
}

// with answers a query with some values set; an empty value drops one.
func with(q url.Values, pairs ...string) string {
	out := url.Values{}
	for k, v := range q {
		out[k] = v
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			out.Del(pairs[i])
			continue
		}
		out.Set(pairs[i], pairs[i+1])
	}
	if len(out) == 0 {
		return "?"
	}
	return "?" + out.Encode()
}

// dict makes a map out of names and values, for partials that need several.
func dict(pairs ...any) (map[string]any, error) {
	out := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok {
			return nil, fmt.Errorf("%v is no name", pairs[i])
		}
		out[name] = pairs[i+1]
	}
	return out, nil
}

func (a *App) funcs() template.FuncMap {
	return template.FuncMap{
		"asset": a.assets.url, "badge": badge, "mark": mark, "icon": icon, "look": lookOf, "when": a.when, "ms": showDuration, "percent": percent,
		"millis": func(n int64) time.Duration { return time.Duration(n) * time.Millisecond }, "add": func(a, b int) int { return a + b },
		"join": strings.Join, "plain": plain, "line": firstLine, "gist": gist, "frame": frame, "plural": plural, "initial": initial, "short": func(s string) string { return s[:min(len(s), 10)] },
		"title": fullTitle, "some": some,
		"dict": dict, "list": func(all ...string) []string { return all },
		"took":      func(x run.Result) time.Duration { return x.Duration() },
		"recovered": func(x run.Result) []run.Recovered { return x.Recovered() },
		"pct":       func(f float64) float64 { return 100 * f },
		"path":      url.PathEscape, "query": url.QueryEscape,
		"part": func(v *view, x any) part { return part{View: v, X: x} }, "snippet": snippet, "agent": browserOf, "cut": cut, "class": classWords, "sure": sureWords,
	}
}
