package forge

import (
	"context"
	"slices"
	"strings"

	"tas-service/internal/fault"
)

// Ensure sees to it that there is one open pull request from a head into a base of repo, as
// n says it: the open one is brought up to date where its title, body or draft differ, or
// one is opened. created reports that this call opened it.
//
// The caller sees to it that one at a time does it for the same repository, head and base:
// forges do not refuse a second one reliably. After any error or crash, calling again never
// opens a second one, because each call begins by looking.
func Ensure(ctx context.Context, f Forge, repo string, n NewPullRequest) (p PullRequest, created bool, err error) {
	if err := checkNew(f.Kind(), repo, n); err != nil {
		return p, false, err
	}
	head := Ref{Repo: repo, Branch: n.Head}
	there, err := f.FindOpen(ctx, repo, head, n.Base)
	if err != nil {
		return p, false, err
	}
	if there == nil {
		p, err = f.CreatePullRequest(ctx, repo, n)
		if err == nil || fault.KindOf(err) != fault.Conflict {
			return p, err == nil, err
		}
		// Somebody opened it meanwhile, or the forge's list lagged behind.
		conflict := err
		if there, err = f.FindOpen(ctx, repo, head, n.Base); err != nil {
			return p, false, err
		}
		if there == nil {
			return p, false, conflict
		}
	}
	var e Edit
	if !sameText(there.Title, n.Title) {
		e.Title = &n.Title
	}
	if !sameText(there.Body, n.Body) {
		e.Body = &n.Body
	}
	if there.Draft != n.Draft {
		e.Draft = &n.Draft
	}
	if e == (Edit{}) {
		return *there, false, nil
	}
	p, err = f.UpdatePullRequest(ctx, repo, there.Number, e)
	return p, false, err
}

func checkNew(kind Kind, repo string, n NewPullRequest) error {
	switch {
	case strings.TrimSpace(n.Title) == "" || strings.ContainsAny(n.Title, "\r\n") || len([]rune(n.Title)) > MaxTitle:
		return fault.New(fault.Invalid, "A pull request's title is one line of at most %d characters.", MaxTitle)
	case len([]rune(n.Body)) > MaxBody(kind):
		return fault.New(fault.Invalid, "The pull request's body is longer than the %d characters that the forge takes.", MaxBody(kind))
	case n.Head == "" || n.Base == "" || n.Head == n.Base:
		return fault.New(fault.Invalid, "A pull request needs two different branches.")
	}
	return CheckRepo(repo)
}

// sameText compares texts as forges keep them: some drop blanks at the ends, or write lines
// their own way.
func sameText(a, b string) bool {
	tidy := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
	return tidy(a) == tidy(b)
}

// Marker answers the line that makes a comment a sticky one. key has letters, digits and
// any of -_./: only.
func Marker(key string) string { return "<!-- tas: " + key + " -->" }

// Stick sees to it that one comment of ours with a marker is under a pull request, saying
// body. The marker is a line, as Marker answers it; it is put in front of body where body
// has it neither as its first line nor its last. known is the comment's ID where an earlier
// call answered it, "" else: it spares the search.
//
// A comment is ours only if its author and its marker are: everybody can write our marker.
// Of several of ours the oldest is taken. The caller sees to it that one at a time does it
// for the same marker; after any error or crash, calling again never makes a second one.
func Stick(ctx context.Context, f Forge, repo string, number int, marker, body, known string) (Comment, error) {
	if marker == "" || strings.ContainsAny(marker, "\r\n") {
		return Comment{}, fault.New(fault.Invalid, "A marker is one line.")
	}
	if !marked(body, marker) {
		body = marker + "\n" + body
	}
	if n := len([]rune(body)); n > MaxBody(f.Kind()) {
		return Comment{}, fault.New(fault.Invalid, "The comment has %d characters, more than the %d that the forge takes.", n, MaxBody(f.Kind()))
	}
	if known != "" {
		c, err := f.EditComment(ctx, repo, number, known, body)
		if err == nil || fault.KindOf(err) != fault.NotFound {
			return c, err
		}
		// Somebody deleted it, and perhaps it was made again since.
	}
	me, err := f.WhoAmI(ctx)
	if err != nil {
		return Comment{}, err
	}
	all, err := f.Comments(ctx, repo, number)
	if err != nil {
		return Comment{}, err
	}
	ours := slices.DeleteFunc(all, func(c Comment) bool { return !c.Author.Is(me) || !marked(c.Body, marker) })
	slices.SortStableFunc(ours, func(a, b Comment) int { return a.CreatedAt.Compare(b.CreatedAt) })
	for _, c := range ours {
		if sameText(c.Body, body) {
			return c, nil
		}
		edited, err := f.EditComment(ctx, repo, number, c.ID, body)
		if fault.KindOf(err) == fault.NotFound {
			continue // somebody deleted it meanwhile
		}
		return edited, err
	}
	return f.CreateComment(ctx, repo, number, body)
}

// marked reports whether the first or the last line of a body is the marker.
func marked(body, marker string) bool {
	body = strings.TrimSpace(strings.ReplaceAll(body, "\r\n", "\n"))
	first, _, _ := strings.Cut(body, "\n")
	return strings.TrimSpace(first) == marker || strings.TrimSpace(body[strings.LastIndex(body, "\n")+1:]) == marker
}
