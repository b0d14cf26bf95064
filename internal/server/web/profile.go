package web

import (
	"net/http"

	"tas-service/internal/account"
	"tas-service/internal/fault"
)

// profilePage is what a person sees of themselves.
type profilePage struct {
	Sessions    []account.Session
	Current     string // ID of the session that looks
	MinPassword int
	Trouble     *fault.Error // with the password
}

func (a *App) profile(w http.ResponseWriter, r *http.Request, v *visit) error {
	return a.showProfile(w, r, v, http.StatusOK, nil)
}

func (a *App) showProfile(w http.ResponseWriter, r *http.Request, v *visit, status int, trouble *fault.Error) error {
	ss, err := a.People.Sessions(r.Context(), *v.Viewer)
	if err != nil {
		return err
	}
	a.show(w, r, status, "accounts/profile", Page{Title: "Your profile", Data: profilePage{Sessions: ss, Current: v.Viewer.SessionID, MinPassword: account.MinPassword, Trouble: trouble}})
	return nil
}

func (a *App) rename(w http.ResponseWriter, r *http.Request, v *visit) error {
	if err := a.People.Rename(r.Context(), *v.Viewer, r.PostFormValue("name")); err != nil {
		return err
	}
	done(w, r, "/profile", "Your name is changed.")
	return nil
}

func (a *App) changePassword(w http.ResponseWriter, r *http.Request, v *visit) error {
	err := a.People.ChangePassword(r.Context(), *v.Viewer, r.PostFormValue("old"), r.PostFormValue("password"))
	if k := fault.KindOf(err); err != nil && (k == fault.Invalid || k == fault.RateLimited) {
		return a.showProfile(w, r, v, statusOf(w, r, err), fault.As(err))
	}
	if err != nil {
		return err
	}
	done(w, r, "/profile", "The password is changed, and all your other sessions are over.")
	return nil
}

func (a *App) revoke(w http.ResponseWriter, r *http.Request, v *visit) error {
	if err := a.People.Revoke(r.Context(), *v.Viewer, r.PathValue("id")); err != nil {
		return err
	}
	done(w, r, "/profile", "The session is over.")
	return nil
}
