package web

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"tas-service/internal/account"
	"tas-service/internal/fault"
	"tas-service/internal/project"
)

// mountSettings registers the pages of a project's members and settings.
func (a *App) mountSettings(mux *http.ServeMux) {
	const at = "/projects/{slug}"
	mux.HandleFunc("GET "+at+"/members", a.inProject(a.members))
	mux.HandleFunc("POST "+at+"/members/invitations", a.inProject(a.invite))
	mux.HandleFunc("POST "+at+"/members/invitations/{id}/withdraw", a.inProject(a.withdraw))
	mux.HandleFunc("POST "+at+"/members/{id}/role", a.inProject(a.setRole))
	mux.HandleFunc("POST "+at+"/members/{id}/remove", a.inProject(a.removeMember))
	mux.HandleFunc("GET "+at+"/settings", a.inProject(a.settings))
	mux.HandleFunc("GET "+at+"/settings/audit", a.inProject(a.audit))
	mux.HandleFunc("POST "+at+"/settings/general", a.inProject(a.saveGeneral))
	mux.HandleFunc("POST "+at+"/settings/repository", a.inProject(a.saveRepository))
	mux.HandleFunc("POST "+at+"/settings/repository/check", a.inProject(a.checkRepository))
	mux.HandleFunc("POST "+at+"/settings/runs", a.inProject(a.saveRuns))
	mux.HandleFunc("POST "+at+"/settings/key/show", a.inProject(a.showKey))
	mux.HandleFunc("POST "+at+"/settings/key/rotate", a.inProject(a.rotateKey))
	mux.HandleFunc("GET "+at+"/settings/environments/{id}", a.inProject(a.environmentPage))
	mux.HandleFunc("POST "+at+"/settings/environments/{id}", a.inProject(a.saveEnvironment))
	mux.HandleFunc("POST "+at+"/settings/environments/{id}/default", a.inProject(a.defaultEnvironment))
	mux.HandleFunc("POST "+at+"/settings/environments/{id}/remove", a.inProject(a.removeEnvironment))
}

func settingsCrumbs(v *visit, name string) []Crumb {
	base := projectURL(v.Project.Slug)
	crumbs := []Crumb{{v.Project.Name, base + "/runs"}, {"Settings", base + "/settings"}}
	if name == "" {
		crumbs[1].URL = ""
		return crumbs
	}
	return append(crumbs, Crumb{name, ""})
}

// settingsPage is what can be set of a project.
type settingsPage struct {
	Project      project.Project // as it is kept, or as it was entered and is wrong
	Environments []project.Environment
	Levels       []string
	HasToken     bool
	KeyHint      string
	KeyMade      time.Time
	CanShowKey   bool
	Key          string // in clear, once it was asked for
	Rotated      bool
	BaseURL      string
	Checked      findings
	Trouble      *fault.Error
	Wrong        string // the section that Trouble is about
	KeepDays     int    // of the installation
	MaxWorkers   int
}

// findings are what a check found.
type findings []project.Finding

// Broken reports whether something is wrong.
func (all findings) Broken() bool {
	return slices.ContainsFunc(all, func(f project.Finding) bool { return !f.OK })
}

// Minutes answers the longest run in minutes, 0 for the default.
func (p settingsPage) Minutes() int { return int(p.Project.RunLimit.Minutes()) }

// Quota answers the disk quota in MiB, 0 for the default.
func (p settingsPage) Quota() int64 { return p.Project.DiskQuota >> 20 }

// Defaults of the numbers.
func (p settingsPage) DefaultMinutes() int { return int(project.DefaultRunLimit.Minutes()) }
func (p settingsPage) DefaultQuota() int64 { return project.DefaultDiskQuota >> 20 }

func (a *App) settings(w http.ResponseWriter, r *http.Request, v *visit) error {
	return a.showSettings(w, r, v, http.StatusOK, settingsPage{Project: *v.Project})
}

func (a *App) showSettings(w http.ResponseWriter, r *http.Request, v *visit, status int, p settingsPage) error {
	key, can, err := a.Settings.Key(r.Context(), *v.Viewer, v.Project.ID)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return err
	}
	if err != nil { // none is valid, or it is not for this viewer
		if err := v.Actor.MayAs(account.RoleAdministrator, v.Project.ID, "project"); err != nil {
			return err
		}
	}
	p.KeyHint, p.KeyMade, p.CanShowKey, p.BaseURL, p.KeepDays, p.MaxWorkers = key.Hint, key.CreatedAt, can, a.BaseURL, a.KeepDays, project.MaxWorkers
	p.Levels, p.HasToken = a.Levels, v.Project.Repository.Token != ""
	p.Project.Repository.Token = "" // no page has any use for it
	if p.Environments, err = a.Settings.Environments(r.Context(), *v.Viewer, v.Project.ID); err != nil {
		return err
	}
	a.show(w, r, status, "accounts/settings", Page{Title: "Settings", Area: "settings", Crumbs: settingsCrumbs(v, ""), Data: p})
	return nil
}

