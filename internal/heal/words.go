package heal

import (
	"fmt"
	"slices"
	"strings"

	"tas-service/internal/agent"
	"tas-service/internal/forge"
	"tas-service/internal/run"
)

// maxRepairs is how many repairs a pull request explains.
const maxRepairs = 10

// maxHeadline bounds the title of a pull request, in characters.
const maxHeadline = 100

// repairs answers the findings that led to a repair, one for each edit.
func (st *state) repairs() (out []Finding) {
	for i := range st.Edits {
		if i < len(st.Made) && slices.Contains(st.Made[:i], st.Made[i]) {
			continue // two tests share the place
		}
		for _, f := range st.Findings {
			if f.Edit == i {
				out = append(out, f)
				break
			}
		}
	}
	return out
}

func headline(st *state) string {
	if st.writing() {
		for _, f := range st.Findings {
			if f.Written {
				return tame(forge.Line("Heal "+f.Title+", as a model wrote it", maxHeadline))
			}
		}
	}
	all := st.repairs()
	if len(all) == 0 {
		return "Repair a locator"
	}
	text := fmt.Sprintf("Heal %s: %s", all[0].Title, all[0].After)
	if len(all) > 1 {
		text = fmt.Sprintf("Heal %s: %d locators", all[0].Title, len(all))
	}
	return tame(forge.Line(text, maxHeadline))
}

// tame keeps strangers' words in a title or a commit from being orders to a forge: closing an
// issue, skipping its checks, calling somebody.
var tame = strings.NewReplacer("#", "#\u200b", "[", "[\u200b", "@", "@\u200b").Replace

func message(st *state) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", headline(st))
	if st.writing() {
		fmt.Fprintf(&b, "\nThe model %s wrote this change, and the proof in the pull request is all that is known of it.\n", tame(forge.Line(st.Work.Model, maxHeadline)))
	}
	for _, f := range st.repairs() {
		fmt.Fprintf(&b, "\n%s does not find its element any more, which is there as\n%s.\n", tame(f.Before), tame(f.After))
	}
	return b.String()
}

// body answers what a reviewer needs to judge a repair in a minute, in Markdown.
func (s *Service) body(x *agent.Step, st *state, r run.Run) string {
	var b strings.Builder
	if draft, why := st.doubtful(); draft {
		fmt.Fprintf(&b, "> **Proposed, not proved beyond doubt**: %s\n\n", plainWords(why))
	}
	code := forge.Code
	if st.writing() {
		fmt.Fprintf(&b, "**Written by the model %s**, in %d turns with %d runs of the tests. It may change locators and steps, and nothing that is checked; what it changed was linted and proved as below.\n\n", code(st.Work.Model), st.Work.Turns, st.Work.Runs)
		if st.Work.Wish != "" {
			fmt.Fprintf(&b, "A reviewer wished: %s\n\n", code(clean(st.Work.Wish, maxShown)))
		}
	}
	for _, f := range st.Findings {
		if f.Written {
			fmt.Fprintf(&b, "- %s failed: **%s**. %s\n", code(f.Title), f.Class, plainWords(f.Why))
		}
	}
	if st.writing() {
		b.WriteString("\n")
	}
	all := st.repairs()
	for _, f := range all[:min(len(all), maxRepairs)] {
		fmt.Fprintf(&b, "### %s\n\n**%s** in %s\n\n", code(f.Title), f.Class, code(fmt.Sprintf("%s:%d", f.Step.File, f.Step.Line)))
		fmt.Fprintf(&b, "| before | after |\n|---|---|\n| %s | %s |\n\n", code(f.Before), code(f.After))
		if len(f.Candidates) > 0 {
			b.WriteString("| candidate | share | why |\n|---|---|---|\n")
			for i, c := range f.Candidates {
				mark := ""
				if i == 0 {
					mark = "**taken** "
				}
				why := strings.Join(append(c.Why, c.Vetoes...), "; ")
				fmt.Fprintf(&b, "| %s%s | %.3f | %s |\n", mark, code(c.Label), c.Share, code(why))
			}
			fmt.Fprintf(&b, "\nProbability that it is the element, and was not removed: **%.3f**.\n\n", f.P)
		}
		if f.Advice != nil && f.Advice.Effect != "" {
			fmt.Fprintf(&b, "%s\n\n", plainWords(f.Advice.Effect))
		}
	}
	if st.Prose != "" {
		fmt.Fprintf(&b, "### In a model's words\n\n%s\n\n", escape(st.Prose))
	}
	s.proofWords(&b, st)
	fmt.Fprintf(&b, "\n[Everything that was looked at](%s) · [the run that failed](%s)\n", s.SessionURL(x.ID), s.RunURL(r.ID))
	return b.String()
}

