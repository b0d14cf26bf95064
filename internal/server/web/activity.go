package web

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"tas-service/internal/account"
	"tas-service/internal/action"
	"tas-service/internal/fault"
)

// mountOutside registers the pages of what is done to the outside.
func (a *App) mountOutside(mux *http.ServeMux) {
	const at = "/projects/{slug}"
	if a.Actions != nil {
		mux.HandleFunc("GET "+at+"/activity", a.inProject(a.activity))
		mux.HandleFunc("GET "+at+"/activity/{id}", a.inProject(a.actionPage))
		mux.HandleFunc("POST "+at+"/activity/{id}/{act}", a.inProject(a.decide))
		mux.HandleFunc("POST "+at+"/settings/approval", a.inProject(a.saveApproval))
	}
	if a.Notify != nil {
		mux.HandleFunc("GET "+at+"/settings/notifications", a.inProject(a.notifications))
		mux.HandleFunc("GET "+at+"/settings/notifications/{id}", a.inProject(a.destinationPage))
		mux.HandleFunc("POST "+at+"/settings/notifications/{id}", a.inProject(a.saveDestination))
		mux.HandleFunc("POST "+at+"/settings/notifications/{id}/{act}", a.inProject(a.changeDestination))
	}
}

// waiting answers how many actions wait for a person in the project that is looked at.
func (a *App) waiting(ctx context.Context, v *view) int {
	if a.Actions == nil || v.Project == nil || v.Open != "" || v.Viewer == nil {
		return 0
	}
	n, err := a.Actions.Waiting(ctx, v.Project.ID)
	if err != nil {
		a.Log.Warn("what waits for approval cannot be counted", "error", err) // the page is fine without
	}
	return n
}

// activityShown is how many actions a page lists.
const activityShown = 50

// activityPage is what was done to the outside.
type activityPage struct {
	Actions     []action.Action
	Kinds       []action.Kind
	States      []action.State
	Q           url.Values
	Filtered    bool
	Prev, Next  string
	Policy      action.Policy
	Policies    []action.Policy
	Administers bool
}

func (a *App) activity(w http.ResponseWriter, r *http.Request, v *visit) error {
	ctx, q := r.Context(), r.URL.Query()
	p := activityPage{Kinds: action.Kinds(), States: action.States(), Q: q, Filtered: q.Get("kind") != "" || q.Get("state") != "", Policies: action.Policies(),
		Administers: v.Actor.Role.Includes(account.RoleAdministrator)}
	as, next, err := a.Actions.List(ctx, *v.Viewer, action.Query{ProjectID: v.Project.ID, Kind: action.Kind(q.Get("kind")), State: action.State(q.Get("state")), Before: q.Get("before"), Limit: activityShown})
	if err != nil {
		return err
	}
	p.Actions = as
	if next != "" {
		p.Next = with(q, "before", next)
	}
	if q.Get("before") != "" {
		p.Prev = with(q, "before", "")
	}
	if p.Policy, err = a.Actions.Policy(ctx, *v.Viewer, v.Project.ID); err != nil {
		return err
	}
	a.show(w, r, http.StatusOK, "outside/list", Page{Title: "Activity", Area: "activity", Data: p})
	return nil
}

// actionPage is one action.
type actionData struct {
	Action action.Action
	Wish   string // indented
	URL    string // of what is there now
	Back   string
	// What may be done, by the state that it is in.
	Approvable, Rejectable, Retryable bool
}

func (a *App) actionPage(w http.ResponseWriter, r *http.Request, v *visit) error {
	x, err := a.Actions.Get(r.Context(), *v.Viewer, v.Project.ID, r.PathValue("id"))
	if err != nil {
		return err
	}
	d := actionData{Action: x, Wish: indented(x.Wish), URL: linkOf(x.Result), Back: v.base() + "/activity",
		Approvable: x.State == action.Waiting || x.State == action.Rejected, Rejectable: x.State == action.Waiting || x.State == action.Pending,
		Retryable: x.State == action.Failed || x.State == action.Pending && x.Tries > 0}
	a.show(w, r, http.StatusOK, "outside/action", Page{Title: lookOf(x.State).Text + " · " + firstLine(x.About, 80), Area: "activity",
		Crumbs: []Crumb{{"Activity", d.Back}, {Name: string(x.Kind)}}, Data: d})
	return nil
}

// linkOf answers the address that a result has of what is there now, "" for none that a
// page may link to.
func linkOf(result json.RawMessage) string {
	var x struct {
		URL string `json:"url"`
	}
	if json.Unmarshal(result, &x) != nil {
		return ""
	}
	if u, err := url.Parse(x.URL); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	return x.URL
}

// maxWishShown bounds what a page shows of a wish, in bytes.
const maxWishShown = 64 << 10

func indented(wish json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Indent(&b, wish, "", "  "); err != nil {
		return ""
	}
	text := b.String()
	if len(text) > maxWishShown {
		text = strings.ToValidUTF8(text[:maxWishShown], "") + "\n… and more"
	}
	return text
}

// decide takes one of the forms of an action's page.
func (a *App) decide(w http.ResponseWriter, r *http.Request, v *visit) error {
	ctx, id, text := r.Context(), r.PathValue("id"), ""
	version, err := strconv.Atoi(r.PostFormValue("version"))
	if err != nil || version < 1 {
		version = -1 // no version of any action
	}
	switch r.PathValue("act") {
	case "approve":
		err, text = a.Actions.Approve(ctx, *v.Viewer, v.Project.ID, id, version), "Approved: it is done now."
	case "reject":
		err, text = a.Actions.Reject(ctx, *v.Viewer, v.Project.ID, id, version), "Rejected: it is not done."
	case "retry":
		err, text = a.Actions.Retry(ctx, *v.Viewer, v.Project.ID, id), "It is tried again now."
	default:
		err = fault.New(fault.NotFound, "There is no such form.").WithFix("Load the page of the action again.")
	}
	if err != nil {
		return err
	}
	done(w, r, v.base()+"/activity/"+url.PathEscape(id), text)
	return nil
}

func (a *App) saveApproval(w http.ResponseWriter, r *http.Request, v *visit) error {
	if err := a.Actions.SetPolicy(r.Context(), *v.Viewer, v.Project.ID, action.Policy(r.PostFormValue("policy"))); err != nil {
		return err
	}
	done(w, r, v.base()+"/activity#approval", "Saved. It holds for what is asked for from now on.")
	return nil
}
