package bug

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Failure is one failed test, as far as telling bugs apart needs to know it.
type Failure struct {
	Message string // Playwright's own words, with its call log
	Stack   string
	Snippet string // the lines around the place, the failing one marked with ">"
	File    string // that Location names, else the test's own
	Title   string // of the test
}

// Signature is what failures of one bug have in common. What differs from one time to the
// next is left out: numbers, IDs, times, quoted values, the length of a timeout, where in
// a file a line stands.
type Signature struct {
	Kind    string // what sort of failure: network, strict, expect, timeout, crash, snapshot, script, error
	What    string // the matcher, the action or the error's name
	Subject string // the locator, the host, the snapshot: what it happened to
	Detail  string // what was wrong with it
	Place   string // where in the tests, or which page; "" where the subject says enough
}

// Key is short and equal for equal signatures.
func (s Signature) Key() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{s.Kind, s.What, s.Subject, s.Detail, s.Place}, "\x00")))
	return s.Kind + "-" + hex.EncodeToString(sum[:8])
}

// String tells a signature to people.
func (s Signature) String() string {
	var parts []string
	for _, p := range []string{s.What, s.Subject, s.Detail, s.Place} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, " · ")
}

// SignatureOf answers the signature of a failure. It reads the texts of Playwright 1.50 to
// 1.65; what it does not know it compares by its words and its place.
func SignatureOf(f Failure) Signature {
	message := plain(f.Message)
	head, log, _ := strings.Cut(message, "Call log:")
	head = strings.TrimSpace(head)
	for _, read := range []func(head, log string, f Failure) (Signature, bool){network, strict, crash, snapshot, expectation, timedOut, script} {
		if s, ok := read(head, log, f); ok {
			return s
		}
	}
	return Signature{Kind: "error", What: words(firstLine(head)), Place: place(f)}
}

var ansi = regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]`)

func plain(s string) string {
	return strings.ReplaceAll(ansi.ReplaceAllString(s, ""), "\r\n", "\n")
}

var (
	netError = regexp.MustCompile(`net::(ERR_[A-Z0-9_]+)|(NS_ERROR_[A-Z_]+)|\b(ECONNREFUSED|ECONNRESET|ENOTFOUND|ETIMEDOUT|EAI_AGAIN|EPIPE|EHOSTUNREACH)\b|(socket hang up)|(Could not connect to (?:the )?server)`)
	address  = regexp.MustCompile(`\b(?:https?|wss?)://[^\s"'<>)\\]+`)
	hostPort = regexp.MustCompile(`\b(?:\d{1,3}(?:\.\d{1,3}){3}|[a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)+|localhost|::1):\d+\b`)
	answers  = regexp.MustCompile(`ABORTED|HTTP_RESPONSE|EMPTY_RESPONSE|INVALID_URL|FILE_|TOO_MANY_REDIRECTS|UNKNOWN_URL_SCHEME|BLOCKED`)
)

// network is a server that cannot be reached: the same whatever page was asked for. Where
// it answered, and wrongly, the page counts.
func network(head, _ string, _ Failure) (Signature, bool) {
	m := netError.FindStringSubmatch(head)
	if m == nil {
		return Signature{}, false
	}
	code := cmp.Or(m[1], m[2], m[3], m[4], m[5])
	s := Signature{Kind: "network", What: code, Subject: hostOf(head)}
	switch {
	case code == "ERR_TOO_MANY_REDIRECTS": // as a rule it is the sign-in that goes round, whatever was asked for
		s.Subject = ""
	case answers.MatchString(code):
		s.Subject, s.Place = "", routeIn(head)
	}
	return s, true
}

// hostOf answers the server that a text names first: the first part of its host's name, or
// an address with its port, unless that is one of those that systems draw (RFC 6056: from
// 32768 on Linux, 49152 by IANA).
func hostOf(text string) string {
	at := hostPort.FindString(text)
	if u := address.FindString(text); u != "" {
		_, rest, _ := strings.Cut(u, "://")
		at, _, _ = strings.Cut(rest, "/")
		at, _, _ = strings.Cut(at, "?")
	}
	host, port, found := strings.Cut(at, ":")
	if first, rest, ok := strings.Cut(host, "."); ok && strings.ContainsFunc(rest, unicode.IsLetter) {
		// The service's own name: what follows is the environment, one for each branch maybe.
		return strings.ToLower(strings.TrimRight(first, "0123456789-"))
	}
	if n, err := strconv.Atoi(port); err == nil && n >= drawnPorts {
		found = false
	}
	if host == "127.0.0.1" || host == "[" {
		host = "localhost"
	}
	if host = strings.ToLower(host); found {
		return host + ":" + port
	}
	return host
}

