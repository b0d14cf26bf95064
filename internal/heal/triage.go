package heal

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"tas-service/internal/agent"
	"tas-service/internal/evidence"
	"tas-service/internal/locator"
	"tas-service/internal/relocate"
)

// Class is why a test fails.
type Class string

// The classes, in the order in which they are looked for: the first that fits holds.
const (
	Environment    Class = "environment"     // the browser, the network or the sign-in, not the test
	Flaky          Class = "flaky"           // it passes when it is run again unchanged
	ApplicationBug Class = "application-bug" // the application does not do what it did
	PreExisting    Class = "pre-existing"    // it fails on the default branch as well
	Drift          Class = "locator-drift"   // the element is there under another name
	Ambiguity      Class = "ambiguity"       // the locator finds several
	Overlay        Class = "overlay"         // something covers the element
	Timing         Class = "timing"          // it comes too late
	Wording        Class = "wording-drift"   // a text was put in other words
	Flow           Class = "flow-change"     // another page comes
	Unknown        Class = "unknown"
)

// Classes lists them.
func Classes() []Class {
	return []Class{Environment, Flaky, ApplicationBug, PreExisting, Drift, Ambiguity, Overlay, Timing, Wording, Flow, Unknown}
}

// outcome answers what a session concludes of a test of a class that it did not heal.
func (c Class) outcome() agent.Verdict {
	switch c {
	case Environment:
		return agent.Environment
	case Flaky:
		return agent.Flaky
	case ApplicationBug:
		return agent.ApplicationBug
	case PreExisting, Drift, Ambiguity, Overlay, Timing, Wording, Flow, Unknown:
	}
	return agent.NotHealable
}

// Case is one failure with all that is known of it.
type Case struct {
	Message string        // of the error, with Playwright's call log
	Failed  evidence.Test // of the failing run; nothing where there is no trace
	Step    int           // that failed, -1 where it is not known
	Passing []evidence.Test
	// Before reports that it fails the same on the default branch, which is another one.
	Before string
}

// Judgement is why a test fails, with the evidence, and what would repair it.
type Judgement struct {
	Class      Class
	Confidence float64
	Why        string
	Evidence   []string
	Proposal   *Proposal // of Drift and Ambiguity
}

// Triage answers why a test fails.
func Triage(model *relocate.Model, c Case) Judgement {
	for _, look := range []func(Case) (Judgement, bool){ofEnvironment, ofApplication, ofBefore, ofOverlay, ofExpectation} {
		if j, ok := look(c); ok {
			return j
		}
	}
	return ofLocator(model, c)
}

// broken are words of errors that no test is to blame for.
var environment = []struct {
	words *regexp.Regexp
	why   string
}{
	{regexp.MustCompile(`net::ERR_(?:CONNECTION_(?:REFUSED|RESET|TIMED_OUT|CLOSED)|NAME_NOT_RESOLVED|INTERNET_DISCONNECTED|ADDRESS_UNREACHABLE|NETWORK_CHANGED|CERT_\w+|SSL_\w+|PROXY_\w+)|NS_ERROR_(?:CONNECTION_REFUSED|UNKNOWN_HOST|NET_\w+)|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT`), "The application could not be reached."},
	{regexp.MustCompile(`(?i)browser has been closed|browser closed|Target page, context or browser has been closed|page crashed|Target crashed|browserType\.launch|Executable doesn't exist|Protocol error \([^)]*\): (?:Target closed|Session closed)`), "The browser crashed, or could not be started."},
	{regexp.MustCompile(`(?i)ENOSPC|out of memory|heap limit|Cannot find module|worker process exited unexpectedly`), "The machine that ran the test had not what it needs."},
}

