package shop

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
)

// user is somebody who can sign in. These are made up, and so are their passwords.
type user struct {
	Email    string
	Name     string
	Admin    bool
	password string
}

var users = []*user{
	{"ada@example.com", "Ada Moreno", false, "morning-tea"},
	{"ben@example.com", "Ben Okafor", false, "flat-white"},
	{"iris@example.com", "Iris Lund", true, "keep-it-brewing"},
}

func findUser(email string) *user {
	for _, u := range users {
		if strings.EqualFold(u.Email, strings.TrimSpace(email)) {
			return u
		}
	}
	return nil
}

// userCookie says who is signed in. It is apart from the visit, so that a saved sign-in can be taken
// into many browser contexts, each with a visit of its own.
const userCookie = "signed_in"

func (s *server) sign(email string) string {
	mac := hmac.New(sha256.New, s.signKey)
	mac.Write([]byte(email))
	return email + "|" + hex.EncodeToString(mac.Sum(nil))
}

func (s *server) userOf(r *http.Request) *user {
	c, err := r.Cookie(userCookie)
	if err != nil {
		return nil
	}
	email, _, _ := strings.Cut(c.Value, "|")
	if !hmac.Equal([]byte(c.Value), []byte(s.sign(email))) {
		return nil
	}
	return findUser(email)
}

type signInData struct{ Email, Next, Error string }

func (s *server) signInPage(v *visit) (reply, error) {
	return reply{page: "signin", title: "Sign in", data: signInData{Next: v.r.FormValue("next")}}, nil
}

func (s *server) signIn(v *visit) (reply, error) {
	data := signInData{Email: v.r.FormValue("email"), Next: v.r.FormValue("next")}
	u := findUser(data.Email)
	if u == nil || u.password != v.r.FormValue("password") {
		data.Error = s.broken.text("signin.wrong")
		return reply{status: http.StatusUnauthorized, page: "signin", title: "Sign in", data: data}, nil
	}
	setCookie(v.w, userCookie, s.sign(u.Email))
	first, _, _ := strings.Cut(u.Name, " ")
	v.flash = "Welcome back, " + first
	return reply{redirect: localPath(data.Next)}, nil
}

func (s *server) signOut(v *visit) (reply, error) {
	setCookie(v.w, userCookie, "")
	v.flash = "You are signed out"
	return reply{redirect: "/"}, nil
}

// localPath gives back a path of this shop only, whatever was asked for.
func localPath(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.Contains(next, `\`) {
		return "/"
	}
	return next
}

// customer lets only those in who are signed in, and sends others to sign in first.
func customer(h handler) handler {
	return func(v *visit) (reply, error) {
		if v.user == nil {
			next := "/"
			if v.r.Method == http.MethodGet {
				next = v.r.URL.Path
			}
			return reply{redirect: "/signin?next=" + url.QueryEscape(next)}, nil
		}
		return h(v)
	}
}

// administrator lets only administrators in.
func administrator(h handler) handler {
	return customer(func(v *visit) (reply, error) {
		if !v.user.Admin {
			return reply{}, fault{http.StatusForbidden, "Only administrators may see this page"}
		}
		return h(v)
	})
}