// save changes settings; what is wrong with them is shown beside the section.
func (a *App) save(w http.ResponseWriter, r *http.Request, v *visit, section string, change func(*project.Project) error) error {
	entered := *v.Project
	err := a.Settings.Update(r.Context(), *v.Viewer, v.Project.ID, section, func(p *project.Project) error {
		err := change(p)
		entered = *p
		return err
	})
	if err != nil && fault.KindOf(err) == fault.Invalid {
		return a.showSettings(w, r, v, http.StatusBadRequest, settingsPage{Project: entered, Trouble: fault.As(err), Wrong: section})
	}
	if err != nil {
		return err
	}
	done(w, r, projectURL(v.Project.Slug)+"/settings#"+section, "Saved.")
	return nil
}

func (a *App) saveGeneral(w http.ResponseWriter, r *http.Request, v *visit) error {
	return a.save(w, r, v, "general", func(p *project.Project) error { p.Name = r.PostFormValue("name"); return nil })
}

// repositoryOf reads a tests repository from a form. An empty token keeps the one that
// there is, unless it is to be forgotten.
func repositoryOf(r *http.Request, into *project.Repository) {
	was := into.URL
	into.URL, into.Branch, into.Dir = strings.TrimSpace(r.PostFormValue("url")), strings.TrimSpace(r.PostFormValue("branch")), strings.Trim(strings.TrimSpace(r.PostFormValue("dir")), "/")
	switch token := strings.TrimSpace(r.PostFormValue("token")); {
	case token != "":
		into.Token = token
	case r.PostFormValue("forget") == "yes" || was != "" && hostOf(was) != hostOf(into.URL):
		// A token is for one host; whoever enters another one's address must not be sent it.
		into.Token = ""
	}
}

func (a *App) saveRepository(w http.ResponseWriter, r *http.Request, v *visit) error {
	return a.save(w, r, v, "repository", func(p *project.Project) error { repositoryOf(r, &p.Repository); return nil })
}

func (a *App) checkRepository(w http.ResponseWriter, r *http.Request, v *visit) error {
	found, err := a.Settings.CheckRepository(r.Context(), *v.Viewer, v.Project.ID)
	if err != nil {
		return err
	}
	return a.showSettings(w, r, v, http.StatusOK, settingsPage{Project: *v.Project, Checked: found})
}

func (a *App) saveRuns(w http.ResponseWriter, r *http.Request, v *visit) error {
	return a.save(w, r, v, "runs", func(p *project.Project) error {
		bad := fault.New(fault.Invalid, "These numbers cannot be kept.").WithFix("Correct the fields named below; 0 takes the installation's default.")
		number := func(name string, most int) int {
			text := strings.TrimSpace(r.PostFormValue(name))
			if text == "" {
				return 0
			}
			n, err := strconv.Atoi(text)
			if err != nil || n < 0 || n > most {
				bad.At(name, "a whole number from 0 to %d", most)
				return 0
			}
			return n
		}
		p.Workers = number("workers", project.MaxWorkers)
		p.RunLimit = time.Duration(number("minutes", 24*60)) * time.Minute
		p.DiskQuota = int64(number("quota", 1<<20)) << 20
		p.KeepDays = number("keep", 3650)
		p.MinIsolation = r.PostFormValue("isolation")
		p.Recovery = r.PostFormValue("recovery") == "yes"
		if p.MinIsolation != "" && !has(a.Levels, p.MinIsolation) {
			bad.At("isolation", "one of %s", strings.Join(a.Levels, ", "))
		}
		if len(bad.Details) > 0 {
			return bad
		}
		return nil
	})
}

func has(all []string, one string) bool {
	for _, x := range all {
		if x == one {
			return true
		}
	}
	return false
}

func (a *App) showKey(w http.ResponseWriter, r *http.Request, v *visit) error {
	key, err := a.Settings.ShowKey(r.Context(), *v.Viewer, v.Project.ID)
	if err != nil {
		return err
	}
	return a.showSettings(w, r, v, http.StatusOK, settingsPage{Project: *v.Project, Key: key})
}