func ofEnvironment(c Case) (Judgement, bool) {
	for _, e := range environment {
		if found := e.words.FindString(c.Message); found != "" {
			return Judgement{Class: Environment, Confidence: 0.95, Why: e.why, Evidence: []string{"The error says " + quoted(found) + "."}}, true
		}
	}
	if c.Step < 0 || len(c.Passing) == 0 {
		return Judgement{}, false
	}
	now := &c.Failed.Steps[c.Step]
	if strings.HasPrefix(now.URL, "chrome-error:") || strings.HasPrefix(now.URL, "about:neterror") {
		return Judgement{Class: Environment, Confidence: 0.9, Why: "The application could not be reached.", Evidence: []string{"The browser shows its own page of errors."}}, true
	}
	for i := max(0, c.Step-1); i <= c.Step; i++ {
		for _, x := range c.Failed.Steps[i].Effect.Calls {
			if x.Unreached && answered(c.Passing, x) {
				return Judgement{Class: Environment, Confidence: 0.85, Why: "The application could not be reached.", Evidence: []string{fmt.Sprintf("%s %s found nobody to answer it; it went well when the test passed.", x.Method, x.Path)}}, true
			}
		}
	}
	at := now.URL
	if signIn.MatchString(pathOf(at)) && !slices.ContainsFunc(c.Passing, func(t evidence.Test) bool {
		return slices.ContainsFunc(t.Steps, func(s evidence.Step) bool { return pathOf(s.URL) == pathOf(at) })
	}) {
		return Judgement{Class: Environment, Confidence: 0.8, Why: "The test was sent to a sign-in page that it never saw when it passed.", Evidence: []string{"It failed at " + pathOf(at) + "."}}, true
	}
	if asksPassword(now.Page) && !slices.ContainsFunc(c.Passing, func(t evidence.Test) bool {
		return slices.ContainsFunc(t.Steps, func(s evidence.Step) bool { return asksPassword(s.Page) })
	}) {
		return Judgement{Class: Environment, Confidence: 0.8, Why: "The page asks for a password, which it never did when the test passed: the test is not signed in.", Evidence: []string{"There is a field for a password at " + pathOf(at) + "."}}, true
	}
	return Judgement{}, false
}

// answered reports whether a call went well when the test passed.
func answered(passing []evidence.Test, x evidence.Call) bool {
	return slices.ContainsFunc(passing, func(t evidence.Test) bool {
		return slices.ContainsFunc(t.Steps, func(s evidence.Step) bool {
			return slices.ContainsFunc(s.Effect.Calls, func(o evidence.Call) bool {
				return o.Method == x.Method && o.Path == x.Path && o.Status > 0 && o.Status < 400
			})
		})
	})
}

// asksPassword reports whether a page shows a field for a password.
func asksPassword(page []relocate.Element) bool {
	return slices.ContainsFunc(page, func(e relocate.Element) bool { return e.Tag == "input" && e.Type == "password" && !e.Hidden })
}

var signIn = regexp.MustCompile(`(?i)/(?:log-?in|sign-?in|auth(?:orize|enticate)?|sso|oauth2?)(?:/|$|\.)`)

func pathOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	return u.Path
}

// ofApplication looks for signs that the application is at fault: requests that fail now,
// errors that nothing caught, an element that was switched off.
func ofApplication(c Case) (Judgement, bool) {
	bugOf := func(p float64, why string, seen ...string) (Judgement, bool) {
		return Judgement{Class: ApplicationBug, Confidence: p, Why: why, Evidence: seen}, true
	}
	if c.Step >= 0 && len(c.Passing) > 0 {
		caught := 0
		for _, t := range c.Passing {
			n := 0
			for i := range t.Steps {
				n += t.Steps[i].Effect.Uncaught
			}
			caught = max(caught, n)
		}
		var failing []string
		uncaught := 0
		for i := range c.Failed.Steps[:c.Step+1] {
			e := c.Failed.Steps[i].Effect
			uncaught += e.Uncaught
			for _, x := range e.Calls {
				if x.Status < 400 {
					continue
				}
				known := answered(c.Passing, x)
				arrived := x.Method == "GET" && x.Path == e.Navigated
				if x.Status >= 500 || x.Status != 401 && (known || arrived) {
					text := fmt.Sprintf("%s %s answered %d", x.Method, x.Path, x.Status)
					if known {
						text += "; it went well when the test passed"
					}
					if !slices.Contains(failing, text+".") {
						failing = append(failing, text+".")
					}
				}
			}
		}
		if len(failing) > 0 {
			return bugOf(0.95, "A request of the application fails.", failing[:min(5, len(failing))]...)
		}
		if uncaught > caught {
			return bugOf(0.85, "The page threw an error that nothing caught.", fmt.Sprintf("%d errors that nothing caught; %d at most when the test passed.", uncaught, caught))
		}
		if j, ok := noEffect(c); ok {
			return j, true
		}
	}
	switch m := c.Message; {
	case strings.Contains(m, "element is not enabled") || disabled.MatchString(m):
		return bugOf(0.9, "The element is there and disabled.", "Playwright found it, and waited in vain for it to be enabled.")
	case strings.Contains(m, "element is not editable") || strings.Contains(m, "element is read-only"):
		return bugOf(0.85, "The field is there and cannot be edited.", "Playwright found it, and waited in vain for it to be editable.")
	case strings.Contains(m, "element is not visible") && strings.Contains(m, "resolved to"):
		return bugOf(0.75, "The element is there and hidden.", "Playwright found it, and waited in vain for it to be seen.")
	}
	return Judgement{}, false
}

