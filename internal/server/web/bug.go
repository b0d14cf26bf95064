package web

import (
	"net/http"
	"net/url"
	"strings"

	"tas-service/internal/bug"
	"tas-service/internal/catalog"
	"tas-service/internal/fault"
)

// bugPage is what the page of a bug shows.
type bugPage struct {
	Bug        *bug.Bug
	URL        string
	Tests      []catalog.Test // that met it, as far as they are known
	Seen       []bug.Sighting
	Severities []bug.Severity
	FirstRun   string // addresses
	LastRun    string
	Until      string // proposed end of a snooze
	Found      []catalog.Test
	Search     string
}

// sightingsShown is how many runs a bug's page names.
const sightingsShown = 30

func (a *App) bug(w http.ResponseWriter, r *http.Request, v *visit) error {
	ctx := r.Context()
	b, err := a.Bugs.Get(ctx, v.Actor, r.PathValue("key"))
	if err != nil {
		return err
	}
	p := &bugPage{Bug: &b, Severities: bug.Severities(), Until: a.Now().AddDate(0, 0, 7).Format("2006-01-02"), Search: strings.TrimSpace(r.URL.Query().Get("q"))}
	if v.Open == "" {
		p.URL = v.base() + "/bugs/" + b.Key()
		p.FirstRun, p.LastRun = v.runURL(b.FirstRunID), v.runURL(b.LastRunID)
	}
	named, err := a.Tests.Named(ctx, v.Project.ID, b.TestIDs)
	if err != nil {
		return err
	}
	for _, id := range b.TestIDs {
		if t, ok := named[id]; ok {
			p.Tests = append(p.Tests, t)
		}
	}
	if p.Seen, err = a.Bugs.Seen(ctx, v.Actor, b.Key(), sightingsShown); err != nil {
		return err
	}
	if p.Search != "" && v.mayAct() {
		if p.Found, err = a.Tests.Store.Tests(ctx, catalog.Query{ProjectID: v.Project.ID, Text: p.Search, Limit: 10}); err != nil {
			return err
		}
	}
	page := Page{Title: lookOf(b.State).Text + " · " + b.Key() + " · " + firstLine(b.Title, 80), Area: "health", Data: p}
	if v.Open == "" {
		page.Crumbs = []Crumb{{"Health", v.base() + "/health"}, {Name: b.Key()}}
	}
	a.show(w, r, http.StatusOK, "health/bug", page)
	return nil
}

// changeBug takes one of the forms of a bug's page.
func (a *App) changeBug(w http.ResponseWriter, r *http.Request, v *visit) error {
	ctx, f, key := r.Context(), r.PostForm, r.PathValue("key")
	var err error
	text := ""
	switch r.PathValue("act") {
	case "move":
		to := bug.State(f.Get("to"))
		until, serr := snoozeEnd(f, to)
		if serr != nil {
			return serr
		}
		err, text = a.Bugs.Move(ctx, v.Actor, key, to, until, strings.TrimSpace(f.Get("comment"))), "The bug is "+lookOf(to).Text+" now."
	case "comment":
		err, text = a.Bugs.Comment(ctx, v.Actor, key, f.Get("comment")), "The comment is kept."
	case "severity":
		err, text = a.Bugs.Rate(ctx, v.Actor, key, bug.Severity(f.Get("severity"))), "The severity is changed."
	case "link":
		if _, err = a.Tests.Get(ctx, v.Project.ID, f.Get("test")); err == nil {
			err, text = a.Bugs.Link(ctx, v.Actor, key, f.Get("test"), true), "The test is linked."
		}
	case "unlink":
		err, text = a.Bugs.Link(ctx, v.Actor, key, f.Get("test"), false), "The test is not linked any more."
	default:
		return fault.New(fault.NotFound, "There is no such form.").WithFix("Load the bug's page again.")
	}
	if err != nil {
		return err
	}
	done(w, r, v.base()+"/bugs/"+url.PathEscape(key), text)
	return nil
}
