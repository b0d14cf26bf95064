package web

import (
	"errors"
	"math"
	"net/http"
	"strconv"

	"tas-service/internal/account"
	"tas-service/internal/fault"
	"tas-service/internal/server/route"
)

// signInForm is what the sign-in shows.
type signInForm struct {
	Next, Email string
	Trouble     *fault.Error
	Nobody      bool // nobody can sign in yet
	Provider    string
}

func (a *App) signInPage(w http.ResponseWriter, r *http.Request) error {
	next := localPath(r.URL.Query().Get("next"))
	if _, err := a.viewerOf(r); err == nil {
		http.Redirect(w, r, next, http.StatusSeeOther)
		return nil
	}
	has, err := a.People.Records.HasPeople(r.Context())
	if err != nil {
		return err
	}
	a.show(w, r, http.StatusOK, "accounts/signin", Page{Title: "Sign in", Data: signInForm{Next: next, Nobody: !has, Provider: a.providerName()}})
	return nil
}

func (a *App) signIn(w http.ResponseWriter, r *http.Request) error {
	if err := form(w, r); err != nil {
		return err
	}
	in := signInForm{Provider: a.providerName(), Next: localPath(r.PostFormValue("next")), Email: r.PostFormValue("email")}
	token, err := a.People.SignIn(r.Context(), in.Email, r.PostFormValue("password"), client(r))
	switch fault.KindOf(err) {
	case fault.Unauthenticated, fault.RateLimited:
		in.Trouble = fault.As(err)
		a.show(w, r, statusOf(w, r, err), "accounts/signin", Page{Title: "Sign in", Data: in})
		return nil
	default:
		if err != nil {
			return err
		}
	}
	a.begin(w, r, token, in.Next)
	return nil
}

// statusOf answers the status of an error that a page shows beside its form, and when to
// try again.
func statusOf(w http.ResponseWriter, r *http.Request, err error) int {
	if l, ok := errors.AsType[*account.Limited](err); ok {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(l.After.Seconds()))))
	}
	return route.ProblemOf(r.Context(), err).Status
}

func (a *App) signOut(w http.ResponseWriter, r *http.Request, v *visit) error {
	if err := a.People.SignOut(r.Context(), *v.Viewer); err != nil {
		return err
	}
	http.SetCookie(w, a.cookie("", -1e9))
	http.Redirect(w, r, "/sign-in", http.StatusSeeOther)
	return nil
}

// linkForm is what a link that works once shows.
type linkForm struct {
	Link        account.Link
	Project     string // its name
	Email, Name string
	Viewer      *account.Viewer
	Trouble     *fault.Error
	MinPassword int
	Path        string
	Provider    string
}

// ByOperator reports whether the link has no other name to show than the service's.
func (f linkForm) ByOperator() bool { return f.Link.MadeBy == "" }

func (a *App) linkForm(r *http.Request) (linkForm, error) {
	f := linkForm{Provider: a.providerName(), MinPassword: account.MinPassword, Path: r.URL.Path}
	l, err := a.People.Opened(r.Context(), r.PathValue("token"))
	if err != nil {
		return f, err
	}
	f.Link, f.Email = l, l.Email
	if l.Kind.Path(r.PathValue("token")) != r.URL.Path {
		return f, fault.New(fault.NotFound, "This link is not whole.").WithFix("Copy it again, from beginning to end.")
	}
	if l.ProjectID != "" {
		p, err := a.Projects.Project(r.Context(), l.ProjectID)
		if err != nil {
			return f, err
		}
		f.Project = p.Name
	}
	if v, err := a.viewerOf(r); err == nil && (l.Kind == account.LinkMember || l.Kind == account.LinkAdministrator) {
		f.Viewer = &v
	}
	return f, nil
}

var linkTitles = map[account.LinkKind]string{account.LinkFirst: "Welcome", account.LinkAdministrator: "Welcome", account.LinkMember: "Invitation", account.LinkReset: "New password"}

func (a *App) linkPage(w http.ResponseWriter, r *http.Request) error {
	f, err := a.linkForm(r)
	if err != nil {
		return err
	}
	if f.Viewer != nil {
		r = withVisit(r, &visit{Viewer: f.Viewer})
	}
	a.show(w, r, http.StatusOK, "accounts/link", Page{Title: linkTitles[f.Link.Kind], Data: f})
	return nil
}

func (a *App) enter(w http.ResponseWriter, r *http.Request) error {
	if err := form(w, r); err != nil {
		return err
	}
	f, err := a.linkForm(r)
	if err != nil {
		return err
	}
	token := r.PathValue("token")
	if f.Viewer != nil {
		if err := a.checkForm(w, r, *f.Viewer); err != nil {
			return err
		}
		if err := a.People.Accept(r.Context(), *f.Viewer, token); err != nil {
			return err
		}
		done(w, r, "/", "You are in.")
		return nil
	}
	f.Name = r.PostFormValue("name")
	if f.Link.Email == "" {
		f.Email = r.PostFormValue("email")
	}
	session, err := a.People.Enter(r.Context(), token, account.Entrant{Email: f.Email, Name: f.Name, Password: r.PostFormValue("password")}, client(r))
	switch fault.KindOf(err) {
	case fault.Invalid, fault.Conflict:
		f.Trouble = fault.As(err)
		a.show(w, r, statusOf(w, r, err), "accounts/link", Page{Title: linkTitles[f.Link.Kind], Data: f})
		return nil
	default:
		if err != nil {
			return err
		}
	}
	a.begin(w, r, session, "/")
	return nil
}
