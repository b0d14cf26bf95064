package web

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"tas-service/internal/account"
	"tas-service/internal/action"
	"tas-service/internal/fault"
	"tas-service/internal/notify"
)

const notificationsTitle = "Notifications"

func (a *App) notifications(w http.ResponseWriter, r *http.Request, v *visit) error {
	ds, err := a.Notify.List(r.Context(), *v.Viewer, v.Project.ID)
	if err != nil {
		return err
	}
	a.show(w, r, http.StatusOK, "outside/destinations", Page{Title: notificationsTitle, Area: "settings", Crumbs: settingsCrumbs(v, notificationsTitle), Data: ds})
	return nil
}

// destinationForm is a destination as it is changed.
type destinationForm struct {
	D          notify.Destination
	To         string // one on each line
	Branches   string // one on each line
	Types      []notify.Type
	Kinds      []notify.Kind // offered for a new one
	Key        string        // in clear, once it was made
	Rotated    bool
	Deliveries []action.Action
	Trouble    *fault.Error
}

// Wants reports whether an event is chosen.
func (f destinationForm) Wants(t notify.Type) bool {
	for _, x := range f.D.Filter.Events {
		if x == t {
			return true
		}
	}
	return false
}

// deliveriesShown is how many messages a destination's page lists.
const deliveriesShown = 50

// newDestination stands for an ID where one is to be made.
const newDestination = "new"

func (a *App) destinationOf(r *http.Request, v *visit) (notify.Destination, error) {
	if r.PathValue("id") == newDestination {
		return notify.Destination{ProjectID: v.Project.ID, Kind: notify.Webhook, Filter: notify.Filter{Events: []notify.Type{notify.RunFinished}}},
			v.Actor.MayAs(account.RoleAdministrator, v.Project.ID, "project")
	}
	return a.Notify.Get(r.Context(), *v.Viewer, v.Project.ID, r.PathValue("id"))
}

func (a *App) destinationPage(w http.ResponseWriter, r *http.Request, v *visit) error {
	d, err := a.destinationOf(r, v)
	if err != nil {
		return err
	}
	return a.showDestination(w, r, v, http.StatusOK, destinationForm{D: d, To: strings.Join(d.To, "\n"), Branches: strings.Join(d.Filter.Branches, "\n")})
}

func (a *App) showDestination(w http.ResponseWriter, r *http.Request, v *visit, status int, f destinationForm) error {
	title := "New destination"
	f.Types, f.Kinds = notify.Types(), a.Notify.Offered()
	f.D.Secrets = notify.Secrets{} // no page has any use for them
	if f.D.ID != "" {
		title = "Notifications to " + f.D.Name
		var err error
		if f.Deliveries, err = a.Notify.Deliveries(r.Context(), *v.Viewer, v.Project.ID, f.D.ID, deliveriesShown); err != nil {
			return err
		}
	}
	base := projectURL(v.Project.Slug) + "/settings"
	a.show(w, r, status, "outside/destination", Page{Title: title, Area: "settings", Crumbs: []Crumb{{v.Project.Name, v.base() + "/runs"}, {"Settings", base}, {notificationsTitle, base + "/notifications"}, {title, ""}}, Data: f})
	return nil
}

// lines answers the lines of a text field that have something.
func lines(text string) (out []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

func (a *App) saveDestination(w http.ResponseWriter, r *http.Request, v *visit) error {
	d, err := a.destinationOf(r, v)
	if err != nil {
		return err
	}
	if d.ID == "" {
		d.Kind = notify.Kind(r.PostFormValue("kind"))
	}
	f := destinationForm{D: d, To: r.PostFormValue("to"), Branches: r.PostFormValue("branches")}
	f.D.Name, f.D.To = r.PostFormValue("name"), lines(f.To)
	f.D.Filter = notify.Filter{OnlyFailures: r.PostFormValue("failures") == "yes", OnlyChanges: r.PostFormValue("changes") == "yes", Branches: lines(f.Branches)}
	for _, e := range r.PostForm["event"] {
		f.D.Filter.Events = append(f.D.Filter.Events, notify.Type(e))
	}
	f.D.Secrets = notify.Secrets{URL: strings.TrimSpace(r.PostFormValue("url"))}
	saved, key, err := a.Notify.Save(r.Context(), *v.Viewer, f.D)
	if k := fault.KindOf(err); err != nil && (k == fault.Invalid || k == fault.Conflict) {
		f.Trouble = fault.As(err)
		return a.showDestination(w, r, v, statusOf(w, r, err), f)
	}
	if err != nil {
		return err
	}
	if key != "" { // it is shown this once, so no page may come between
		f.D, f.Key = saved, key
		return a.showDestination(w, r, v, http.StatusOK, f)
	}
	done(w, r, v.base()+"/settings/notifications/"+saved.ID, "Saved. It holds for what happens from now on.")
	return nil
}

// changeDestination takes the other forms of a destination's page.
func (a *App) changeDestination(w http.ResponseWriter, r *http.Request, v *visit) error {
	ctx, id, at := r.Context(), r.PathValue("id"), v.base()+"/settings/notifications"
	switch r.PathValue("act") {
	case "test":
		x, err := a.Notify.SendTest(ctx, *v.Viewer, v.Project.ID, id)
		if err != nil {
			return err
		}
		f := a.cameOf(ctx, v, x.ID)
		SetFlash(w, r, f)
		done(w, r, at+"/"+id+"#deliveries", "")
		return nil
	case "rotate":
		key, err := a.Notify.Rotate(ctx, *v.Viewer, v.Project.ID, id)
		if err != nil {
			return err
		}
		d, err := a.Notify.Get(ctx, *v.Viewer, v.Project.ID, id)
		if err != nil {
			return err
		}
		return a.showDestination(w, r, v, http.StatusOK, destinationForm{D: d, Key: key, Rotated: true, Branches: strings.Join(d.Filter.Branches, "\n")})
	case "remove":
		if err := a.Notify.Remove(ctx, *v.Viewer, v.Project.ID, id); err != nil {
			return err
		}
		done(w, r, at, "The destination is removed, with its secrets.")
		return nil
	}
	return fault.New(fault.NotFound, "There is no such form.").WithFix("Load the page of the destination again.")
}

// How long a person is kept waiting for the answer to a test message, and how often it is
// looked for: another service may be the one that sends it.
const (
	testWait = 6 * time.Second
	testLook = 100 * time.Millisecond
)

// cameOf waits for what comes of a test message.
func (a *App) cameOf(ctx context.Context, v *visit, id string) Flash {
	ctx, cancel := context.WithTimeout(ctx, testWait)
	defer cancel()
	for {
		x, err := a.Actions.Get(ctx, *v.Viewer, v.Project.ID, id)
		switch {
		case err != nil:
		case x.State == action.Done:
			return Flash{Text: fmt.Sprintf("The test message was taken: %s", firstLine(x.Answer, 200))}
		case x.Tries > 0:
			return Flash{Bad: true, Text: fmt.Sprintf("The test message was not taken: %s", firstLine(x.Answer, 200))}
		}
		select {
		case <-ctx.Done():
			return Flash{Bad: true, Text: "The test message has no answer yet. Load the page again in a moment: it is among the deliveries below."}
		case <-time.After(testLook):
		}
	}
}
