package web

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"tas-service/internal/account"
	"tas-service/internal/fault"
)

// flowCookie holds a sign-in under way at a provider, sealed, for as long as one takes.
const (
	flowCookie  = "tas_flow"
	flowPurpose = "sign-in-flow"
	flowFor     = 15 * time.Minute
	flowPath    = "/sign-in/oidc"
)

// Callback is where a provider sends browsers back to.
const Callback = flowPath + "/callback"

func (a *App) flow(value string, age time.Duration) *http.Cookie {
	return &http.Cookie{Name: flowCookie, Value: value, Path: flowPath, MaxAge: int(age.Seconds()), HttpOnly: true, Secure: a.secure(), SameSite: http.SameSiteLaxMode}
}

func (a *App) mountProvider(mux *http.ServeMux) {
	mux.HandleFunc("GET "+flowPath, a.open(a.beginFlow))
	mux.HandleFunc("GET "+Callback, a.open(a.endFlow))
}

// providerName answers whom one can sign in with beside a password, "" for nobody.
func (a *App) providerName() string {
	if a.Provider == nil {
		return ""
	}
	return a.Provider.Name()
}

func (a *App) beginFlow(w http.ResponseWriter, r *http.Request) error {
	f := account.Flow{State: rand.Text(), Nonce: rand.Text(), Verifier: rand.Text() + rand.Text(), Next: localPath(r.URL.Query().Get("next"))}
	address, err := a.Provider.Begin(r.Context(), f)
	if err != nil {
		return err
	}
	text, err := json.Marshal(f)
	if err != nil {
		return fault.Wrap(err, fault.Internal, "keep a sign-in")
	}
	until := strconv.FormatInt(a.Now().Add(flowFor).Unix(), 10)
	http.SetCookie(w, a.flow(until+"!"+a.Keys.Seal(flowPurpose, until, string(text)), flowFor))
	http.Redirect(w, r, address, http.StatusSeeOther)
	return nil
}

// flowOf answers the sign-in that this browser began.
func (a *App) flowOf(r *http.Request) (f account.Flow, err error) {
	gone := fault.New(fault.Unauthenticated, "This sign-in was not begun in this browser, or too long ago.").WithFix("Begin it again from the start.")
	c, err := r.Cookie(flowCookie)
	if err != nil {
		return f, gone
	}
	until, sealed, _ := strings.Cut(c.Value, "!")
	text, err := a.Keys.Open(flowPurpose, until, sealed)
	if err != nil || json.Unmarshal([]byte(text), &f) != nil {
		return f, gone
	}
	if ends, err := strconv.ParseInt(until, 10, 64); err != nil || a.Now().Unix() > ends || f.State == "" || f.State != r.URL.Query().Get("state") {
		return f, gone
	}
	return f, nil
}

func (a *App) endFlow(w http.ResponseWriter, r *http.Request) error {
	f, err := a.flowOf(r)
	http.SetCookie(w, a.flow("", -time.Second)) // it can be ended once
	if err != nil {
		return err
	}
	if code := r.URL.Query().Get("error"); code != "" {
		return fault.New(fault.Unauthenticated, "%s did not sign you in (%.60s).", a.Provider.Name(), code).WithFix("Begin the sign-in again, or use a password.")
	}
	claims, err := a.Provider.Finish(r.Context(), f, r.URL.Query().Get("code"))
	if err != nil {
		return err
	}
	token, to := linkToken(f.Next)
	session, err := a.People.Vouched(r.Context(), claims, token, a.SignUp, client(r))
	if err != nil {
		return err
	}
	a.begin(w, r, session, to)
	return nil
}

// linkToken answers the token of a link that somebody signs in for, and where to go then.
func linkToken(next string) (token, to string) {
	for _, page := range []string{"/invitations/", "/welcome/"} {
		if token, ok := strings.CutPrefix(next, page); ok {
			return token, "/"
		}
	}
	return "", next
}
