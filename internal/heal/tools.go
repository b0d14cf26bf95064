package heal

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"tas-service/internal/agent"
	"tas-service/internal/attempt"
	"tas-service/internal/checkout"
	"tas-service/internal/fault"
	"tas-service/internal/llm"
	"tas-service/internal/run"
)

// Names of the tools.
const (
	toolList   = "list_files"
	toolRead   = "read_file"
	toolSearch = "search"
	toolEdit   = "edit_file"
	toolLook   = "look_at_page"
	toolRun    = "run_tests"
	toolFinish = "finish"
	toolGiveUp = "give_up"
)

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// tools are what a model may call; their arguments are read as strictly as they are described.
var tools = []llm.Tool{
	{Name: toolList, Description: "Lists the files of the tests' package, or of a folder of it.", Schema: object(`"directory":{"type":"string","description":"such as tests/pages; leave it out for all"}`)},
	{Name: toolRead, Description: "Reads lines of a file of the tests' package, with your edits so far. Each line is shown behind its number and a tab.",
		Schema: object(`"path":{"type":"string"},"from_line":{"type":"integer","minimum":1},"lines":{"type":"integer","minimum":1,"maximum":400}`, "path")},
	{Name: toolSearch, Description: "Finds the lines of the tests' package in which a text stands exactly so. Your edits are not seen.", Schema: object(`"text":{"type":"string","description":"one line, no pattern"},"directory":{"type":"string"}`, "text")},
	{Name: toolEdit, Description: "Replaces one piece of text of a source file of the tests. The old text must stand there exactly once, as it is written, without line numbers. No file is made or removed, no configuration changed.",
		Schema: object(`"path":{"type":"string"},"old":{"type":"string"},"new":{"type":"string"}`, "path", "old", "new")},
	{Name: toolLook, Description: "Shows the page at a step of the newest execution of a failing test, as an outline of its elements, with the steps that were reached.",
		Schema: object(`"test":{"type":"integer","minimum":1,"description":"which of the failing tests; 1 where it is left out"},"step":{"type":"integer","minimum":1,"description":"which step; the one that failed, or the last, where it is left out"}`)},
	{Name: toolRun, Description: "Executes the failing tests with your edits, once, and says what came of each. The edits are checked against the rules first; where they break one, nothing is run.", Schema: object("")},
	{Name: toolFinish, Description: "Says that the repair is done. It is then proved: three executions, the same steps and assertions as before, other tests that share the change, and the application broken on purpose. Where the proof fails you are told.",
		Schema: object(`"summary":{"type":"string","description":"two or three plain sentences for the reviewer: what changed in the application, and why the repair means the same. No markup, no addresses."}`, "summary")},
	{Name: toolGiveUp, Description: "Ends the work without a repair: where the application is at fault, or no change within the rules helps.", Schema: object(`"reason":{"type":"string"}`, "reason")},
}

// object answers the schema of an object with these properties.
func object(properties string, required ...string) json.RawMessage {
	must := ""
	if len(required) > 0 {
		must = `"required":["` + strings.Join(required, `","`) + `"],`
	}
	return json.RawMessage(`{"type":"object","properties":{` + properties + `},` + must + `"additionalProperties":false}`)
}

// arguments are those of all tools together.
type arguments struct {
	Directory string `json:"directory"`
	Path      string `json:"path"`
	From      int    `json:"from_line"`
	Lines     int    `json:"lines"`
	Text      string `json:"text"`
	Old       string `json:"old"`
	New       string `json:"new"`
	Test      int    `json:"test"`
	Step      int    `json:"step"`
	Summary   string `json:"summary"`
	Reason    string `json:"reason"`
}

// Bounds of what the tools show and take.
const (
	filesShown    = 300
	linesShown    = 200
	mostLines     = 400
	foundShown    = 60
	foundLine     = 240     // bytes of a line that was found
	maxPiece      = 8 << 10 // bytes of a text that is replaced, or stands instead
	maxRewrites   = 40
	rewritesBytes = 64 << 10 // of all of them
)

func refusal(format string, args ...any) toolDone {
	return toolDone{Failed: true, Text: fmt.Sprintf(format, args...)}
}

