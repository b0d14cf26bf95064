package pull

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"tas-service/internal/action"
	"tas-service/internal/fault"
	"tas-service/internal/forge"
	"tas-service/internal/project"
	"tas-service/internal/run"
)

// Results answers what a run's comment tells.
type Results interface {
	// Failures groups what failed in a run, or was flaky, by bug, with the first results of each.
	Failures(ctx context.Context, runID string, groups, each int) ([]run.Failures, error)
	// Changes answers tests that failed in one of two runs, and not in the other, or in both.
	Changes(ctx context.Context, now, before string, limit int) ([]run.Change, error)
}

// statusWish is what a commit's status is to say.
type statusWish struct {
	Repo   string       `json:"repo"`
	Number int          `json:"number"`
	Commit string       `json:"commit,omitempty"` // the pull request's head when the run began; "" where it was not found out then
	Run    order        `json:"run"`
	Branch string       `json:"branch,omitempty"` // of a run in the tests repository itself
	Tested string       `json:"tested,omitempty"` // and the commit whose tests it ran; "" before it is known
	Status forge.Status `json:"status"`
}

// order is where a run stands among those of a pull request: of those that speak for the
// same tests the newest one's result holds, whenever an older one ends.
type order struct {
	ID    string `json:"id"`
	At    int64  `json:"at"` // when it was started, in Unix milliseconds
	Scope string `json:"scope,omitempty"`
}

func orderOf(r run.Run) order {
	return order{ID: r.ID, At: r.CreatedAt.UnixMilli(), Scope: r.Selection.Scope()}
}

func (o order) before(x order) bool { return o.At < x.At || o.At == x.At && o.ID < x.ID }

// scopesLooked is how many runs of a pull request are looked at.
const scopesLooked = 200

// newer reports whether a run that speaks for the same tests was started after another.
func (s *Service) newer(ctx context.Context, projectID string, p run.Pull, o order) (bool, error) {
	all, err := s.Store.PullRuns(ctx, projectID, p, scopesLooked)
	return slices.ContainsFunc(all, func(r run.Run) bool { x := orderOf(r); return x.Scope == o.Scope && o.before(x) }), err
}

