package web

import (
	"bytes"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"tas-service/internal/fault"
	"tas-service/internal/forge"
	"tas-service/internal/pull"
)

// mountPulls registers the pages of pull requests that the service keeps itself.
func (a *App) mountPulls(mux *http.ServeMux) {
	const at = "/projects/{slug}/pulls"
	mux.HandleFunc("GET "+at, a.inProject(a.pulls))
	mux.HandleFunc("GET "+at+"/{number}", a.inProject(a.pull))
	mux.HandleFunc("POST "+at+"/{number}/{act}", a.inProject(a.changePull))
}

// pullsShown is how many a page lists.
const pullsShown = 50

type pullsPage struct {
	Pulls []forge.PullRequest
	State forge.State
	Next  string
}

func (a *App) pulls(w http.ResponseWriter, r *http.Request, v *visit) error {
	p := pullsPage{State: forge.State(r.URL.Query().Get("state"))}
	switch p.State {
	case "":
		p.State = forge.Open
	case forge.Open, forge.Merged, forge.Closed, "all":
	default:
		return fault.New(fault.Invalid, "%.20q is no state of a pull request.", p.State).WithFix("Choose open, merged, closed or all.")
	}
	state := p.State
	if state == "all" {
		state = ""
	}
	before, err := strconv.Atoi(r.URL.Query().Get("before"))
	if err != nil {
		before = 0
	}
	if p.Pulls, err = a.Pulls.Pulls(r.Context(), *v.Viewer, v.Project.ID, state, before, pullsShown+1); err != nil {
		return err
	}
	if len(p.Pulls) > pullsShown {
		p.Pulls = p.Pulls[:pullsShown]
		p.Next = fmt.Sprintf("%s/pulls?state=%s&before=%d", v.base(), p.State, p.Pulls[pullsShown-1].Number)
	}
	a.show(w, r, http.StatusOK, "pulls/list", Page{Title: "Pull requests", Area: "pulls", Data: p})
	return nil
}

// pullPage is one pull request.
type pullPage struct {
	pull.Page
	Body    template.HTML
	Said    []saidComment
	Files   []diffFile
	Broken  *fault.Error // why there is no diff
	Added   int64
	Removed int64
}

// saidComment is a comment as it is shown.
type saidComment struct {
	forge.Comment
	HTML template.HTML
}

func (a *App) pull(w http.ResponseWriter, r *http.Request, v *visit) error {
	number, err := pullNumber(r)
	if err != nil {
		return err
	}
	found, err := a.Pulls.Pull(r.Context(), *v.Viewer, v.Project.ID, number)
	if err != nil {
		return err
	}
	p := pullPage{Page: found, Body: markdown(found.PullRequest.Body)}
	for _, c := range found.Comments {
		p.Said = append(p.Said, saidComment{c, markdown(c.Body)})
	}
	if err := found.DiffErr; err != nil {
		if p.Broken = fault.As(err); p.Broken == nil {
			return err
		}
	} else if p.Files, err = readDiff(found.Diff); err != nil {
		p.Broken = fault.As(err)
	}
	for _, f := range p.Files {
		p.Added, p.Removed = p.Added+f.Added, p.Removed+f.Removed
	}
	a.show(w, r, http.StatusOK, "pulls/pull", Page{Title: fmt.Sprintf("%s · #%d %s", found.State, number, found.Title), Area: "pulls",
		Crumbs: []Crumb{{"Pull requests", v.base() + "/pulls"}, {Name: fmt.Sprintf("#%d", number)}}, Data: p})
	return nil
}

// pullNumber answers which pull request an address is about.
func pullNumber(r *http.Request) (int, error) {
	number, err := strconv.Atoi(r.PathValue("number"))
	if err != nil || number < 1 {
		return 0, fault.New(fault.NotFound, "There is no such pull request.").WithFix("The list of pull requests has those that there are.")
	}
	return number, nil
}

func (a *App) changePull(w http.ResponseWriter, r *http.Request, v *visit) error {
	number, err := pullNumber(r)
	if err != nil {
		return err
	}
	ctx, text := r.Context(), ""
	switch r.PathValue("act") {
	case "merge":
		err, text = a.Pulls.Merge(ctx, *v.Viewer, v.Project.ID, number), "It is merged."
	case "close":
		err, text = a.Pulls.Close(ctx, *v.Viewer, v.Project.ID, number), "It is closed, and nothing was merged."
	case "comment":
		err, text = a.Pulls.Say(ctx, *v.Viewer, v.Project.ID, number, r.PostFormValue("comment")), "The comment is kept."
	default:
		return fault.New(fault.NotFound, "There is no such form.")
	}
	if err != nil {
		return err
	}
	done(w, r, fmt.Sprintf("%s/pulls/%d", v.base(), number), text)
	return nil
}

// markdown shows what people and the service wrote. Raw HTML in it is left out, and links
// lead only where links may.
func markdown(text string) template.HTML {
	var b bytes.Buffer
	if err := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough)).Convert([]byte(text), &b); err != nil {
		return template.HTML("<pre>" + template.HTMLEscapeString(text) + "</pre>") //nolint:gosec // escaped
	}
	return template.HTML(b.String()) //nolint:gosec // goldmark escapes all that it was not told to trust
}

// diffFile is one file of a diff as it is shown.
type diffFile struct {
	Name    string
	Was     string // of a renamed one
	What    string // added, changed, deleted, renamed
	Binary  bool
	Added   int64
	Removed int64
	Parts   []diffPart
	Cut     bool // has more lines than are shown
}

// diffPart is one hunk.
type diffPart struct {
	About string
	Lines []diffLine
}

// diffLine is one line: Old and New are its numbers on the sides where it is.
type diffLine struct {
	Kind     string // " ", "+" or "-"
	Old, New int64
	Text     string
}

// Bounds of a diff that is shown.
const (
	diffFiles = 300
	diffLines = 2000 // of a file
)

// readDiff takes a unified diff apart.
func readDiff(text string) ([]diffFile, error) {
	files, _, err := gitdiff.Parse(strings.NewReader(text))
	if err != nil {
		return nil, fault.Wrap(err, fault.External, "The difference cannot be shown.").WithFix("Look at it with git: fetch both branches and compare them.")
	}
	var out []diffFile
	for _, f := range files[:min(len(files), diffFiles)] {
		d := diffFile{Name: f.NewName, What: "changed", Binary: f.IsBinary}
		switch {
		case f.IsNew:
			d.What = "added"
		case f.IsDelete:
			d.Name, d.What = f.OldName, "deleted"
		case f.IsRename:
			d.Was, d.What = f.OldName, "renamed"
		}
		n := 0
		for _, t := range f.TextFragments {
			d.Added, d.Removed = d.Added+t.LinesAdded, d.Removed+t.LinesDeleted
			part := diffPart{About: fmt.Sprintf("@@ -%d +%d @@ %s", t.OldPosition, t.NewPosition, t.Comment)}
			older, newer := t.OldPosition, t.NewPosition
			for _, l := range t.Lines {
				if n++; n > diffLines {
					d.Cut = true
					break
				}
				line := diffLine{Kind: l.Op.String(), Text: strings.TrimRight(l.Line, "\r\n")}
				if l.Old() {
					line.Old, older = older, older+1
				}
				if l.New() {
					line.New, newer = newer, newer+1
				}
				part.Lines = append(part.Lines, line)
			}
			d.Parts = append(d.Parts, part)
		}
		out = append(out, d)
	}
	return out, nil
}