func (s *Service) proofWords(b *strings.Builder, st *state) {
	p := st.Proof
	if p == nil {
		return
	}
	code := forge.Code
	b.WriteString("### Proof\n\n| check | | |\n|---|---|---|\n")
	sign := map[bool]string{true: "✅", false: "❌"}
	fmt.Fprintf(b, "| passes again, without retries | %s | %d of %d |\n", sign[p.Good == p.Ran && p.Ran > 0], p.Good, p.Ran)
	for _, c := range p.Checks {
		fmt.Fprintf(b, "| same %s | %s | %s |\n", c.What, sign[c.OK], code(c.Note))
	}
	if p.Shared > 0 {
		fmt.Fprintf(b, "| other tests that share the change | %s | %d of %d |\n", sign[len(p.SharedFailed) == 0], p.Shared-len(p.SharedFailed), p.Shared)
	}
	for _, m := range p.Sabotage {
		what := "the test fails, as it must"
		if m.Survived() {
			what = "**the test does not notice**"
		}
		fmt.Fprintf(b, "| when %s | %s | %s |\n", plainWords(m.What), sign[!m.Survived()], what)
	}
	if p.Note != "" {
		fmt.Fprintf(b, "\n%s\n", plainWords(p.Note))
	}
}

// plainWords makes a sentence of ours, with quotations of strangers in it, safe for Markdown.
func plainWords(s string) string {
	var b strings.Builder
	for {
		i := strings.Index(s, "“")
		j := strings.Index(s, "”")
		if i < 0 || j < i {
			b.WriteString(escape(s))
			return b.String()
		}
		b.WriteString(escape(s[:i]))
		b.WriteString(forge.Code(s[i+len("“") : j]))
		s = s[j+len("”"):]
	}
}

var escape = strings.NewReplacer("<", "&lt;", "[", "\\[", "]", "\\]", "*", "\\*", "_", "\\_", "`", "\\`", "|", "\\|", "@", "@\u200b", "#", "#\u200b", "\n", " ").Replace

// remarkBody answers what a pull request is told of a session.
func (s *Service) remarkBody(x *agent.Step, st *state, r run.Run) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### Healing of run [%s](%s): %s\n\n%s\n\n", forge.Code(r.Name), s.RunURL(r.ID), forge.Code(x.Title), plainWords(x.Summary))
	if x.Pull != nil && x.Pull.URL != "" {
		fmt.Fprintf(&b, "The repair: [#%d](%s)\n\n", x.Pull.Number, x.Pull.URL)
	}
	const most = 20
	for i, o := range x.Outcomes {
		if i == most {
			fmt.Fprintf(&b, "- and %d more\n", len(x.Outcomes)-most)
			break
		}
		fmt.Fprintf(&b, "- %s: **%s**", forge.Code(o.Title), o.Outcome)
		if len(o.Evidence) > 0 {
			fmt.Fprintf(&b, ": %s", plainWords(o.Evidence[0]))
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "\n[Everything that was looked at](%s)\n", s.SessionURL(x.ID))
	return b.String()
}
