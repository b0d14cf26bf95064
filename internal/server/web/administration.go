package web

import (
	"net/http"
	"net/url"

	"tas-service/internal/account"
	"tas-service/internal/project"
)

// administrationPage is what an administrator of the installation sees.
type administrationPage struct {
	People      []account.Person
	Invitations []account.Link
	Projects    []project.Project
	Made        string // address of the invitation that was just made
}

func (a *App) administration(w http.ResponseWriter, r *http.Request, v *visit) error {
	return a.showAdministration(w, r, v, "")
}

func (a *App) showAdministration(w http.ResponseWriter, r *http.Request, v *visit, made string) error {
	people, err := a.People.All(r.Context(), *v.Viewer)
	if err != nil {
		return err
	}
	open, err := a.People.Invitations(r.Context(), *v.Viewer, "")
	if err != nil {
		return err
	}
	a.show(w, r, http.StatusOK, "accounts/administration", Page{Title: "Administration", Data: administrationPage{People: people, Invitations: open, Projects: v.Projects, Made: made}})
	return nil
}

// inviteAdministrator shows the link at once: it is known only now.
func (a *App) inviteAdministrator(w http.ResponseWriter, r *http.Request, v *visit) error {
	path, err := a.People.InviteAdministrator(r.Context(), *v.Viewer, r.PostFormValue("email"))
	if err != nil {
		return err
	}
	return a.showAdministration(w, r, v, a.AppURL+path)
}

func (a *App) withdrawAdministrator(w http.ResponseWriter, r *http.Request, v *visit) error {
	if err := a.People.Withdraw(r.Context(), *v.Viewer, "", r.PathValue("id")); err != nil {
		return err
	}
	done(w, r, "/administration", "The invitation is withdrawn.")
	return nil
}

func (a *App) setAdministrator(w http.ResponseWriter, r *http.Request, v *visit) error {
	if err := a.People.SetAdministrator(r.Context(), *v.Viewer, r.PathValue("id"), r.PostFormValue("administrator") == "yes"); err != nil {
		return err
	}
	to := "/administration"
	if r.PathValue("id") == v.Viewer.Person.ID {
		to = "/"
	}
	done(w, r, to, "Changed.")
	return nil
}

func (a *App) removePerson(w http.ResponseWriter, r *http.Request, v *visit) error {
	if err := a.People.RemovePerson(r.Context(), *v.Viewer, r.PathValue("id")); err != nil {
		return err
	}
	done(w, r, "/administration", "The person is removed, with all sessions and roles.")
	return nil
}

// auditPage is a page of the audit log, of one project or of all.
type auditPage struct {
	Entries    []account.Entry
	Projects   map[string]project.Project
	Prev, Next string // addresses
}

// auditAtOnce is how many entries a page has.
const auditAtOnce = 50

func (a *App) audit(w http.ResponseWriter, r *http.Request, v *visit) error {
	q := account.AuditQuery{Before: r.URL.Query().Get("before"), Limit: auditAtOnce}
	if v.Project != nil {
		q.ProjectID = v.Project.ID
	}
	es, more, err := a.People.Audit(r.Context(), *v.Viewer, q)
	if err != nil {
		return err
	}
	p := auditPage{Entries: es, Projects: map[string]project.Project{}}
	for _, x := range v.Projects {
		p.Projects[x.ID] = x
	}
	if q.Before != "" {
		p.Prev = r.URL.Path
	}
	if more {
		p.Next = r.URL.Path + "?before=" + url.QueryEscape(es[len(es)-1].ID)
	}
	crumbs, area := []Crumb{{"Administration", "/administration"}, {"Audit log", ""}}, ""
	if v.Project != nil {
		crumbs, area = []Crumb{{v.Project.Name, projectURL(v.Project.Slug) + "/runs"}, {"Settings", projectURL(v.Project.Slug) + "/settings"}, {"Audit log", ""}}, "settings"
	}
	a.show(w, r, http.StatusOK, "accounts/audit", Page{Title: "Audit log", Area: area, Crumbs: crumbs, Data: p})
	return nil
}