var disabled = regexp.MustCompile(`(?i)Received:? *"?disabled|unexpected value "disabled"`)

// noEffect looks for an earlier step that does not bring about any more what it did.
func noEffect(c Case) (Judgement, bool) {
	for i := range c.Failed.Steps[:c.Step] {
		now := &c.Failed.Steps[i]
		was, ok := Counterpart(c.Failed, i, c.Passing)
		if !ok || now.Assertion() || now.Error != "" {
			continue
		}
		// What came of the step before the one that fails was still to come, perhaps.
		if was.Effect.Navigated != "" && now.Effect.Navigated == "" && pathOf(c.Failed.Steps[c.Step].URL) == pathOf(now.URL) {
			return Judgement{Class: ApplicationBug, Confidence: 0.8, Why: "A step before has no effect any more.",
				Evidence: []string{fmt.Sprintf("%s on %s went to %s when the test passed, and goes nowhere now.", now.Method, quoted(now.Locator), was.Effect.Navigated)}}, true
		}
		// Its requests may have been sent while a later step was under way.
		if lost := was.Effect.Lost(together(c.Failed.Steps[i : c.Step+1])); lost != "" {
			return Judgement{Class: ApplicationBug, Confidence: 0.8, Why: "A step before has no effect any more.",
				Evidence: []string{fmt.Sprintf("%s on %s sent %s when the test passed, and does not now.", now.Method, quoted(now.Locator), lost)}}, true
		}
	}
	return unmoved(c)
}

// unmoved looks whether the last act before the step that fails left the page as it was, of which
// something changed each time the test passed.
func unmoved(c Case) (Judgement, bool) {
	at := c.Step - 1
	for at >= 0 && c.Failed.Steps[at].Assertion() {
		at--
	}
	if at < 0 || c.Failed.Steps[at].Error != "" || !samePage(c.Failed.Steps[at].Page, c.Failed.Steps[c.Step].Page) {
		return Judgement{}, false
	}
	moved, act := 0, &c.Failed.Steps[at]
	like := func(s *evidence.Step) bool {
		return s.Method == act.Method && s.Locator == act.Locator && s.At().File == act.At().File && s.At().Function == act.At().Function
	}
	turn := turnsOf(c.Failed.Steps[:at], like)
	for _, t := range c.Passing {
		i := turnAt(t.Steps, turn, like)
		if i < 0 || t.Steps[i].Error != "" || i+1 >= len(t.Steps) {
			continue
		}
		if samePage(t.Steps[i].Page, t.Steps[min(i+c.Step-at, len(t.Steps)-1)].Page) {
			return Judgement{}, false
		}
		moved++
	}
	if moved == 0 {
		return Judgement{}, false
	}
	return Judgement{Class: ApplicationBug, Confidence: 0.75, Why: "A step before has no effect any more.",
		Evidence: []string{fmt.Sprintf("%s on %s changed the page when the test passed, and nothing of the page changes now.", act.Method, quoted(act.Locator))}}, true
}

// samePage reports whether nothing that is known of two pages differs; false for none.
func samePage(a, b []relocate.Element) bool {
	return len(a) > 0 && slices.EqualFunc(a, b, func(x, y relocate.Element) bool {
		return x.Path == y.Path && x.Tag == y.Tag && x.Role == y.Role && x.Name == y.Name && x.Text == y.Text && x.Class == y.Class && x.Href == y.Href &&
			x.Hidden == y.Hidden && x.Disabled == y.Disabled && maps.Equal(x.Attributes, y.Attributes)
	})
}

// together answers what several steps brought about.
func together(steps []evidence.Step) (e evidence.Effect) {
	for i := range steps {
		e.Calls = append(e.Calls, steps[i].Effect.Calls...)
	}
	return e
}

func ofBefore(c Case) (Judgement, bool) {
	if c.Before == "" {
		return Judgement{}, false
	}
	return Judgement{Class: PreExisting, Confidence: 0.9, Why: "It fails the same on the default branch, so it is healed there and not on this branch.", Evidence: []string{c.Before}}, true
}

var covering = regexp.MustCompile(`(?s)(<[^\n]{1,200}>[^\n]{0,80}?) intercepts pointer events`)

