package web

import (
	"context"
	"net/http"
	"slices"

	"tas-service/internal/account"
	"tas-service/internal/fault"
	"tas-service/internal/project"
)

// visit is who looks at a page, and at what.
type visit struct {
	Viewer   *account.Viewer // nil for whoever came by a signed link
	Projects []project.Project
	Project  *project.Project
	Actor    account.Actor
	// Open is the beginning of the addresses of a signed link's pages, which only show.
	Open string
}

type visitKey struct{}

func visitOf(ctx context.Context) *visit {
	v, _ := ctx.Value(visitKey{}).(*visit)
	return v
}

func withVisit(r *http.Request, v *visit) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), visitKey{}, v))
}

// handler makes a page, or answers why it cannot.
type handler func(w http.ResponseWriter, r *http.Request) error

// open makes a handler of a page that anybody may see.
func (a *App) open(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			a.fail(w, r, err)
		}
	}
}

// signedIn makes a handler of a page for whoever is signed in.
func (a *App) signedIn(h func(w http.ResponseWriter, r *http.Request, v *visit) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := a.visit(r)
		if err != nil {
			a.turnAway(w, r, err)
			return
		}
		r = withVisit(r, v)
		if err := a.checkForm(w, r, *v.Viewer); err != nil {
			a.fail(w, r, err)
			return
		}
		if err := h(w, r, v); err != nil {
			a.fail(w, r, err)
		}
	}
}

// inProject makes a handler of a page of the project that {slug} names, for whoever has a
// role in it.
func (a *App) inProject(h func(w http.ResponseWriter, r *http.Request, v *visit) error) http.HandlerFunc {
	return a.signedIn(func(w http.ResponseWriter, r *http.Request, v *visit) error {
		slug := r.PathValue("slug")
		i := slices.IndexFunc(v.Projects, func(p project.Project) bool { return p.Slug == slug || p.ID == slug })
		if i < 0 {
			_, err := account.Viewer{}.In("")
			return err
		}
		v.Project = &v.Projects[i]
		actor, err := v.Viewer.In(v.Project.ID)
		if err != nil {
			return err
		}
		v.Actor = actor
		return h(w, r, v)
	})
}

// visit finds out who asks and which projects they see, by name.
func (a *App) visit(r *http.Request) (*visit, error) {
	if a.Viewer == nil {
		return nil, fault.New(fault.Unauthenticated, "Sign in to see this page.")
	}
	viewer, err := a.Viewer(r)
	if err != nil {
		return nil, err
	}
	v := &visit{Viewer: &viewer}
	all, err := a.Projects.Projects(r.Context())
	if err != nil {
		return nil, err
	}
	for _, p := range all {
		if _, err := viewer.In(p.ID); err == nil {
			v.Projects = append(v.Projects, p)
		}
	}
	return v, nil
}

// turnAway answers whoever is not signed in: a page that was asked for comes after the
// sign-in, a form that was sent does not.
func (a *App) turnAway(w http.ResponseWriter, r *http.Request, err error) {
	if fault.KindOf(err) == fault.Unauthenticated && a.SignIn != nil {
		to := "/"
		if r.Method == http.MethodGet {
			to = r.URL.RequestURI()
		}
		http.Redirect(w, r, a.SignIn(to), http.StatusSeeOther)
		return
	}
	a.fail(w, r, err)
}
