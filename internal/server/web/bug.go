package web

import (
	"fmt"
	"net/http"
	"time"

	"tas-service/internal/account"
	"tas-service/internal/bug"
	"tas-service/internal/fault"
	"tas-service/internal/secret"
)

// BugURL answers the address of a bug's page.
func BugURL(appURL string, keys *secret.Keyring, now func() time.Time) func(bug.Bug) string {
	return func(b bug.Bug) string {
		return fmt.Sprintf("%s/bugs/%s/%s/%s", appURL, b.ProjectID, b.Key(), keys.Sign(bugPurpose, b.ProjectID+"/"+b.Key(), expiry(now())))
	}
}

// bugPage is what the page of a bug shows.
type bugPage struct {
	Bug      bug.Bug
	FirstRun string // addresses
	LastRun  string
}

func (a *App) bug(w http.ResponseWriter, r *http.Request) {
	projectID, key := r.PathValue("project"), r.PathValue("key")
	if err := a.Keys.Verify(bugPurpose, projectID+"/"+key, r.PathValue("token"), a.Now()); err != nil {
		a.notFound(w, r, "This link is not valid, or it has expired. Ask the API for the project's bugs to get a new one.")
		return
	}
	b, err := a.Bugs.Get(r.Context(), account.Actor{ProjectID: projectID, Via: account.ViaKey}, key)
	switch {
	case fault.KindOf(err) == fault.NotFound:
		a.notFound(w, r, "This bug does not exist any more.")
		return
	case err != nil:
		a.fail(w, r, err)
		return
	}
	a.show(w, r, http.StatusOK, "bug", Page{Title: b.Key() + " · " + b.Title, Data: &bugPage{Bug: b, FirstRun: a.Runs.PageURL(b.FirstRunID), LastRun: a.Runs.PageURL(b.LastRunID)}})
}