func ofOverlay(c Case) (Judgement, bool) {
	m := covering.FindStringSubmatch(c.Message)
	if m == nil {
		return Judgement{}, false
	}
	return Judgement{Class: Overlay, Confidence: 0.9, Why: "Something covers the element, so that it cannot be clicked.", Evidence: []string{"It is covered by " + quoted(strings.TrimSpace(m[1])) + "."}}, true
}

var (
	expected = regexp.MustCompile(`(?m)^\s*Expected(?: string| substring| pattern| value)?: *(.*)$`)
	received = regexp.MustCompile(`(?m)^\s*Received(?: string| value)?: *(.*)$`)
	figures  = regexp.MustCompile(`\d+(?:[.,:/-]\d+)*`)
	words    = regexp.MustCompile(`[\p{L}]{2,}`)
)

// alikeWords is the share of words from which on a text was put in other words.
const alikeWords = 0.5

// notFound are what Playwright says where a check found no element to look at.
var notFound = regexp.MustCompile(`(?i)element\(s\) not found|Received: *<element|Received: *undefined`)

// ofExpectation looks at a check whose element is there and does not show what was expected.
func ofExpectation(c Case) (Judgement, bool) {
	e, r := expected.FindStringSubmatch(c.Message), received.FindStringSubmatch(c.Message)
	if e == nil || r == nil || notFound.MatchString(c.Message) || strings.Contains(c.Message, "strict mode violation") {
		return Judgement{}, false
	}
	want, got := strings.TrimSpace(e[1]), strings.TrimSpace(r[1])
	seen := []string{fmt.Sprintf("Expected %s, received %s.", quoted(want), quoted(got))}
	share := common(want, got)
	return ofWords(want, got, share >= alikeWords && share < 1, seen), true
}

// ofWords answers what it means that a check asks for one text and another one is there; alike says
// that it is the first one in other words.
func ofWords(want, got string, alike bool, seen []string) Judgement {
	switch {
	case !slices.Equal(figures.FindAllString(want, -1), figures.FindAllString(got, -1)):
		return Judgement{Class: ApplicationBug, Confidence: 0.9, Why: "A number, date, price or count is another one than was expected.", Evidence: seen}
	case alike:
		return Judgement{Class: Wording, Confidence: 0.7, Why: "The text was put in other words. Whether it still says the same is for a person to judge: no assertion is changed.", Evidence: seen}
	}
	return Judgement{Class: ApplicationBug, Confidence: 0.8, Why: "The application shows something else than was expected.", Evidence: seen}
}

// common answers the share of words that two texts have in common.
func common(a, b string) float64 {
	x, y := words.FindAllString(strings.ToLower(a), -1), words.FindAllString(strings.ToLower(b), -1)
	if len(x) == 0 || len(y) == 0 {
		return 0
	}
	n := 0
	for _, w := range x {
		if slices.Contains(y, w) {
			n++
		}
	}
	return float64(n) / float64(max(len(x), len(y)))
}