const drawnPorts = 32768

// routeIn answers the path of the first address in a text, without what differs.
func routeIn(text string) string {
	u := address.FindString(text)
	if u == "" {
		return ""
	}
	_, rest, _ := strings.Cut(u, "://")
	_, p, found := strings.Cut(rest, "/")
	if !found {
		return "/"
	}
	p, _, _ = strings.Cut(p, "?")
	p, _, _ = strings.Cut(p, "#")
	return Route("/" + strings.TrimRight(p, ".,;"))
}

var idSegment = regexp.MustCompile(`^(?:\d+|[0-9a-fA-F]{6,}|[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}|.*\d.*\d.*\d.*)$`)

// Route is a path with its IDs replaced: /orders/4711 and /orders/4712 are one route.
func Route(p string) string {
	parts := strings.Split(path.Clean(p), "/")
	for i, s := range parts {
		if idSegment.MatchString(s) {
			parts[i] = ":id"
		}
	}
	return strings.Join(parts, "/")
}

var strictViolation = regexp.MustCompile(`strict mode violation: (.+?) resolved to \d+ elements`)

// strict is a locator that fits several elements.
func strict(head, _ string, f Failure) (Signature, bool) {
	m := strictViolation.FindStringSubmatch(head)
	if m == nil {
		return Signature{}, false
	}
	return about(Signature{Kind: "strict", What: "strict mode violation"}, m[1], f), true
}

var crashed = regexp.MustCompile(`(?i)\b(page crashed|target crashed|browser (?:has been )?(?:closed|disconnected)|worker process exited unexpectedly|browser not available)\b`)

// crash is a browser that went away by itself. A page that a test closed and then used is a
// failure of that place.
func crash(head, _ string, f Failure) (Signature, bool) {
	if strings.Contains(head, "Target page, context or browser has been closed") {
		return Signature{Kind: "crash", What: "target closed", Detail: call(head), Place: place(f)}, true
	}
	m := crashed.FindString(head)
	if m == "" {
		return Signature{}, false
	}
	return Signature{Kind: "crash", What: strings.ToLower(m)}, true
}

var snapshotName = regexp.MustCompile(`(?m)(?:Snapshot:|Expected:|snapshot (?:doesn't exist at|at)) *(\S+\.(?:png|jpe?g|txt|yml|aria\.yml))`)

