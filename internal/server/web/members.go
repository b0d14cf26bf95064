package web

import (
	"net/http"

	"tas-service/internal/account"
)

// membersPage is who may do what in a project.
type membersPage struct {
	Members     []account.Member
	Invitations []account.Link
	Roles       []account.Role
	Made        string // address of the invitation that was just made
	MadeFor     account.Role
	Administers bool
}

func (a *App) members(w http.ResponseWriter, r *http.Request, v *visit) error {
	return a.showMembers(w, r, v, "", "")
}

func (a *App) showMembers(w http.ResponseWriter, r *http.Request, v *visit, made string, role account.Role) error {
	p := membersPage{Roles: account.Roles(), Made: made, MadeFor: role, Administers: v.Actor.Role.Includes(account.RoleAdministrator)}
	var err error
	if p.Members, err = a.People.Members(r.Context(), *v.Viewer, v.Project.ID); err != nil {
		return err
	}
	if p.Administers {
		if p.Invitations, err = a.People.Invitations(r.Context(), *v.Viewer, v.Project.ID); err != nil {
			return err
		}
	}
	a.show(w, r, http.StatusOK, "accounts/members", Page{Title: "Members", Area: "settings", Crumbs: settingsCrumbs(v, "Members"), Data: p})
	return nil
}

// invite shows the link at once: it is known only now.
func (a *App) invite(w http.ResponseWriter, r *http.Request, v *visit) error {
	role := account.Role(r.PostFormValue("role"))
	path, err := a.People.Invite(r.Context(), *v.Viewer, v.Project.ID, role, r.PostFormValue("email"))
	if err != nil {
		return err
	}
	return a.showMembers(w, r, v, a.AppURL+path, role)
}

func (a *App) withdraw(w http.ResponseWriter, r *http.Request, v *visit) error {
	if err := a.People.Withdraw(r.Context(), *v.Viewer, v.Project.ID, r.PathValue("id")); err != nil {
		return err
	}
	done(w, r, projectURL(v.Project.Slug)+"/members", "The invitation is withdrawn.")
	return nil
}

func (a *App) setRole(w http.ResponseWriter, r *http.Request, v *visit) error {
	if err := a.People.SetRole(r.Context(), *v.Viewer, v.Project.ID, r.PathValue("id"), account.Role(r.PostFormValue("role"))); err != nil {
		return err
	}
	done(w, r, projectURL(v.Project.Slug)+"/members", "The role is changed.")
	return nil
}

func (a *App) removeMember(w http.ResponseWriter, r *http.Request, v *visit) error {
	if err := a.People.Remove(r.Context(), *v.Viewer, v.Project.ID, r.PathValue("id")); err != nil {
		return err
	}
	to := projectURL(v.Project.Slug) + "/members"
	if r.PathValue("id") == v.Viewer.Person.ID && !v.Viewer.Person.Administrator {
		to = "/"
	}
	done(w, r, to, "The member is removed.")
	return nil
}