// read takes the arguments of a call: no others than those of its tool, and all that it needs.
func (c toolCall) read() (a arguments, bad string) {
	if c.Bad != "" {
		return a, c.Bad
	}
	i := slices.IndexFunc(tools, func(t llm.Tool) bool { return t.Name == c.Name })
	if i < 0 {
		return a, "There is no such tool."
	}
	var schema struct {
		Properties map[string]json.RawMessage
		Required   []string
	}
	var given map[string]json.RawMessage
	if json.Unmarshal(tools[i].Schema, &schema) != nil || json.Unmarshal([]byte(c.Arguments), &given) != nil {
		return a, "The arguments are no JSON object: call it again with one."
	}
	for name, value := range given {
		if _, known := schema.Properties[name]; !known {
			return a, fmt.Sprintf("%s has no argument %s.", c.Name, quoted(name))
		}
		if string(value) == "null" {
			return a, fmt.Sprintf("The argument %s is null: leave it out.", name)
		}
	}
	for _, name := range schema.Required {
		if _, there := given[name]; !there {
			return a, fmt.Sprintf("%s needs the argument %s.", c.Name, name)
		}
	}
	if decode(c.Arguments, &a) != nil {
		return a, "An argument is of another type than the tool describes."
	}
	for _, n := range []struct {
		name  string
		value int
	}{{"from_line", a.From}, {"lines", a.Lines}, {"test", a.Test}, {"step", a.Step}} {
		if _, there := given[n.name]; there && n.value < 1 {
			return a, fmt.Sprintf("%s counts from 1.", n.name)
		}
	}
	return a, ""
}

// bench is what tools work with: the source at the run's commit, and what must not be told.
type bench struct {
	reads  checkout.Reads
	source checkout.Source
	dir    string // of the tests' package
	values []string
}

// benchOf answers it; fault.NotFound where nobody knows any more what must be hidden.
func (s *Service) benchOf(ctx context.Context, r run.Run) (b bench, err error) {
	if b.values, err = s.hiddenValues(ctx, r); err != nil {
		return b, err
	}
	p, err := s.Projects.Project(ctx, r.ProjectID)
	if err != nil {
		return b, err
	}
	token, err := s.Adviser.Sources.Token(ctx, p)
	if err != nil {
		return b, err
	}
	b.reads, b.dir = s.Adviser.Sources.Reads, path.Clean("/" + p.Repository.Dir)[1:]
	b.source = checkout.Source{Key: p.ID, URL: p.Repository.URL, Token: token, Branch: r.Branch, Commit: r.Commit}
	return b, nil
}

// hidden makes a text of several lines fit to be sent.
func (b bench) hidden(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r':
			return -1
		case unicode.IsControl(r):
			return ' '
		case unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r):
			return -1
		}
		return r
	}, hide(strings.ToValidUTF8(text, ""), b.values))
}

// secretive are names of files that hold secrets by convention, or belong to somebody else.
var secretive = regexp.MustCompile(`(?i)(?:^|/)(?:\.[^/]*|node_modules|id_(?:rsa|dsa|ecdsa|ed25519)[^/]*|[^/]*\.(?:pem|key|p12|pfx|jks|keystore|kdbx|env|netrc|npmrc)|[^/]*(?:storage-?state|credential|secret|password|auth-?state)[^/]*\.json|(?:auth|cookies|session|user|state)\.json)(?:/|$)`)

// place answers a path of the package from the root of the repository.
func (b bench) place(name string) (string, string) {
	clean := strings.TrimSuffix(strings.TrimPrefix(name, "./"), "/")
	switch {
	case clean == "" || clean == ".":
		return b.dir, ""
	case path.Clean(clean) != clean || path.IsAbs(clean) || clean == ".." || strings.HasPrefix(clean, "../") || strings.Contains(clean, "\\"):
		return "", "That is no path of the tests' package: write it from the package's folder, such as tests/cart.spec.ts."
	case secretive.MatchString(clean):
		return "", "That is not shown: it may hold secrets, or is not part of the tests."
	}
	return path.Join(b.dir, clean), ""
}

// text answers a file as it is with the rewrites so far.
func (b bench) text(ctx context.Context, rewrites []attempt.Rewrite, name string) (string, error) {
	text, err := b.reads.Text(ctx, b.source, path.Join(b.dir, name))
	if err != nil {
		return "", err
	}
	for _, w := range rewrites {
		if w.File == name {
			text = strings.Replace(text, w.Before, w.After, 1)
		}
	}
	return text, nil
}

