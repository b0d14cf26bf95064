package shop

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"path"
	"strings"
	"time"
)

// visit is one request together with who makes it. The state's lock is held until the handler has returned
// and its page is rendered.
type visit struct {
	*state
	r    *http.Request
	w    http.ResponseWriter // for cookies only; the answer is the returned reply
	user *user               // nil when nobody is signed in
}

// reply is what a handler answers: a page, a redirect or JSON.
type reply struct {
	status   int // 0 is 200
	page     string
	title    string
	data     any
	redirect string
	json     any
	late     bool // the part behind the marker comes late (slow-page)
}

type handler func(*visit) (reply, error)

// fault is an error that a person may read.
type fault struct {
	status int
	says   string
}

func (f fault) Error() string { return f.says }

// serve turns a handler into HTTP: the one place that renders pages and errors.
func (s *server) serve(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := &visit{state: s.visits.of(w, r), r: r, w: w, user: s.userOf(r)}
		rep, body := s.answer(v, h)
		if rep.redirect != "" {
			http.Redirect(w, r, rep.redirect, http.StatusSeeOther)
			return
		}
		kind := "text/html; charset=utf-8"
		if rep.json != nil {
			kind = "application/json"
		}
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(rep.status)
		if rep.late {
			body = s.dawdle(w, r, body)
		}
		w.Write(body)
	})
}

// answer runs the handler and renders its reply, with the visit locked.
func (s *server) answer(v *visit, h handler) (reply, []byte) {
	v.mu.Lock()
	defer v.mu.Unlock()
	rep, err := h(v)
	if err != nil {
		f := fault{http.StatusInternalServerError, "Something broke on our side"}
		if !errors.As(err, &f) {
			slog.Error("shop", "path", v.r.URL.Path, "err", err)
		}
		rep = reply{status: f.status, page: "error", title: f.says, data: f.says}
		if strings.HasPrefix(v.r.URL.Path, "/api/") {
			rep.json = map[string]string{"error": f.says}
		}
	}
	if rep.status == 0 {
		rep.status = http.StatusOK
	}
	if rep.redirect != "" {
		return rep, nil
	}
	var body bytes.Buffer
	if rep.json != nil {
		err = json.NewEncoder(&body).Encode(rep.json)
	} else {
		err = s.pages.render(&body, v, rep)
	}
	if err != nil {
		slog.Error("shop: rendering", "path", v.r.URL.Path, "err", err)
		return reply{status: http.StatusInternalServerError}, []byte("Something broke on our side\n")
	}
	return rep, body.Bytes()
}

// lateMarker stands in a page before what slow-page holds back.
const lateMarker = `<!--late-->`

// dawdle sends what comes before the marker, waits, and gives back the rest.
func (s *server) dawdle(w http.ResponseWriter, r *http.Request, body []byte) []byte {
	before, after, _ := bytes.Cut(body, []byte(lateMarker))
	w.Write(before)
	http.NewResponseController(w).Flush()
	select {
	case <-time.After(s.delay):
	case <-r.Context().Done():
	}
	return after
}

// pages holds a parsed template for each page.
type pages map[string]*template.Template

// view is what a template gets.
type view struct {
	Title string
	User  *user
	Path  string
	Count int // things in the cart
	Flash string
	Data  any
}

func parsePages(on switches) (pages, error) {
	funcs := template.FuncMap{
		"text":     on.text,
		"addLabel": on.addLabel,
		"broken":   func(name string) bool { return on[name] },
		"art":      drawProduct,
		"hero":     drawHero,
		"logo":     drawLogo,
		"late":     func() template.HTML { return lateMarker },
		"date":     func(t time.Time) string { return t.Format("2 January 2006") },
		"plural":   plural,
		"list":     func(s ...any) []any { return s },
	}
	base, err := template.New("base").Funcs(funcs).ParseFS(files, "templates/layout.html", "templates/parts.html")
	if err != nil {
		return nil, err
	}
	names, err := files.ReadDir("templates")
	if err != nil {
		return nil, err
	}
	all := pages{}
	for _, f := range names {
		name := strings.TrimSuffix(f.Name(), ".html")
		if name == "layout" || name == "parts" {
			continue
		}
		t, err := base.Clone()
		if err != nil {
			return nil, err
		}
		if all[name], err = t.ParseFS(files, path.Join("templates", f.Name())); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// render writes a page. The page "results" is a part of one: it comes without the layout.
func (p pages) render(w *bytes.Buffer, v *visit, rep reply) error {
	t, ok := p[rep.page]
	if !ok {
		return fmt.Errorf("no page %q", rep.page)
	}
	data := view{Title: rep.title, User: v.user, Path: v.r.URL.Path, Data: rep.data}
	if rep.page == "results" {
		return t.ExecuteTemplate(w, "content", data)
	}
	data.Count = sum(v.items(), code{}).Count
	data.Flash, v.flash = v.flash, ""
	return t.ExecuteTemplate(w, "layout", data)
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

func (s *server) missing(*visit) (reply, error) {
	return reply{}, fault{http.StatusNotFound, "This page does not exist"}
}

// reset brings the visit back to how it began; who is signed in stays so.
func (s *server) reset(v *visit) (reply, error) {
	v.start(s.now())
	return reply{json: map[string]bool{"reset": true}}, nil
}