// snapshot is a picture, or a tree of roles, that is not the kept one.
func snapshot(head, log string, f Failure) (Signature, bool) {
	m := matcher.FindStringSubmatch(head)
	isPicture := m != nil && (m[3] == "toHaveScreenshot" || m[3] == "toMatchSnapshot" || m[3] == "toMatchAriaSnapshot")
	if !isPicture {
		return Signature{}, false
	}
	s := Signature{Kind: "snapshot", What: m[3]}
	if n := snapshotName.FindStringSubmatch(head); n != nil {
		s.Subject = snapshotNumber.ReplaceAllString(path.Base(strings.ReplaceAll(n[1], `\`, "/")), "$1")
	}
	if s.Subject == "" {
		return about(s, locatorIn(head, log), f), true
	}
	return s, true
}

var snapshotNumber = regexp.MustCompile(`(?:-(?:expected|actual|diff|linux|darwin|win32|chromium|firefox|webkit))*(\.[a-z]+)$`)

var (
	matcher       = regexp.MustCompile(`expect(?:\.soft)?\(([^()]*)\)\.(not\.)?(?:resolves\.|rejects\.)?(to[A-Z][A-Za-z]*)`)
	locatorLine   = regexp.MustCompile(`(?m)^\s*Locator: *(.+)$`)
	waitingFor    = regexp.MustCompile(`(?m)^\s*-? *(?:\d+ × )?waiting for (.+)$`)
	receivedLine  = regexp.MustCompile(`(?m)^\s*(?:Received(?: string| value| array| object| path)?|Actual): *(.*)$`)
	notFound      = regexp.MustCompile(`element\(s\) not found|Received: *<element\(s\) not found>`)
	pollTimedOut  = regexp.MustCompile(`Timeout \d+ms exceeded while waiting on the predicate`)
	afterWaiting  = regexp.MustCompile(` (?:to be|to have|first|until|failed|\().*$`)
	navigationFor = regexp.MustCompile(`^(?:navigation|"load"|event |scheduled)`)
)

// expectation is an assertion that did not hold.
func expectation(head, log string, f Failure) (Signature, bool) {
	m := matcher.FindStringSubmatch(head)
	if m == nil {
		return Signature{}, false
	}
	s := Signature{Kind: "expect", What: m[2] + m[3]}
	locator := locatorIn(head, log)
	switch {
	case locator != "":
		s.Detail = stateOf(head, log)
		return about(s, locator, f), true
	case m[1] == "page" || m[3] == "toHaveURL" || m[3] == "toHaveTitle":
		// Where the page went instead tells more than where the test stands.
		s.Subject, s.Detail = "page", received(head)
		s.Place = place(f)
		return s, true
	}
	if pollTimedOut.MatchString(head) {
		s.Detail = "predicate"
	}
	s.Subject, s.Place = sourceLine(f.Snippet), place(f)
	switch keys := differing(head); {
	case keys != "":
		s.Subject = keys
	case s.Subject == "":
		s.Detail = words(afterTitle(head))
	}
	return s, true
}

var diffLine = regexp.MustCompile(`(?m)^[-+] +"?([\pL_$][\pL\pN_$-]*)"?: `)

// differing answers the properties in which two objects differ, of Playwright's diff.
func differing(head string) string {
	var keys []string
	for _, m := range diffLine.FindAllStringSubmatch(head, -1) {
		if !slices.Contains(keys, m[1]) {
			keys = append(keys, m[1])
		}
	}
	slices.Sort(keys)
	return strings.Join(keys, ", ")
}

// stateOf tells what an assertion found instead: nothing, or something else.
func stateOf(head, log string) string {
	switch {
	case notFound.MatchString(head) || log != "" && !strings.Contains(log, "locator resolved to"):
		return "not found"
	default:
		return "differs"
	}
}

// received is what a page was instead, by its route or its words.
func received(head string) string {
	m := receivedLine.FindStringSubmatch(head)
	if m == nil {
		return ""
	}
	if r := routeIn(m[1]); r != "" {
		return r
	}
	return words(strings.Trim(m[1], `"' `))
}

// locatorIn answers the locator that a message is about, or "".
func locatorIn(head, log string) string {
	if m := locatorLine.FindStringSubmatch(head); m != nil && m[1] != ":root" {
		return m[1]
	}
	for _, m := range waitingFor.FindAllStringSubmatch(log, -1) {
		if navigationFor.MatchString(m[1]) {
			continue
		}
		return afterWaiting.ReplaceAllString(m[1], "")
	}
	return ""
}

var (
	apiCall    = regexp.MustCompile(`\b((?:locator|page|frame|frameLocator|elementHandle|apiRequestContext|browserContext|browser|browserType|keyboard|mouse|jsHandle|download|response|request)\.[a-zA-Z]+):`)
	exceeded   = regexp.MustCompile(`(?i)timeout (?:of )?\d+ms exceeded|Timed out \d+ms`)
	intercepts = regexp.MustCompile(`(?:from )?(<[a-zA-Z][^>]*>)[^\n<]*(?:</[a-zA-Z0-9-]+>)? (?:subtree )?intercepts pointer events`)
	waitedFor  = regexp.MustCompile(`(?m)^\s*-? *waiting for (?:response|request|navigation to|event) (.*\S)`)
	awaitEvent = regexp.MustCompile(`(?i)while waiting for event "([^"]+)"`)
	tagName    = regexp.MustCompile(`^<([a-zA-Z][a-zA-Z0-9-]*)`)
	nameOfTag  = regexp.MustCompile(`\b(data-testid|id|class|role|aria-label)="([^"]*)"`)
)

// call answers the method that failed: "locator.click".
func call(head string) string {
	if m := apiCall.FindStringSubmatch(head); m != nil {
		return m[1]
	}
	return ""
}

// timedOut is an action that waited in vain, or a test that did.
func timedOut(head, log string, f Failure) (Signature, bool) {
	if !exceeded.MatchString(head) {
		return Signature{}, false
	}
	s := Signature{Kind: "timeout", What: call(head)}
	if m := awaitEvent.FindStringSubmatch(head + log); m != nil {
		s.Detail = "event " + m[1]
		if w := waitedFor.FindStringSubmatch(head + "\n" + log); w != nil {
			s.Subject = identifiers(w[1])
		} else {
			s.Place = place(f)
		}
		return s, true
	}
	if m := intercepts.FindStringSubmatch(log); m != nil {
		// Whatever was to be clicked, what lies over it is in the way.
		return Signature{Kind: "timeout", What: covered, Subject: tag(m[1])}, true
	}
	if locator := locatorIn(head, log); locator != "" {
		s.Detail = hindrance(log)
		return about(s, locator, f), true
	}
	if route := routeIn(head + log); route != "" {
		s.Subject = route
		return s, true
	}
	s.Subject, s.Place = sourceLine(f.Snippet), place(f)
	if s.What == "" && s.Subject == "" {
		// Nothing but the time is known: two tests that are slow are two.
		s.Detail = words(f.Title)
	}
	return s, true
}

// hindrance tells why an action could not be done, by its call log.
func hindrance(log string) string {
	for _, state := range []string{"not visible", "not enabled", "not stable", "not editable", "outside of the viewport", "was detached"} {
		if strings.Contains(log, "element is "+state) || strings.Contains(log, "element "+state) {
			return state
		}
	}
	if !strings.Contains(log, "locator resolved to") {
		return "not found"
	}
	return ""
}

// covered is what happens to an element that another one lies over.
const covered = "covered"

// tag names an element by the attribute that tells most.
func tag(opening string) string {
	name := tagName.FindStringSubmatch(opening)[1]
	best, rank := "", len(attributes)
	for _, m := range nameOfTag.FindAllStringSubmatch(opening, -1) {
		if r := slices.Index(attributes, m[1]); r < rank {
			best, rank = m[1]+"="+words(m[2]), r
		}
	}
	return strings.TrimSpace(name + " " + best)
}

// attributes by how much they tell of an element.
var attributes = []string{"data-testid", "id", "role", "aria-label", "class"}

var scriptError = regexp.MustCompile(`(?m)^(?:Error: )?(?:[a-zA-Z]+\.[a-zA-Z]+: )?((?:Type|Reference|Syntax|Range|URI|Eval)Error): (.+)$`)

// script is a program's own error: in the tests, or in a page that they evaluate in.
func script(head, _ string, f Failure) (Signature, bool) {
	m := scriptError.FindStringSubmatch(head)
	if m == nil {
		return Signature{}, false
	}
	return Signature{Kind: "script", What: m[1], Detail: identifiers(m[2]), Place: place(f)}, true
}

// about makes a locator the subject. One that could stand for anything needs its place too.
func about(s Signature, locator string, f Failure) Signature {
	s.Subject = locatorWords(locator)
	if !specific.MatchString(locator) {
		s.Place = place(f)
	}
	return s
}

// specific are locators that mean one thing in an application: they hold a name that its
// developers gave, and not only kinds of elements.
var specific = regexp.MustCompile(`getByTestId\(|getBy(?:Label|Placeholder|AltText|Title|Text)\(|name: |hasText: |['" >+~,][a-z0-9]*[.#][A-Za-z]|data-[a-z-]+=|\[name=|\[id=|\[class|@(?:id|class|name)\b|text=|aria-label`)

func firstLine(s string) string {
	for line := range strings.Lines(s) {
		if t := strings.TrimSpace(line); t != "" && !testTimeout.MatchString(t) {
			return t
		}
	}
	return strings.TrimSpace(s)
}

var testTimeout = regexp.MustCompile(`^Test timeout of \d+ms exceeded\.?$`)

func afterTitle(head string) string {
	_, rest, _ := strings.Cut(head, "\n")
	return strings.TrimSpace(rest)
}