// use does what a call wants. ready is false while it waits for a trial. Only errors of our own
// end the step; what is wrong with the call, or with what it is about, is told to the model.
func (s *Service) use(ctx context.Context, x *agent.Step, st *state, r run.Run, c toolCall) (done toolDone, ready bool, err error) {
	a, bad := c.read()
	if bad != "" {
		x.Note(agent.Trouble, "The model called %s: %s", quoted(c.Name), bad)
		return refusal("%s", bad), true, nil
	}
	b, err := s.benchOf(ctx, r)
	if f := fault.As(err); f != nil && fault.Permanent(err) {
		st.Work.Over = f.Public()
		return done, true, nil
	}
	if err != nil {
		return done, false, err
	}
	ready = true
	switch c.Name {
	case toolList:
		done, err = b.list(ctx, a)
	case toolRead:
		done, err = b.file(ctx, st.Work, a)
	case toolSearch:
		done, err = b.search(ctx, a)
	case toolEdit:
		done, err = b.edit(ctx, x, st.Work, a)
	case toolLook:
		done, err = s.lookAtPage(ctx, b, st, a)
	case toolRun:
		return s.runWritten(ctx, x, st, r, b)
	case toolFinish:
		return s.finish(ctx, x, st, r, a)
	case toolGiveUp:
		st.Work.Over = fmt.Sprintf("it gave up: “%s”", saidBy(a.Reason))
	}
	if f := fault.As(err); f != nil && (f.Kind == fault.Invalid || f.Kind == fault.NotFound) {
		done, err = refusal("%s", b.hidden(f.Public())), nil
	}
	if f := fault.As(err); f != nil && fault.Permanent(err) {
		st.Work.Over, err = f.Public(), nil
	}
	if done.Failed {
		x.Note(agent.Trouble, "%s was refused: %s", c.Name, clean(done.Text, maxShown))
	}
	return done, true, err
}

func (b bench) list(ctx context.Context, a arguments) (toolDone, error) {
	at, bad := b.place(a.Directory)
	if bad != "" {
		return refusal("%s", bad), nil
	}
	all, more, err := b.reads.Files(ctx, b.source, at)
	if err != nil {
		return toolDone{}, err
	}
	var out strings.Builder
	shown, left := 0, 0
	for _, f := range all {
		name := b.own(f.Path)
		switch {
		case secretive.MatchString(name):
		case shown == filesShown:
			left++
		default:
			shown++
			fmt.Fprintf(&out, "%s (%d bytes)\n", name, f.Size)
		}
	}
	if left > 0 || more {
		fmt.Fprintf(&out, "and %d more at least: list a folder\n", left)
	}
	return toolDone{Text: b.hidden(out.String())}, nil
}

// own answers a path of the repository from the package's folder.
func (b bench) own(name string) string {
	return strings.TrimPrefix(strings.TrimPrefix(name, b.dir), "/")
}

func (b bench) file(ctx context.Context, w *work, a arguments) (toolDone, error) {
	at, bad := b.place(a.Path)
	if bad != "" {
		return refusal("%s", bad), nil
	}
	text, err := b.text(ctx, w.Rewrites, b.own(at))
	if err != nil {
		return toolDone{}, err
	}
	lines := strings.Split(strings.TrimSuffix(b.hidden(text), "\n"), "\n")
	from := max(1, a.From)
	if from > len(lines) {
		return refusal("The file has %d lines.", len(lines)), nil
	}
	upTo := min(len(lines), from-1+min(mostLines, cmp.Or(a.Lines, linesShown)))
	var out strings.Builder
	for i := from - 1; i < upTo; i++ {
		if out.Len()+len(lines[i]) > maxResult-100 {
			upTo = i
			break
		}
		fmt.Fprintf(&out, "%d\t%s\n", i+1, lines[i])
	}
	if upTo < len(lines) {
		fmt.Fprintf(&out, "[lines %d to %d of %d]\n", from, upTo, len(lines))
	}
	return toolDone{Text: out.String()}, nil
}