// ofLocator looks at a step whose locator did not find its element.
func ofLocator(model *relocate.Model, c Case) Judgement {
	if c.Step < 0 {
		return Judgement{Class: Unknown, Why: "There is no trace that shows at which step it failed."}
	}
	if len(c.Passing) == 0 {
		return Judgement{Class: Unknown, Why: "No passing run of this test was recorded, so nothing is known of how it was.",
			Evidence: []string{"Passing runs of the default branch are recorded: the next failure after one of them can be healed."}}
	}
	f := &c.Failed.Steps[c.Step]
	was, known := Counterpart(c.Failed, c.Step, c.Passing)
	if known && was.URL != "" && f.URL != "" && placeOf(was.URL) != placeOf(f.URL) {
		return Judgement{Class: Flow, Confidence: 0.7, Why: "Another page comes than when the test passed.", Evidence: []string{fmt.Sprintf("It was at %s, and is at %s now.", pathOf(was.URL), pathOf(f.URL))}}
	}
	ambiguous := strings.Contains(c.Message, "strict mode violation")
	p := Propose(model, c.Failed, c.Step, c.Passing)
	j := Judgement{Class: Drift, Why: p.Why, Confidence: p.Answer.P, Proposal: &p}
	if ambiguous {
		j.Class = Ambiguity
	}
	for _, x := range p.Answer.Candidates[:min(1, len(p.Answer.Candidates))] {
		j.Evidence = append(j.Evidence, x.Why...)
	}
	if broken, is := p.atFault(j); is {
		return broken
	}
	switch {
	case p.Outcome != relocate.Report:
		j.Evidence = append([]string{fmt.Sprintf("%s finds it: %s, with probability %.3f.", quoted(p.After), labelOf(p.Answer.Candidates[0].Element), p.Answer.P)}, j.Evidence...)
		return j
	case ambiguous:
		return Judgement{Class: Ambiguity, Confidence: 0.8, Why: "The locator finds several elements, and it cannot be told surely which one is meant. " + p.Why, Proposal: &p}
	case p.Part >= 0 && len(p.Answer.Candidates) > 0 && p.Answer.P < gone:
		return Judgement{Class: ApplicationBug, Confidence: 1 - p.Answer.P, Why: "The element is gone.", Evidence: []string{p.Why, fmt.Sprintf("%s found %s when the test passed.", quoted(p.Before), labelOf(p.Was.Target))}, Proposal: &p}
	case p.Part >= 0 && len(p.Answer.Candidates) > 0:
		return Judgement{Class: Unknown, Confidence: 0.5, Why: "Whether the element is gone or has another name cannot be told. " + p.Why, Proposal: &p}
	case known && p.Part < 0 && !strings.Contains(c.Message, "resolved to") && unseen.MatchString(c.Message):
		return Judgement{Class: ApplicationBug, Confidence: 0.6, Why: "The element is on the page, and cannot be seen there.",
			Evidence: []string{"The page holds what " + quoted(f.Locator) + " finds, and Playwright, which leaves out what is hidden, found nothing."}}
	case known && p.Part < 0 && strings.Contains(c.Message, "Timeout"):
		return Judgement{Class: Timing, Confidence: 0.5, Why: "The locator finds its element, and the step was not done in time.", Evidence: []string{p.Why}}
	}
	return Judgement{Class: Unknown, Why: cmp.Or(p.Why, "Nothing tells why it fails.")}
}

// unseen are errors of steps by role, by which only what can be seen is found.
var unseen = regexp.MustCompile(`waiting for [^\n]*getByRole\([^\n]*|getByRole\([^\n]*\n(?s:.*)element\(s\) not found`)

// atFault answers whether what was found of a locator's element says that the application is to
// blame, or that its words were put differently: the judgement is what is known so far.
func (p *Proposal) atFault(j Judgement) (Judgement, bool) {
	if p.Outcome == relocate.Report || len(p.Answer.Candidates) == 0 {
		return j, false
	}
	only := *p // what is known of it is shown, and nothing is proposed
	only.Outcome = relocate.Report
	best := &p.Answer.Candidates[0]
	if best.Unusable != "" {
		return Judgement{Class: ApplicationBug, Confidence: p.Answer.P, Why: "The element is there, and nobody can use it: " + best.Unusable + ".",
			Evidence: append([]string{fmt.Sprintf("It is %s, with probability %.3f.", labelOf(best.Element), p.Answer.P)}, j.Evidence...), Proposal: &only}, true
	}
	parts := Parts(p.Step.Locator)
	says := parts[naming(parts, len(parts)-1)].words()
	if !p.Words || !p.Step.Assertion() || says == "" {
		return j, false
	}
	shows := cmp.Or(best.Element.Name, best.Element.Text)
	seen := append([]string{fmt.Sprintf("The check asks for %s, and %s is there.", quoted(says), quoted(shows))}, j.Evidence...)
	out := ofWords(says, shows, common(says, shows) >= alikeWords, seen)
	if out.Proposal = &only; out.Class == Wording {
		out.Why, out.Proposal = p.Why, p
	}
	return out, true
}

// gone is the probability of the best candidate below which an element is taken for removed.
const gone = 0.1

// placeOf answers host and path without what differs from one run to the next.
func placeOf(raw string) string {
	t, ok := evidence.Template(raw)
	if !ok {
		return raw
	}
	t, _, _ = strings.Cut(t, "?")
	return t
}

func labelOf(e *relocate.Element) string {
	if e == nil {
		return "an element"
	}
	name := cmp.Or(e.Name, e.Text, e.Hint, e.Title, e.Alt, e.TestID, e.ID)
	if name == "" {
		return cmp.Or(e.Role, e.Tag) + " without a name"
	}
	return strings.TrimSpace(cmp.Or(e.Role, e.Tag) + " " + quoted(clip(name, 60)))
}

func quoted(s string) string { return "“" + clip(strings.TrimSpace(s), maxShown) + "”" }

// rivalOf answers a locator of a candidate, "" for none.
func rivalOf(e *relocate.Element, page []relocate.Element) string {
	if all := locator.For(e, page, ""); len(all) > 0 {
		return all[0].Code
	}
	return ""
}
