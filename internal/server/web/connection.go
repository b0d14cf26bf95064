package web

import (
	"crypto/rand"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"tas-service/internal/checkout"
	"tas-service/internal/fault"
	"tas-service/internal/forge"
	"tas-service/internal/pull"
)

// mountConnection registers the settings of pull requests.
func (a *App) mountConnection(mux *http.ServeMux) {
	const at = "/projects/{slug}/settings/pulls"
	mux.HandleFunc("GET "+at, a.inProject(a.connection))
	mux.HandleFunc("POST "+at, a.inProject(a.saveConnection))
	mux.HandleFunc("POST "+at+"/check", a.inProject(a.checkConnection))
	mux.HandleFunc("POST "+at+"/secret", a.inProject(a.newHookSecret))
}

// connectionPage is how a project takes part in pull requests.
type connectionPage struct {
	Connection pull.Connection
	Local      bool
	Kinds      []forge.Kind
	Hooks      []hookAddress
	NewSecret  string // in clear, once
	Checked    findings
	Trouble    *fault.Error
}

// hookAddress is where one kind of forge sends its webhooks.
type hookAddress struct {
	Kind forge.Kind
	URL  string
}

// Sources answers the application's repositories, one in a line.
func (p connectionPage) Sources() string { return strings.Join(p.Connection.Sources, "\n") }

func (a *App) connection(w http.ResponseWriter, r *http.Request, v *visit) error {
	return a.showConnection(w, r, v, http.StatusOK, connectionPage{}, true)
}

func (a *App) showConnection(w http.ResponseWriter, r *http.Request, v *visit, status int, p connectionPage, read bool) error {
	kept, err := a.Pulls.Connection(r.Context(), *v.Viewer, v.Project.ID)
	if err != nil {
		return err
	}
	if read {
		p.Connection = kept
	} else { // as it was entered, but for secrets
		p.Connection.Token, p.Connection.App.Key, p.Connection.SigningKey, p.Connection.HookSecret = kept.Token, kept.App.Key, kept.SigningKey, kept.HookSecret
	}
	p.Local = v.Project.Repository.Local()
	for _, k := range forge.Kinds() {
		if k != forge.Local {
			p.Kinds = append(p.Kinds, k)
			p.Hooks = append(p.Hooks, hookAddress{k, a.BaseURL + "/hooks/" + string(k)})
		}
	}
	a.show(w, r, status, "pulls/connection", Page{Title: "Pull requests", Area: "settings", Crumbs: settingsCrumbs(v, "Pull requests"), Data: p})
	return nil
}

func (a *App) saveConnection(w http.ResponseWriter, r *http.Request, v *visit) error {
	field := func(name string) string { return strings.TrimSpace(r.PostFormValue(name)) }
	var entered pull.Connection
	err := a.Pulls.Update(r.Context(), *v.Viewer, v.Project.ID, func(c *pull.Connection) error {
		bad := fault.New(fault.Invalid, "The connection cannot be kept so.").WithFix("Correct the fields named below.")
		number := func(name string) int64 {
			if field(name) == "" {
				return 0
			}
			n, err := strconv.ParseInt(field(name), 10, 64)
			if err != nil || n < 1 {
				bad.At(name, "a whole number, as GitHub shows it")
			}
			return n
		}
		secret := func(into *string, name string) {
			if given := field(name); given != "" {
				*into = given
			} else if r.PostFormValue("forget-"+name) == "yes" {
				*into = ""
			}
		}
		c.Kind, c.URL = forge.Kind(field("kind")), strings.TrimSuffix(field("url"), "/")
		c.App.ID, c.App.InstallationID = number("app"), number("installation")
		secret(&c.Token, "token")
		secret(&c.App.Key, "appKey")
		secret(&c.SigningKey, "signingKey")
		if c.App.ID == 0 && c.App.InstallationID == 0 {
			c.App.Key = ""
		}
		c.Sources = slices.Compact(strings.Fields(strings.ReplaceAll(r.PostFormValue("sources"), ",", " ")))
		c.Author = checkout.Person{Name: field("authorName"), Email: field("authorEmail")}
		c.Committer = checkout.Person{Name: field("committerName"), Email: field("committerEmail")}
		c.Quiet, c.Deaf = r.PostFormValue("tell") != "yes", r.PostFormValue("obey") != "yes"
		entered = *c
		if len(bad.Details) > 0 {
			return bad
		}
		return nil
	})
	if err != nil && fault.KindOf(err) == fault.Invalid {
		return a.showConnection(w, r, v, http.StatusBadRequest, connectionPage{Connection: entered, Trouble: fault.As(err)}, false)
	}
	if err != nil {
		return err
	}
	done(w, r, v.base()+"/settings/pulls", "Saved. Check the connection to see whether the forge takes it.")
	return nil
}

func (a *App) checkConnection(w http.ResponseWriter, r *http.Request, v *visit) error {
	found, err := a.Pulls.CheckConnection(r.Context(), *v.Viewer, v.Project.ID)
	if err != nil {
		return err
	}
	return a.showConnection(w, r, v, http.StatusOK, connectionPage{Checked: found}, true)
}

// newHookSecret makes a secret for webhooks and shows it this once.
func (a *App) newHookSecret(w http.ResponseWriter, r *http.Request, v *visit) error {
	fresh := rand.Text()
	if err := a.Pulls.Update(r.Context(), *v.Viewer, v.Project.ID, func(c *pull.Connection) error { c.HookSecret = fresh; return nil }); err != nil {
		return err
	}
	return a.showConnection(w, r, v, http.StatusOK, connectionPage{NewSecret: fresh}, true)
}
