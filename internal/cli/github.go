package cli

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"tas-service/client"
)

// github tells GitHub Actions: annotations on the output, and a summary of the step.
type github struct {
	c       *console
	summary string // file that GitHub shows; "" outside of its pipelines
}

// maxAnnotations: GitHub shows ten of a step; more only fill the log.
const maxAnnotations = 10

func (g *github) wantsAll() bool { return false }

// report prints annotations at the beginning of lines of their own and adds to the summary.
func (g *github) report(o *outcome) error {
	if o.exit != nil {
		g.annotate("error", "", 0, "TAS: no verdict", o.exit.Message)
	}
	if o.Error != nil {
		g.annotate("error", "", 0, "TAS: "+o.Error.Code, o.Error.Message)
	}
	for _, w := range o.Warnings {
		g.annotate("warning", "", 0, "TAS: "+w.Code, w.Message)
	}
	for i, r := range o.bad {
		if i == maxAnnotations {
			break
		}
		level, message := "error", r.Status
		if r.Status == "flaky" {
			level, message = "warning", "failed, then passed on a retry"
		}
		if e := errorOf(r); e != nil && r.Status == "flaky" {
			message += "\n" + strings.Join(firstLines(e.Message, 20), "\n")
		} else if e != nil {
			message = strings.Join(firstLines(e.Message, 20), "\n")
		}
		file, line := where(r)
		g.annotate(level, file, line, named(r), message)
	}
	if g.summary == "" {
		return nil
	}
	f, err := os.OpenFile(g.summary, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("the step summary was not written: %w", err)
	}
	_, err = f.WriteString(markdown(o))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("the step summary was not written: %w", err)
	}
	return nil
}

var (
	escapeData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	escapeProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// annotate prints one workflow command. Only this writes lines that begin with "::".
func (g *github) annotate(level, file string, line int, title, message string) {
	var properties []string
	if file != "" {
		properties = append(properties, "file="+escapeProperty.Replace(clean(file)))
		if line > 0 {
			properties = append(properties, fmt.Sprintf("line=%d", line))
		}
	}
	properties = append(properties, "title="+escapeProperty.Replace(clean(title)))
	g.c.printf("::%s %s::%s\n", level, strings.Join(properties, ","), escapeData.Replace(cleanLines(cmp.Or(strings.TrimSpace(message), title))))
}

// markdown is the step's summary. GitHub takes no more than 1 MiB of it.
func markdown(o *outcome) string {
	var b strings.Builder
	mark, verdict := "❌", "FAIL"
	switch {
	case !o.IsTerminal:
		mark, verdict = "⚠️", "NO VERDICT"
	case o.Verdict == "pass":
		mark, verdict = "✅", "PASS"
	}
	fmt.Fprintf(&b, "## %s TAS: %s\n\n", mark, verdict)
	took := ""
	if o.DurationMs != nil {
		took = " in " + duration(*o.DurationMs)
	}
	fmt.Fprintf(&b, "%s of %d%s\n\n", escapeMarkdown(counts(o.Status)), o.TotalCount, took)
	if o.exit != nil {
		fmt.Fprintf(&b, "%s\n\n", escapeMarkdown(clean(o.exit.Message)))
	}
	if o.Error != nil {
		fmt.Fprintf(&b, "**%s**\n\n%s\n", escapeMarkdown(clean(o.Error.Code)), fenced(firstLines(o.Error.Message, 20)))
	}
	for _, w := range o.Warnings {
		fmt.Fprintf(&b, "> **%s**: %s\n\n", escapeMarkdown(clean(w.Code)), escapeMarkdown(clean(w.Message)))
	}
	section(&b, "Failed", o.bad, func(r client.Result) bool { return r.Status != "flaky" })
	section(&b, "Flaky", o.bad, func(r client.Result) bool { return r.Status == "flaky" })
	if link := clean(o.TestRunURL); link != "" {
		fmt.Fprintf(&b, "[Run](%s)", escapeLink(link))
	}
	if link := clean(o.url); link != "" {
		fmt.Fprintf(&b, " · [Report](%s)", escapeLink(link))
	}
	b.WriteString("\n\n")
	return b.String()
}

func section(b *strings.Builder, title string, rs []client.Result, in func(client.Result) bool) {
	n := 0
	for _, r := range rs {
		if !in(r) {
			continue
		}
		if n++; n == 1 {
			fmt.Fprintf(b, "### %s\n\n", title)
		}
		if n > maxShown {
			continue
		}
		file, line := where(r)
		fmt.Fprintf(b, "**%s** · %s\n\n", escapeMarkdown(named(r)), escapeMarkdown(fmt.Sprintf("%s:%d", clean(file), line)))
		if e := errorOf(r); e != nil {
			b.WriteString(fenced(firstLines(e.Message, 2*errorLines)) + "\n")
		}
	}
	if n > maxShown {
		fmt.Fprintf(b, "… and %d more\n\n", n-maxShown)
	}
}

// fenced is a block of code whose fence is longer than any in it.
func fenced(lines []string) string {
	text := strings.Join(lines, "\n")
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "text\n" + text + "\n" + fence + "\n"
}

// escapeMarkdown makes a clean line plain text, HTML and mentions included.
func escapeMarkdown(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '<':
			b.WriteString("&lt;")
		case r == '&':
			b.WriteString("&amp;")
		case r == '@':
			b.WriteString("&#64;")
		case r == ':': // bare addresses become links
			b.WriteString("&#58;")
		case strings.ContainsRune("\\`*_{}[]()#+-!|>~\"'$", r):
			b.WriteString("\\" + string(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// escapeLink keeps an address within the brackets of a link.
func escapeLink(s string) string {
	return strings.NewReplacer("(", "%28", ")", "%29", "<", "%3C", ">", "%3E", " ", "%20", "\\", "%5C").Replace(s)
}
