package notify

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"

	"tas-service/internal/fault"
	"tas-service/internal/run"
)

// Bounds of what chats take. Teams takes 28 KB a message, Discord 6,000 characters in all of
// an embed, Slack 3,000 a block; each is kept well below.
const (
	failuresShown = 8
	lineShown     = 180  // characters
	discordText   = 4000 // as chats count characters: those of UTF-16
	slackText     = 2500
)

// Body answers what is posted to a destination of a kind. What test code says is never
// markup there: it mentions nobody and makes no link.
func Body(k Kind, e Event) ([]byte, error) {
	switch k {
	case Webhook:
		return marshal(e)
	case Slack:
		return marshal(slack(summarise(e)))
	case Teams:
		return marshal(teams(summarise(e)))
	case Discord:
		return marshal(discord(summarise(e)))
	case Email:
	}
	return nil, fault.New(fault.Internal, "nothing is posted to a destination of kind %q", k)
}

func marshal(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "write a message")
	}
	return b, nil
}

// summary is an event for people: plain texts, no markup.
type summary struct {
	Title string
	Bad   bool
	Good  bool
	Facts []string
	Items []item
	More  int // items that are not shown
	Link  string
	Label string
}

type item struct{ Head, Text string }

// headline is an event in one line.
func headline(e Event) string {
	d := e.Data
	switch {
	case e.Type == RunFinished && d.Run != nil:
		return tidy(fmt.Sprintf("%s: %s on %s", d.Project.Name, outcome(d.Run), orNone(d.Run.Branch, "the default branch")), 200)
	case d.Bug != nil:
		word := "new bug"
		if e.Type == BugReopened {
			word = "seen again"
		}
		return tidy(fmt.Sprintf("%s: %s %s, %s", d.Project.Name, word, d.Bug.Key, d.Bug.Title), 200)
	case d.Session != nil:
		return tidy(fmt.Sprintf("%s: %s ended: %s", d.Project.Name, d.Session.Kind, d.Session.Outcome), 200)
	}
	return tidy(d.Project.Name+": a test message", 200)
}

func outcome(r *Run) string {
	switch r.Phase {
	case run.Passed, run.Healed:
		return fmt.Sprintf("%d tests %s", r.Total, r.Phase)
	case run.Cancelled:
		return "run cancelled"
	case run.ProcessError:
		return "run broke down"
	}
	if n := r.Failed(); n > 0 {
		return fmt.Sprintf("%d of %d tests failed", n, r.Total)
	}
	return "run failed"
}

func orNone(s, none string) string {
	if s == "" {
		return none
	}
	return s
}

func summarise(e Event) summary {
	s := summary{Title: headline(e)}
	if e.Data.Message != "" {
		s.Facts = append(s.Facts, tidy(e.Data.Message, 300))
	}
	if b := e.Data.Bug; b != nil {
		s.Bad, s.Link, s.Label = true, b.URL, "Open "+b.Key
		s.Facts = append(s.Facts, "severity "+tidy(b.Severity, 20))
	}
	if x := e.Data.Session; x != nil {
		s.Link, s.Label = x.URL, "Open the session"
	}
	r := e.Data.Run
	if r == nil {
		return s
	}
	s.Facts = append(s.Facts, "run "+tidy(r.Name, 60)+", commit "+orNone(tidy(r.Commit[:min(10, len(r.Commit))], 10), "unknown")+", started by "+string(r.Trigger))
	if s.Link == "" {
		s.Bad, s.Good, s.Link, s.Label = r.Verdict == run.Fail, r.Verdict == run.Pass, r.URL, "Open the run"
		s.Facts = append(s.Facts, counts(r.Counts))
		if r.Before != "" && r.Changed() {
			s.Facts = append(s.Facts, "the run before: "+string(r.Before))
		}
		if r.Error != "" {
			s.Facts = append(s.Facts, tidy(r.Error, 300))
		}
	}
	for _, f := range r.Failures {
		if e.Data.Bug != nil && f.Bug != e.Data.Bug.Key {
			continue
		}
		if len(s.Items) == failuresShown {
			s.More++
			continue
		}
		head := tidy(f.Title, lineShown)
		if f.Bug != "" {
			head += " (" + tidy(f.Bug, 20) + ")"
		}
		s.Items = append(s.Items, item{head, tidy(orNone(f.Error, f.File), lineShown)})
	}
	if e.Data.Bug == nil {
		s.More = max(s.More, r.Failed()-len(s.Items))
	}
	return s
}

func counts(c run.Counts) string {
	var out []string
	for _, x := range []struct {
		n    int
		word string
	}{{c.Passed, "passed"}, {c.Failed, "failed"}, {c.Bug, "bugs"}, {c.Flaky, "flaky"}, {c.Recovered, "recovered"}, {c.Skipped, "skipped"}} {
		if x.n > 0 {
			out = append(out, fmt.Sprintf("%d %s", x.n, x.word))
		}
	}
	if len(out) == 0 {
		return "no test has a result"
	}
	return strings.Join(out, ", ")
}