func (b bench) search(ctx context.Context, a arguments) (toolDone, error) {
	at, bad := b.place(a.Directory)
	if bad != "" {
		return refusal("%s", bad), nil
	}
	if strings.Contains(a.Text, hidden) {
		return refusal("What is hidden cannot be searched for."), nil
	}
	all, more, err := b.reads.Search(ctx, b.source, at, a.Text)
	if err != nil {
		return toolDone{}, err
	}
	var out strings.Builder
	shown, left := 0, 0
	for _, f := range all {
		name, line := b.own(f.Path), b.hidden(f.Text)
		switch {
		case secretive.MatchString(name) || strings.HasSuffix(name, "package-lock.json"):
		case !strings.Contains(line, a.Text): // it stands in what is hidden: that must not be told letter by letter
		case shown == foundShown:
			left++
		default:
			shown++
			fmt.Fprintf(&out, "%s:%d: %s\n", name, f.Line, clip(strings.TrimSpace(line), foundLine))
		}
	}
	if left > 0 || more {
		fmt.Fprintf(&out, "and %d more at least: search in a folder, or for more of the line\n", left)
	}
	if shown == 0 {
		out.WriteString("It stands nowhere.\n")
	}
	return toolDone{Text: out.String()}, nil
}

// configuration says how tests run, and not what they do.
var configuration = regexp.MustCompile(`(?i)(?:^|[./-])config\.[cm]?[jt]sx?$`)

// edit notes a rewrite. Whether it breaks a rule the runner says, which reads source as a tree.
func (b bench) edit(ctx context.Context, x *agent.Step, w *work, a arguments) (toolDone, error) {
	at, bad := b.place(a.Path)
	name := b.own(at)
	size := len(a.Old) + len(a.New)
	for _, o := range w.Rewrites {
		size += len(o.Before) + len(o.After)
	}
	switch {
	case bad != "":
		return refusal("%s", bad), nil
	case !source.MatchString(name) || configuration.MatchString(name):
		return refusal("Only source files of the tests are changed (.ts, .js and the like), and no configuration."), nil
	case a.Old == "" || a.Old == a.New:
		return refusal("Say which text is to be replaced, and by which other one."), nil
	case len(a.Old) > maxPiece || len(a.New) > maxPiece || size > rewritesBytes || len(w.Rewrites) == maxRewrites:
		return refusal("That is too much: at most %d edits, of %d bytes each and %d together.", maxRewrites, maxPiece, rewritesBytes), nil
	case strings.Contains(a.Old+a.New, hidden):
		return refusal("What is hidden is not in the file: leave that part of the line alone."), nil
	case strings.ContainsFunc(a.New, func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r)
	}):
		return refusal("There are signs in the new text that nobody sees."), nil
	}
	text, err := b.text(ctx, w.Rewrites, name)
	if err != nil {
		return toolDone{}, err
	}
	if strings.Contains(text, "\r\n") && !strings.Contains(a.Old+a.New, "\r") { // of which nothing is shown
		a.Old, a.New = strings.ReplaceAll(a.Old, "\n", "\r\n"), strings.ReplaceAll(a.New, "\n", "\r\n")
	}
	n := strings.Count(text, a.Old)
	if !strings.Contains(b.hidden(text), strings.ReplaceAll(a.Old, "\r", "")) {
		n = 0 // it stands in what is hidden: that must not be told by guessing
	}
	switch n {
	case 0:
		return refusal("The old text does not stand in %s exactly so. Read the file, and copy it without the line numbers.", name), nil
	case 1:
	default:
		return refusal("The old text stands in %s more than once: copy more of what is around it.", name), nil
	}
	w.Rewrites = append(w.Rewrites, attempt.Rewrite{File: name, Before: a.Old, After: a.New})
	line := strings.Count(text[:strings.Index(text, a.Old)], "\n") + 1
	x.Note(agent.Changed, "%s:%d: %s became %s.", name, line, quoted(clean(a.Old, maxShown)), quoted(clean(a.New, maxShown)))
	return toolDone{Text: fmt.Sprintf("Done, at %s:%d. It is checked when the tests run.", name, line)}, nil
}

// words says in one line what an answer wants.
func (t turn) words() string {
	var out []string
	for _, c := range t.Calls {
		a, bad := c.read()
		said := c.Name
		switch {
		case bad != "":
		case c.Name == toolRead || c.Name == toolEdit:
			said += " " + quoted(clean(a.Path, maxField))
		case c.Name == toolSearch:
			said += " " + quoted(clean(a.Text, maxField))
		case c.Name == toolList && a.Directory != "":
			said += " " + quoted(clean(a.Directory, maxField))
		case c.Name == toolLook && a.Step > 0:
			said += fmt.Sprintf(" at step %d", a.Step)
		}
		out = append(out, said)
	}
	if t.Text != "" {
		out = append(out, "it says “"+saidBy(t.Text)+"”")
	}
	if len(out) == 0 {
		return "it says nothing"
	}
	return strings.Join(out, ", ")
}
