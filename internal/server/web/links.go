package web

import (
	"net/http"
	"net/url"
	"time"

	"tas-service/internal/account"
	"tas-service/internal/bug"
	"tas-service/internal/fault"
	"tas-service/internal/project"
)

// Signed links to the pages of runs and bugs open one of them: whoever has one may see it,
// and change nothing, until it expires.
const (
	linkPurpose = "run-page"
	bugPurpose  = "bug-page"
	linkTTL     = 30 * 24 * time.Hour
)

// RunURL answers the address of a run's page, behind the sign-in.
func RunURL(appURL string) func(runID string) string {
	return func(runID string) string { return appURL + "/runs/" + runID }
}

// SessionURL answers the address of a session's page, behind the sign-in.
func SessionURL(appURL string) func(sessionID string) string {
	return func(sessionID string) string { return appURL + "/sessions/" + sessionID }
}

// BugURL answers the address of a bug's page, behind the sign-in.
func BugURL(appURL string) func(bug.Bug) string {
	return func(b bug.Bug) string { return appURL + "/bugs/" + b.ProjectID + "/" + b.Key() }
}

// BugKeyURL answers the same of a bug that is known by its key.
func BugKeyURL(appURL string) func(projectID, key string) string {
	return func(projectID, key string) string { return appURL + "/bugs/" + projectID + "/" + key }
}

// expiry goes by the day, so that a link that is copied twice is one.
func expiry(now time.Time) time.Time { return now.Truncate(24 * time.Hour).Add(linkTTL) }

// openRun answers a link that shows a run to whoever has it.
func (a *App) openRun(runID string) string {
	return "/runs/" + runID + "/" + a.Keys.Sign(linkPurpose, runID, expiry(a.Now()))
}

func (a *App) mountLinks(mux *http.ServeMux) {
	mux.HandleFunc("GET /runs/{id}", a.signedIn(a.toRun))
	mux.HandleFunc("GET /bugs/{project}/{key}", a.signedIn(a.toBug))
	mux.HandleFunc("GET /runs/{id}/{token}", a.byLink(a.run))
	mux.HandleFunc("GET /runs/{id}/{token}/events", a.byLink(a.runEvents))
	mux.HandleFunc("GET /runs/{id}/{token}/report", a.byLink(a.report))
	mux.HandleFunc("GET /runs/{id}/{token}/tests/{test}", a.byLink(a.runTest))
	mux.HandleFunc("GET /runs/{id}/{token}/tests/{test}/artifacts/{artifact}", a.byLink(a.artifact))
	mux.HandleFunc("GET /runs/{id}/{token}/tests/{test}/artifacts/{artifact}/errors", a.byLink(a.said))
	mux.HandleFunc("GET /bugs/{project}/{key}/{token}", a.open(a.bugByLink))
}

// toRun finds the project of a run and goes to its page there.
func (a *App) toRun(w http.ResponseWriter, r *http.Request, v *visit) error {
	x, err := a.Store.Run(r.Context(), r.PathValue("id"))
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return err
	}
	for _, p := range v.Projects {
		if err == nil && p.ID == x.ProjectID {
			http.Redirect(w, r, projectURL(p.Slug)+"/runs/"+x.ID, http.StatusSeeOther)
			return nil
		}
	}
	return fault.New(fault.NotFound, "There is no such run, or you are not a member of its project.").WithFix("Ask an administrator of the project to invite you, or a member for a link that works without sign-in.")
}

// toBug finds the project of a bug and goes to its page there.
func (a *App) toBug(w http.ResponseWriter, r *http.Request, v *visit) error {
	for _, p := range v.Projects {
		if p.ID == r.PathValue("project") {
			http.Redirect(w, r, projectURL(p.Slug)+"/bugs/"+url.PathEscape(r.PathValue("key")), http.StatusSeeOther)
			return nil
		}
	}
	return fault.New(fault.NotFound, "There is no such bug, or you are not a member of its project.").WithFix("Ask an administrator of the project to invite you.")
}

// guest is who came by a link: it sees what a viewer does, of one project's thing.
func (a *App) guest(r *http.Request, projectID, open string) (*visit, error) {
	all, err := a.Projects.Projects(r.Context())
	if err != nil {
		return nil, err
	}
	v := &visit{Open: open, Actor: account.Actor{ProjectID: projectID, Role: account.RoleViewer, Via: account.ViaSession}}
	for _, p := range all {
		if p.ID == projectID {
			v.Project, v.Projects = &p, []project.Project{p}
		}
	}
	if v.Project == nil {
		return nil, fault.New(fault.NotFound, "The project does not exist any more.")
	}
	return v, nil
}

// byLink makes a handler of a run's page that a signed link opens.
func (a *App) byLink(h func(w http.ResponseWriter, r *http.Request, v *visit) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, token := r.PathValue("id"), r.PathValue("token")
		err := a.Keys.Verify(linkPurpose, id, token, a.Now())
		if err != nil {
			a.fail(w, r, fault.Wrap(err, fault.NotFound, "This link is not valid, or it has expired.").WithFix("Sign in to see the run, or ask a member of the project for a new link."))
			return
		}
		x, err := a.Store.Run(r.Context(), id)
		if fault.KindOf(err) == fault.NotFound && err != nil {
			err = fault.New(fault.NotFound, "This run does not exist any more.")
		}
		var v *visit
		if err == nil {
			v, err = a.guest(r, x.ProjectID, "/runs/"+id+"/"+token)
		}
		if err != nil {
			a.fail(w, r, err)
			return
		}
		r = withVisit(r, v)
		if err := h(w, r, v); err != nil {
			a.fail(w, r, err)
		}
	}
}

// bugByLink shows a bug to whoever has a link to it.
func (a *App) bugByLink(w http.ResponseWriter, r *http.Request) error {
	projectID, key, token := r.PathValue("project"), r.PathValue("key"), r.PathValue("token")
	if err := a.Keys.Verify(bugPurpose, projectID+"/"+key, token, a.Now()); err != nil {
		return fault.Wrap(err, fault.NotFound, "This link is not valid, or it has expired.").WithFix("Sign in to see the bug.")
	}
	v, err := a.guest(r, projectID, "/bugs/"+projectID+"/"+key+"/"+token)
	if err != nil {
		return err
	}
	return a.bug(w, withVisit(r, v), v)
}