func (a *App) rotateKey(w http.ResponseWriter, r *http.Request, v *visit) error {
	if r.PostFormValue("sure") != "yes" {
		return fault.New(fault.Invalid, "The key was not rotated: say that you are sure.").WithFix("Tick the box, then rotate.")
	}
	key, err := a.Settings.RotateKey(r.Context(), *v.Viewer, v.Project.ID)
	if err != nil {
		return err
	}
	return a.showSettings(w, r, v, http.StatusOK, settingsPage{Project: *v.Project, Key: key, Rotated: true})
}

// environmentForm is an environment as it is changed.
type environmentForm struct {
	Environment project.Environment
	Variables   string // NAME=value, one on each line
	Trouble     *fault.Error
	Read        bool // only to be read
}

// newEnvironment stands for an ID where one is to be made.
const newEnvironment = "new"

func (a *App) environmentOf(r *http.Request, v *visit) (project.Environment, error) {
	id := r.PathValue("id")
	if id == newEnvironment {
		return project.Environment{ProjectID: v.Project.ID}, nil
	}
	es, err := a.Settings.Environments(r.Context(), *v.Viewer, v.Project.ID)
	for _, e := range es {
		if e.ID == id {
			return e, nil
		}
	}
	return project.Environment{}, errors.Join(err, fault.New(fault.NotFound, "There is no such environment in this project.").WithFix("The settings list those that there are."))
}

func (a *App) environmentPage(w http.ResponseWriter, r *http.Request, v *visit) error {
	e, err := a.environmentOf(r, v)
	if err != nil {
		return err
	}
	return a.showEnvironment(w, r, v, http.StatusOK, environmentForm{Environment: e, Variables: linesOf(e.Variables)})
}

func (a *App) showEnvironment(w http.ResponseWriter, r *http.Request, v *visit, status int, f environmentForm) error {
	if err := v.Actor.MayAs(account.RoleAdministrator, v.Project.ID, "project"); err != nil {
		return err
	}
	title := "New environment"
	if f.Environment.ID != "" {
		title = "Environment " + f.Environment.Name
	}
	a.show(w, r, status, "accounts/environment", Page{Title: title, Area: "settings", Crumbs: settingsCrumbs(v, title), Data: f})
	return nil
}

func (a *App) saveEnvironment(w http.ResponseWriter, r *http.Request, v *visit) error {
	e, err := a.environmentOf(r, v)
	if err != nil {
		return err
	}
	f := environmentForm{Environment: e, Variables: r.PostFormValue("variables")}
	f.Environment.Name = r.PostFormValue("name")
	set := map[string]string{}
	if f.Environment.Variables, err = readLines(f.Variables); err == nil {
		if name := strings.TrimSpace(r.PostFormValue("secret")); name != "" {
			set[name] = r.PostFormValue("value")
		}
		err = a.Settings.SaveEnvironment(r.Context(), *v.Viewer, f.Environment, set, r.PostForm["drop"])
	}
	if k := fault.KindOf(err); err != nil && (k == fault.Invalid || k == fault.Conflict) {
		f.Trouble = fault.As(err)
		return a.showEnvironment(w, r, v, statusOf(w, r, err), f)
	}
	if err != nil {
		return err
	}
	to := projectURL(v.Project.Slug) + "/settings"
	if e.ID != "" {
		to += "/environments/" + e.ID
	}
	done(w, r, to, fmt.Sprintf("The environment %s is saved. Runs that begin from now on get it.", f.Environment.Name))
	return nil
}

func (a *App) defaultEnvironment(w http.ResponseWriter, r *http.Request, v *visit) error {
	if err := a.Settings.SetDefaultEnvironment(r.Context(), *v.Viewer, v.Project.ID, r.PathValue("id")); err != nil {
		return err
	}
	done(w, r, projectURL(v.Project.Slug)+"/settings#environments", "Runs that name no environment get this one now.")
	return nil
}

func (a *App) removeEnvironment(w http.ResponseWriter, r *http.Request, v *visit) error {
	if err := a.Settings.DropEnvironment(r.Context(), *v.Viewer, v.Project.ID, r.PathValue("id")); err != nil {
		return err
	}
	done(w, r, projectURL(v.Project.Slug)+"/settings#environments", "The environment is removed, with its secrets.")
	return nil
}