// text is the summary without markup.
func (s summary) text() string {
	lines := append([]string{}, s.Facts...)
	for _, i := range s.Items {
		lines = append(lines, "✗ "+i.Head, "   "+i.Text)
	}
	if s.More > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", s.More))
	}
	return strings.Join(lines, "\n")
}

// letter is an event as the text of an e-mail.
func letter(e Event) string {
	s := summarise(e)
	out := s.Title + "\n\n" + s.text() + "\n"
	if s.Link != "" {
		out += "\n" + s.Label + ": " + s.Link + "\n"
	}
	return out + "\n-- \nSent by TAS for the project " + tidy(e.Data.Project.Name, 100) + ". Its administrators choose who hears of what.\n"
}

// slack makes a message of rich text, whose elements are no markup; only the text beside
// it, for notifications on a phone, is, and there three characters are all that matter.
func slack(s summary) any {
	type m = map[string]any
	text := func(t string, bold bool) m {
		if bold {
			return m{"type": "text", "text": t, "style": m{"bold": true}}
		}
		return m{"type": "text", "text": t}
	}
	parts := []m{text(mark(s)+s.Title+"\n", true), text(cut(s.text(), slackText), false)}
	if s.Link != "" {
		parts = append(parts, text("\n", false), m{"type": "link", "url": s.Link, "text": s.Label})
	}
	escaped := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s.Title)
	return m{"text": escaped, "unfurl_links": false, "unfurl_media": false, "blocks": []m{{"type": "rich_text", "elements": []m{{"type": "rich_text_section", "elements": parts}}}}}
}

func mark(s summary) string {
	switch {
	case s.Bad:
		return "✗ "
	case s.Good:
		return "✓ "
	}
	return ""
}

// teams makes an Adaptive Card of text runs, which are no markup.
func teams(s summary) any {
	type m = map[string]any
	runs := func(t, colour string, bold bool) m {
		r := m{"type": "TextRun", "text": t, "color": colour}
		if bold {
			r["weight"], r["size"] = "Bolder", "Medium"
		}
		return m{"type": "RichTextBlock", "inlines": []m{r}}
	}
	colour := "Default"
	if s.Bad {
		colour = "Attention"
	} else if s.Good {
		colour = "Good"
	}
	body := []m{runs(mark(s)+s.Title, colour, true)}
	for _, f := range s.Facts {
		body = append(body, runs(f, "Default", false))
	}
	for _, i := range s.Items {
		body = append(body, runs("✗ "+i.Head, "Default", false), runs(i.Text, "Default", false))
	}
	if s.More > 0 {
		body = append(body, runs(fmt.Sprintf("and %d more", s.More), "Default", false))
	}
	card := m{"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4", "body": body}
	if s.Link != "" {
		card["actions"] = []m{{"type": "Action.OpenUrl", "title": s.Label, "url": s.Link}}
	}
	return m{"type": "message", "attachments": []m{{"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": nil, "content": card}}}
}

// discord makes an embed. Its texts are Markdown, so what could be markup is escaped, and
// nobody is mentioned whatever they say.
func discord(s summary) any {
	type m = map[string]any
	colour := 0x6b7280
	if s.Bad {
		colour = 0xdc2626
	} else if s.Good {
		colour = 0x16a34a
	}
	embed := m{"title": escapeMarkdown(mark(s)+s.Title, 250), "description": escapeMarkdown(s.text(), discordText), "color": colour}
	if s.Link != "" {
		embed["url"] = s.Link
	}
	return m{"embeds": []m{embed}, "allowed_mentions": m{"parse": []string{}}}
}

// escapeMarkdown puts a backslash before each punctuation mark of ASCII, at most so many
// characters, which also takes what looks like an address apart.
func escapeMarkdown(text string, most int) string {
	var b strings.Builder
	n := 0
	for _, r := range text {
		mark := r < 0x80 && (unicode.IsPunct(r) || unicode.IsSymbol(r))
		if n += utf16.RuneLen(r); mark {
			n++
		}
		if n > most-1 {
			b.WriteString("…")
			break
		}
		if mark {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// cut answers at most so many characters of UTF-16 of a text.
func cut(text string, most int) string {
	n := 0
	for i, r := range text {
		if n += utf16.RuneLen(r); n > most-1 {
			return text[:i] + "…"
		}
	}
	return text
}

// tidy answers a text in one line without what steers a terminal or hides, at most so many
// characters of it.
func tidy(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}

// firstLine is what an error says first.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return tidy(stripColours(line), 300)
}

// stripColours drops what colours a terminal: ESC [ … letter.
func stripColours(text string) string {
	var b strings.Builder
	for {
		i := strings.Index(text, "\x1b[")
		if i < 0 {
			return b.String() + text
		}
		b.WriteString(text[:i])
		text = strings.TrimLeft(text[i+2:], "0123456789;?")
		if text != "" {
			text = text[1:]
		}
	}
}