// speaking answers of each scope the newest run that has ended, the whole suite's first.
func (s *Service) speaking(ctx context.Context, projectID string, p run.Pull) (out []run.Run, err error) {
	all, err := s.Store.PullRuns(ctx, projectID, p, scopesLooked)
	seen := map[string]bool{}
	for _, r := range all {
		if scope := r.Selection.Scope(); r.Terminal() && !seen[scope] {
			seen[scope] = true
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(a, b run.Run) int { return strings.Compare(a.Selection.Scope(), b.Selection.Scope()) })
	return out, err
}

// scopeName answers what a run speaks for, for a status and for people; "" for the suite.
func (s *Service) scopeName(ctx context.Context, r run.Run) (suffix, words string, err error) {
	switch sel := r.Selection; {
	case sel.Scope() == "":
		return "", "", nil
	case sel.Kind == run.SelectCollection:
		c, err := s.Collections.Collection(ctx, r.ProjectID, sel.CollectionID)
		if fault.KindOf(err) == fault.NotFound {
			c.Name, err = sel.CollectionID, nil // removed since
		}
		return "/" + project.Slug(c.Name), "the collection " + forge.Code(c.Name), err
	case sel.Kind == run.SelectGrep:
		return "/selected", "tests that fit " + forge.Code(sel.Grep), nil
	default:
		return "/selected", fmt.Sprintf("%d chosen tests", len(sel.TestIDs)), nil
	}
}

// statusAt is where a status was set, so that the verdict comes to the commit that the run
// began for, whatever was pushed since.
type statusAt struct {
	Commit string `json:"commit"`
}

// commentWish is what the sticky comment is to say.
type commentWish struct {
	Repo   string `json:"repo"`
	Number int    `json:"number"`
	Marker string `json:"marker"`
	Body   string `json:"body"`
}

// commentAt is where the sticky comment is.
type commentAt struct {
	At  string `json:"at"` // the forge: the same number is another comment elsewhere
	ID  string `json:"id"`
	URL string `json:"url"`
}

// told answers the link by which a run's result is told; false where it is not to be.
func (s *Service) told(ctx context.Context, r run.Run) (Link, bool, error) {
	if r.Pull == nil {
		return Link{}, false, nil
	}
	// Not Link: where the forge cannot be spoken to now, that shows when it is.
	p, err := s.Projects.Project(ctx, r.ProjectID)
	if fault.KindOf(err) == fault.NotFound {
		return Link{}, false, nil
	}
	if err != nil {
		return Link{}, false, err
	}
	l, err := s.way(ctx, p)
	if f := fault.As(err); f != nil && f.Code == noForge {
		return l, false, nil // disconnected since
	}
	if err != nil {
		return l, false, err
	}
	repo, known := l.knows(r.Pull.Repo)
	return l, known && repo != "" && !l.Connection.Quiet, nil
}

// RunStarted has the pull request say that a run is under way.
func (s *Service) RunStarted(ctx context.Context, r run.Run) error {
	l, tell, err := s.told(ctx, r)
	if err != nil || !tell {
		return err
	}
	return s.askStatus(ctx, l, r, s.headNow(ctx, l, r), forge.Pending, "The tests are running")
}

// headFor bounds a look at a pull request for which somebody waits who starts a run.
const headFor = 3 * time.Second

// headNow answers the commit at the head of a run's pull request, "" where the forge does
// not tell at once; then it is found out when the status is set.
func (s *Service) headNow(ctx context.Context, l Link, r run.Run) string {
	ctx, cancel := context.WithTimeout(ctx, headFor)
	defer cancel()
	f, err := s.Connect(l.dial)
	if err != nil {
		return ""
	}
	p, err := f.PullRequest(ctx, r.Pull.Repo, r.Pull.Number)
	if err != nil {
		return ""
	}
	return p.Head.Commit
}

// RunEnded has the pull request say what came of a run. Asked again it changes nothing.
func (s *Service) RunEnded(ctx context.Context, r run.Run) error {
	l, tell, err := s.told(ctx, r)
	if err != nil || !tell {
		return err
	}
	state := forge.Failure
	switch {
	case r.Verdict == run.Pass:
		state = forge.Success
	case r.Phase == run.ProcessError || r.Phase == run.Cancelled:
		state = forge.Broken
	}
	if err := s.askStatus(ctx, l, r, "", state, summary(r)); err != nil {
		return err
	}
	// Made up of all that speaks now, so it does not matter which run ended last.
	runs, err := s.speaking(ctx, r.ProjectID, *r.Pull)
	if err != nil {
		return err
	}
	body, err := s.comment(ctx, l.Project, runs, l.dial.Kind)
	if err != nil {
		return err
	}
	w := commentWish{Repo: r.Pull.Repo, Number: r.Pull.Number, Marker: forge.Marker("result/" + l.Project.Slug), Body: body}
	_, err = s.Actions.Ask(ctx, action.Wish{ProjectID: r.ProjectID, Key: fmt.Sprintf("comment/%s/%d", r.Pull.Repo, r.Pull.Number), Kind: action.Comment,
		Target: target(r.Pull.Repo, r.Pull.Number), About: "the result of run " + r.Name, Serial: serial(l, r.Pull), AskedBy: r.StartedBy,
		Detail: w})
	return err
}

func (s *Service) askStatus(ctx context.Context, l Link, r run.Run, head string, state forge.StatusState, said string) error {
	scope, _, err := s.scopeName(ctx, r)
	if err != nil {
		return err
	}
	w := statusWish{Repo: r.Pull.Repo, Number: r.Pull.Number, Commit: head, Run: orderOf(r), Status: forge.Status{Context: "tas/" + l.Project.Slug + scope, State: state, Description: said, URL: s.RunURL(r.ID)}}
	if r.Pull.Repo == l.Repo {
		w.Branch, w.Tested = r.Branch, r.Commit
	}
	_, err = s.Actions.Ask(ctx, action.Wish{ProjectID: r.ProjectID, Key: "run/" + r.ID + "/status", Kind: action.Status, Target: target(r.Pull.Repo, r.Pull.Number),
		About: "the status of run " + r.Name, Serial: "status/" + serial(l, r.Pull), AskedBy: r.StartedBy, Detail: w,
		Amend: func(known action.Action) (any, bool) {
			var there statusWish
			now := w
			if json.Unmarshal(known.Wish, &there) == nil && now.Commit == "" {
				now.Commit = there.Commit
			}
			// The start may be told late, the end is never taken back.
			return now, state != forge.Pending
		}})
	return err
}

func target(repo string, number int) string { return fmt.Sprintf("%s#%d", repo, number) }

// serial names a pull request among those of all forges.
func serial(l Link, p *run.Pull) string {
	return fmt.Sprintf("%s/%s/%s#%d", l.dial.Kind, l.dial.URL, strings.ToLower(p.Repo), p.Number)
}

// statuses sets commits' statuses.
type statuses struct{ s *Service }

func (d statuses) Do(ctx context.Context, a action.Action) (json.RawMessage, string, error) {
	var w statusWish
	var before statusAt
	l, err := d.s.begin(ctx, a, &w, &before)
	if err != nil {
		return nil, "", err
	}
	w.Commit = cmp.Or(w.Commit, before.Commit)
	newer, err := d.s.newer(ctx, a.ProjectID, run.Pull{Repo: w.Repo, Number: w.Number}, w.Run)
	if err != nil {
		return nil, "", err
	}
	if w.Commit == "" || w.Tested != "" || newer {
		p, err := l.Forge.PullRequest(ctx, w.Repo, w.Number)
		if err != nil {
			return nil, "", err
		}
		if w.Tested != "" && w.Branch == p.Head.Branch {
			w.Commit = w.Tested // somebody pushed between the start and the clone
		}
		w.Commit = cmp.Or(w.Commit, p.Head.Commit)
		if newer && w.Commit == p.Head.Commit {
			return result(statusAt{Commit: w.Commit}), "A newer run speaks for this commit.", nil
		}
	}
	if err := l.Forge.SetStatus(ctx, w.Repo, w.Commit, w.Status); err != nil {
		return result(statusAt{Commit: w.Commit}), "", err
	}
	return result(statusAt{Commit: w.Commit}), fmt.Sprintf("The status of %.10s is %s.", w.Commit, w.Status.State), nil
}

// comments keeps sticky comments.
type comments struct{ s *Service }

func (d comments) Do(ctx context.Context, a action.Action) (json.RawMessage, string, error) {
	var w commentWish
	var before commentAt
	l, err := d.s.begin(ctx, a, &w, &before)
	if err != nil {
		return nil, "", err
	}
	at := l.at()
	if before.At != at {
		before.ID = ""
	}
	c, err := forge.Stick(ctx, l.Forge, w.Repo, w.Number, w.Marker, w.Body, before.ID)
	if err != nil {
		return nil, "", err
	}
	return result(commentAt{At: at, ID: c.ID, URL: c.URL}), "The comment says it.", nil
}

// Doers answers what carries out each kind of deed.
func (s *Service) Doers() map[action.Kind]action.Doer {
	return map[action.Kind]action.Doer{action.PullRequest: opener{s}, action.Comment: comments{s}, action.Status: statuses{s}, action.Reaction: reactions{s}, action.Command: commands{s}}
}

// summary is a verdict in one line.
func summary(r run.Run) string {
	c := r.Counts
	switch {
	case r.Error != nil && r.Verdict != run.Pass:
		return forge.Line(r.Error.Message, 140)
	case r.Verdict == run.Pass:
		return fmt.Sprintf("%d tests passed%s", c.Passed+c.Recovered, also(", %d flaky", c.Flaky)+also(", %d skipped", c.Skipped))
	default:
		return fmt.Sprintf("%d of %d tests failed%s", c.Failed+c.Bug, r.Total, also(", %d flaky", c.Flaky))
	}
}

func also(format string, n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(format, n)
}

// Bounds of a comment.
const (
	maxGroups  = 20
	maxEach    = 5
	maxChanges = 500
)

// comment answers the body of a pull request's sticky comment, in Markdown: a part for each
// run that speaks.
func (s *Service) comment(ctx context.Context, p project.Project, runs []run.Run, kind forge.Kind) (string, error) {
	var whole, brief []string
	for _, r := range runs {
		long, short, err := s.part(ctx, p, r)
		if err != nil {
			return "", err
		}
		whole, brief = append(whole, long), append(brief, short)
	}
	if text := strings.Join(whole, "\n"); len([]rune(text)) < forge.MaxBody(kind)-200 {
		return text, nil
	}
	return strings.Join(brief[:min(len(brief), 50)], "\n"), nil
}

// part answers what is said of one run, at length and in short.
func (s *Service) part(ctx context.Context, p project.Project, r run.Run) (long, short string, err error) {
	var b strings.Builder
	sign := "❌"
	switch {
	case r.Verdict == run.Pass:
		sign = "✅"
	case r.Phase == run.Cancelled || r.Phase == run.ProcessError:
		sign = "⚠️"
	}
	_, words, err := s.scopeName(ctx, r)
	if err != nil {
		return "", "", err
	}
	if words != "" {
		words = ", " + words
	}
	head := fmt.Sprintf("### %s %s%s: [%s](%s)\n\n", sign, forge.Code(p.Name), words, r.Phase, s.RunURL(r.ID))
	b.WriteString(head)
	if r.Error != nil {
		fmt.Fprintf(&b, "%s\n\n", forge.Code(r.Error.Message))
	}
	c := r.Counts
	fmt.Fprintf(&b, "**%d tests**: %d passed%s\n\n", r.Total, c.Passed, also(", **%d failed**", c.Failed)+also(", **%d bugs**", c.Bug)+also(", %d flaky", c.Flaky)+also(", %d recovered", c.Recovered)+also(", %d skipped", c.Skipped))
	if c.Failed+c.Bug+c.Flaky > 0 {
		if err := s.failures(ctx, &b, r); err != nil {
			return "", "", err
		}
	}
	took := ""
	if r.FinishedAt != nil {
		took = " in " + r.FinishedAt.Sub(r.CreatedAt).Round(time.Second).String()
	}
	fmt.Fprintf(&b, "Tests of branch %s at %s, begun at %s%s.\n", forge.Code(r.Branch), forge.Code(fmt.Sprintf("%.10s", r.Commit)), r.CreatedAt.UTC().Format("2006-01-02 15:04 UTC"), took)
	return b.String(), head + forge.Code(summary(r)) + "\n", nil
}

// failures writes what failed, by bug, and what of it is new.
func (s *Service) failures(ctx context.Context, b *strings.Builder, r run.Run) error {
	groups, err := s.Results.Failures(ctx, r.ID, maxGroups, maxEach)
	if err != nil {
		return err
	}
	type key struct{ test, browser string }
	isNew := map[key]bool{}
	base, err := s.Store.DefaultRunBefore(ctx, r)
	switch {
	case fault.KindOf(err) == fault.NotFound:
		b.WriteString("There is no earlier run of the default branch to compare with.\n\n")
	case err != nil:
		return err
	default:
		changes, err := s.Results.Changes(ctx, r.ID, base.ID, maxChanges)
		if err != nil {
			return err
		}
		n := 0
		for _, x := range changes {
			if x.Now.Failing() && !x.Before.Failing() {
				isNew[key{x.TestID, x.Browser}] = true
				n++
			}
		}
		more := ""
		if len(changes) >= maxChanges {
			more = "at least "
		}
		fmt.Fprintf(b, "**%s%d new** against [%s](%s) of branch %s.\n\n", more, n, forge.Code(base.Name), s.RunURL(base.ID), forge.Code(base.Branch))
	}
	for _, g := range groups {
		what := "failed"
		if g.Flaky {
			what = "flaky"
		}
		head := ""
		if g.BugKey != "" {
			head = fmt.Sprintf(" of [%s](%s)", g.BugKey, s.BugURL(r.ProjectID, g.BugKey))
		}
		fmt.Fprintf(b, "- %d %s%s\n", g.N, what, head)
		for _, t := range g.First {
			mark := ""
			if !g.Flaky && isNew[key{t.TestID, t.Browser}] {
				mark = "**new** "
			}
			fmt.Fprintf(b, "  - %s%s", mark, forge.Code(t.File+" › "+strings.Join(t.TitlePath, " › ")))
			if t.Error != nil {
				first, _, _ := strings.Cut(strings.TrimSpace(t.Error.Message), "\n")
				fmt.Fprintf(b, ": %s", forge.Code(first))
			}
			b.WriteString("\n")
		}
		if more := g.N - len(g.First); more > 0 {
			fmt.Fprintf(b, "  - and %d more\n", more)
		}
	}
	b.WriteString("\n")
	return nil
}
