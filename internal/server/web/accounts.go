package web

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"tas-service/internal/account"
	"tas-service/internal/fault"
	"tas-service/internal/server/route"
)

// sessionCookie holds a session's token. Over HTTPS its name makes browsers refuse one
// that another host or a page without HTTPS set.
const (
	sessionCookie = "tas"
	secureCookie  = "__Host-tas"
)

// cookieFor is as long as browsers keep any cookie; when a session ends, the service decides.
const cookieFor = 400 * 24 * time.Hour

func (a *App) secure() bool { return strings.HasPrefix(a.AppURL, "https://") }

func (a *App) cookie(token string, age time.Duration) *http.Cookie {
	c := &http.Cookie{Name: sessionCookie, Value: token, Path: "/", MaxAge: int(age.Seconds()), HttpOnly: true, SameSite: http.SameSiteLaxMode}
	if a.secure() {
		c.Name, c.Secure = secureCookie, true
	}
	return c
}

// viewerOf answers whose session a request belongs to: fault.Unauthenticated for none.
func (a *App) viewerOf(r *http.Request) (account.Viewer, error) {
	var token string
	if c, err := r.Cookie(a.cookie("", 0).Name); err == nil {
		token = c.Value
	}
	return a.People.ViewerOf(r.Context(), token, route.RemoteAddress(r.Context()))
}

// signInAt answers where one signs in to come to an address after it.
func signInAt(to string) string {
	if to = localPath(to); to == "/" {
		return "/sign-in"
	}
	return "/sign-in?next=" + url.QueryEscape(to)
}

// localPath answers an address within the web app as it is, and "/" for all others: a link
// to our sign-in must not lead on to somebody else's page.
func localPath(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != "" || !strings.HasPrefix(to, "/") || strings.HasPrefix(u.Path, "//") ||
		strings.ContainsFunc(to, func(r rune) bool { return r <= ' ' || r == '\\' || r == 0x7f }) {
		return "/"
	}
	return to
}

// client is the browser that a request came from.
func client(r *http.Request) account.Client {
	return account.Client{Address: route.RemoteAddress(r.Context()), UserAgent: r.UserAgent()}
}

// begin gives the browser a session and sends it on.
func (a *App) begin(w http.ResponseWriter, r *http.Request, token, to string) {
	http.SetCookie(w, a.cookie(token, cookieFor))
	http.Redirect(w, r, localPath(to), http.StatusSeeOther)
}

// Protect refuses what another site's page sends here in the name of somebody who is
// signed in. Requests of programs, which have no cookie, are not its matter.
func (a *App) Protect(next http.Handler) (http.Handler, error) {
	p := http.NewCrossOriginProtection()
	if err := p.AddTrustedOrigin(a.AppURL); err != nil {
		return nil, err
	}
	p.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.fail(w, r, fault.New(fault.Forbidden, "This form was sent from another site's page.").WithFix("Open the page here and send it again. If it was here, the address of the service, TAS_APP_URL, may be another one."))
	}))
	guarded := p.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/public-api/") || strings.HasPrefix(r.URL.Path, "/attempt/") {
			next.ServeHTTP(w, r)
			return
		}
		guarded.ServeHTTP(w, r)
	}), nil
}

// maxForm bounds a form in bytes.
const maxForm = 1 << 20

// form reads a form that was sent.
func form(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		return fault.Wrap(err, fault.Invalid, "The form cannot be read, or it is larger than 1 MiB.").WithFix("Go back and send less.")
	}
	return nil
}

// csrfPurpose is what the token of forms is signed for. It belongs to one session.
const csrfPurpose = "form"

// csrfUntil is later than any session.
var csrfUntil = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)

func (a *App) csrf(r *http.Request) string {
	if v := visitOf(r.Context()); v != nil && v.Viewer != nil {
		return a.Keys.Sign(csrfPurpose, v.Viewer.SessionID, csrfUntil)
	}
	return ""
}

// checkForm answers nil for a form that one of our own pages made for the viewer.
func (a *App) checkForm(w http.ResponseWriter, r *http.Request, v account.Viewer) error {
	if a.People == nil || r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	if err := form(w, r); err != nil {
		return err
	}
	if err := a.Keys.Verify(csrfPurpose, v.SessionID, r.PostFormValue("csrf"), a.Now()); err != nil {
		return fault.Wrap(err, fault.Forbidden, "This form is from another session.").WithFix("Go back, load the page again and send it anew.")
	}
	return nil
}

// mountAccounts registers the pages of signing in, people, projects and settings.
func (a *App) mountAccounts(mux *http.ServeMux) {
	a.Viewer, a.CSRF, a.SignIn = a.viewerOf, a.csrf, signInAt
	mux.HandleFunc("GET /sign-in", a.open(a.signInPage))
	mux.HandleFunc("POST /sign-in", a.open(a.signIn))
	mux.HandleFunc("POST /sign-out", a.signedIn(a.signOut))
	mux.HandleFunc("GET /{$}", a.signedIn(a.projects))
	mux.HandleFunc("GET /new-project", a.signedIn(a.newProjectPage))
	mux.HandleFunc("POST /new-project", a.signedIn(a.newProject))
	mux.HandleFunc("GET /profile", a.signedIn(a.profile))
	mux.HandleFunc("POST /profile/name", a.signedIn(a.rename))
	mux.HandleFunc("POST /profile/password", a.signedIn(a.changePassword))
	mux.HandleFunc("POST /profile/sessions/{id}/revoke", a.signedIn(a.revoke))
	mux.HandleFunc("GET /administration", a.signedIn(a.administration))
	mux.HandleFunc("GET /administration/audit", a.signedIn(a.audit))
	mux.HandleFunc("POST /administration/invitations", a.signedIn(a.inviteAdministrator))
	mux.HandleFunc("POST /administration/invitations/{id}/withdraw", a.signedIn(a.withdrawAdministrator))
	mux.HandleFunc("POST /administration/people/{id}/role", a.signedIn(a.setAdministrator))
	mux.HandleFunc("POST /administration/people/{id}/remove", a.signedIn(a.removePerson))
	a.mountSettings(mux)
	if a.Provider != nil {
		a.mountProvider(mux)
	}
	for _, kind := range []string{"welcome", "invitations", "password"} {
		mux.HandleFunc("GET /"+kind+"/{token}", a.open(a.linkPage))
		mux.HandleFunc("POST /"+kind+"/{token}", a.open(a.enter))
	}
}
