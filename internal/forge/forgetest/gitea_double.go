package forgetest

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"tas-service/internal/forge"
)

// giteaPage is the largest page that the double serves, whatever is asked for: servers are
// told so by their operators.
const giteaPage = 30

// NewGitea starts a double of Gitea 1.26 with its quirks: the filter by head is ignored,
// second pull requests of the same branches are taken, parallel edits of a comment fail with
// 500, a diff by Accept is JSON, comments are not paged.
func NewGitea(t *testing.T) *Double { return newDouble(t, forge.Gitea, giteaAPI) }

func giteaAPI(d *Double) http.Handler {
	mux := http.NewServeMux()
	// handle asks for a token, a repository that its account may see, and the lock.
	handle := func(pattern string, f func(w http.ResponseWriter, r *http.Request, by *account, h *hosted)) {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" /api/v1"+path, func(w http.ResponseWriter, r *http.Request) {
			d.mu.Lock()
			defer d.mu.Unlock()
			by := d.byToken(strings.TrimPrefix(r.Header.Get("Authorization"), "token "))
			if by == nil {
				reply(w, http.StatusUnauthorized, obj{"message": "user does not exist [uid: 0, name: ]", "url": d.URL + "/api/swagger"})
				return
			}
			var h *hosted
			if owner := r.PathValue("owner"); owner != "" {
				if h = d.repo(owner + "/" + r.PathValue("repo")); h == nil || h.roles[by.id] == "" {
					notFound(w)
					return
				}
			}
			f(w, r, by, h)
		})
	}
	onPull := func(pattern string, f func(w http.ResponseWriter, r *http.Request, by *account, h *hosted, p *pull)) {
		handle(pattern, func(w http.ResponseWriter, r *http.Request, by *account, h *hosted) {
			if _, p := d.pull(h.name, number(r.PathValue("n"), 0)); p != nil {
				f(w, r, by, h, p)
				return
			}
			notFound(w)
		})
	}
	handle("GET /user", func(w http.ResponseWriter, _ *http.Request, by *account, _ *hosted) { reply(w, 200, giteaUser(by)) })
	handle("GET /repos/{owner}/{repo}", func(w http.ResponseWriter, _ *http.Request, by *account, h *hosted) {
		reply(w, 200, d.giteaRepo(h, by))
	})
	handle("GET /repos/{owner}/{repo}/pulls", func(w http.ResponseWriter, r *http.Request, by *account, h *hosted) {
		q := r.URL.Query()
		var out []any
		for _, p := range h.pulls {
			if (q.Get("state") == "open" || q.Get("state") == "") == (p.state == forge.Open) || q.Get("state") == "all" {
				d.refresh(h, p)
				out = append(out, d.giteaPull(h, p, by))
			}
		}
		part, _ := page(out, number(q.Get("page"), 1), min(number(q.Get("limit"), giteaPage), giteaPage))
		w.Header().Set("X-Total-Count", strconv.Itoa(len(out)))
		reply(w, 200, orEmpty(part))
	})
	handle("POST /repos/{owner}/{repo}/pulls", func(w http.ResponseWriter, r *http.Request, by *account, h *hosted) {
		var in struct{ Head, Base, Title, Body string }
		if json.NewDecoder(r.Body).Decode(&in) != nil || in.Title == "" {
			reply(w, 422, obj{"message": "[Title]: Required"})
			return
		}
		switch {
		case h.commit(in.Head) == "" || h.commit(in.Base) == "":
			notFound(w)
		case d.empty(h, h, in.Head, in.Base):
			reply(w, 422, obj{"message": "head branch is identical to base"})
		default:
			p := d.open(h, h, in.Head, in.Base, "", in.Body, false, by)
			p.giteaTitle(in.Title)
			reply(w, 201, d.giteaPull(h, p, by))
		}
	})
	onPull("GET /repos/{owner}/{repo}/pulls/{n}", func(w http.ResponseWriter, _ *http.Request, by *account, h *hosted, p *pull) {
		reply(w, 200, d.giteaPull(h, p, by)) // also where a diff is asked for by Accept
	})
	onPull("PATCH /repos/{owner}/{repo}/pulls/{n}", func(w http.ResponseWriter, r *http.Request, by *account, h *hosted, p *pull) {
		var in struct {
			Title string
			Body  *string
			State *string
		}
		if json.NewDecoder(r.Body).Decode(&in) != nil {
			reply(w, 422, obj{"message": "bad JSON"})
			return
		}
		if h.roles[by.id] == "read" && p.author != by {
			reply(w, 403, obj{"message": "user should have permission to edit"})
			return
		}
		if in.Title != "" {
			p.giteaTitle(in.Title)
		}
		if in.Body != nil {
			p.body = *in.Body
		}
		if in.State != nil && *in.State == "closed" {
			if p.state == forge.Merged {
				reply(w, 412, obj{"message": "cannot change state of this pull request, it was already merged"})
				return
			}
			p.state = forge.Closed
		}
		p.updated = d.tick()
		reply(w, 201, d.giteaPull(h, p, by))
	})
	onPull("GET /repos/{owner}/{repo}/pulls/{n}/files", func(w http.ResponseWriter, r *http.Request, _ *account, h *hosted, p *pull) {
		var out []any
		for _, x := range d.changes(h, p) {
			s := map[string]string{"A": "added", "M": "changed", "D": "deleted", "R": "renamed"}[x.letter]
			f := obj{"filename": x.path, "status": s, "additions": 1, "deletions": 0, "changes": 1, "html_url": d.URL, "contents_url": d.URL, "raw_url": d.URL}
			if x.old != "" {
				f["previous_filename"] = x.old
			}
			out = append(out, f)
		}
		part, _ := page(out, number(r.URL.Query().Get("page"), 1), min(number(r.URL.Query().Get("limit"), giteaPage), giteaPage))
		reply(w, 200, orEmpty(part))
	})
	onPull("GET /repos/{owner}/{repo}/issues/{n}/comments", func(w http.ResponseWriter, _ *http.Request, _ *account, _ *hosted, p *pull) {
		out := []any{}
		for _, c := range p.comments {
			out = append(out, d.giteaComment(c))
		}
		reply(w, 200, out)
	})
	onPull("POST /repos/{owner}/{repo}/issues/{n}/comments", func(w http.ResponseWriter, r *http.Request, by *account, h *hosted, p *pull) {
		var in struct{ Body string }
		if json.NewDecoder(r.Body).Decode(&in) != nil || in.Body == "" {
			reply(w, 422, obj{"message": "[Body]: Required"})
			return
		}
		reply(w, 201, d.giteaComment(d.say(h, p, by, in.Body)))
	})
	handle("POST /repos/{owner}/{repo}/issues/comments/{id}/reactions", func(w http.ResponseWriter, r *http.Request, by *account, h *hosted) {
		var in struct{ Content string }
		id, _ := strconv.ParseInt(r.PathValue("id"), 10, 64)
		_, c := d.comment(h.name, id)
		if json.NewDecoder(r.Body).Decode(&in) != nil || c == nil {
			notFound(w)
			return
		}
		for _, m := range c.marks {
			if m.by == by && m.sign == in.Content {
				reply(w, 200, obj{"user": giteaUser(by), "content": in.Content, "created_at": d.now})
				return
			}
		}
		c.marks = append(c.marks, mark{by: by, sign: in.Content})
		reply(w, 201, obj{"user": giteaUser(by), "content": in.Content, "created_at": d.now})
	})
	handle("POST /repos/{owner}/{repo}/statuses/{sha}", func(w http.ResponseWriter, r *http.Request, by *account, h *hosted) {
		var in struct {
			State, Context, Description string
			URL                         string `json:"target_url"`
		}
		sha := r.PathValue("sha")
		if h.roles[by.id] == "read" {
			reply(w, 403, obj{"message": "user should have a permission to write to the repo branch"})
			return
		}
		if _, err := gitOutput(nil, h.dir, "cat-file", "-e", sha+"^{commit}"); err != nil || json.NewDecoder(r.Body).Decode(&in) != nil {
			notFound(w)
			return
		}
		h.status[sha] = append(h.status[sha], status{state: in.State, context: in.Context, description: in.Description, url: in.URL})
		reply(w, 201, obj{"id": d.next(), "status": in.State, "context": in.Context, "description": in.Description, "target_url": in.URL, "url": d.URL, "creator": giteaUser(by), "created_at": d.now, "updated_at": d.now})
	})
	handle("GET /repos/{owner}/{repo}/collaborators/{login}/permission", func(w http.ResponseWriter, r *http.Request, _ *account, h *hosted) {
		a := d.account(r.PathValue("login"))
		if a == nil {
			notFound(w)
			return
		}
		role := h.roles[a.id]
		if role == "" {
			role = "none"
		}
		reply(w, 200, obj{"permission": role, "role_name": role, "user": giteaUser(a)})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/"); {
		case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, ".diff") && len(parts) == 7:
			d.mu.Lock()
			defer d.mu.Unlock()
			by := d.byToken(strings.TrimPrefix(r.Header.Get("Authorization"), "token "))
			h, p := d.pull(parts[3]+"/"+parts[4], number(strings.TrimSuffix(parts[6], ".diff"), 0))
			if by == nil || p == nil || h.roles[by.id] == "" {
				notFound(w)
				return
			}
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.Write([]byte(d.diff(h, p))) //nolint:errcheck // a recorder
		case r.Method == http.MethodPatch && len(parts) == 8 && parts[5] == "issues" && parts[6] == "comments":
			d.giteaEdit(w, r, parts[3]+"/"+parts[4], parts[7])
		default:
			mux.ServeHTTP(w, r)
		}
	})
}

// giteaEdit edits a comment. While one edit is at it, others fail with 500.
func (d *Double) giteaEdit(w http.ResponseWriter, r *http.Request, repo, id string) {
	var in struct{ Body string }
	n, _ := strconv.ParseInt(id, 10, 64)
	d.mu.Lock()
	by := d.byToken(strings.TrimPrefix(r.Header.Get("Authorization"), "token "))
	p, c := d.comment(repo, n)
	switch {
	case by == nil || c == nil || json.NewDecoder(r.Body).Decode(&in) != nil:
		d.mu.Unlock()
		notFound(w)
		return
	case c.author != by:
		d.mu.Unlock()
		reply(w, 403, obj{"message": "user should have permission to edit"})
		return
	case d.editing[n] > 0:
		d.mu.Unlock()
		reply(w, 500, obj{"message": "Update: database is locked"})
		return
	}
	d.editing[n]++
	d.mu.Unlock()
	time.Sleep(5 * time.Millisecond) // the database is at it, and others may come
	d.mu.Lock()
	defer d.mu.Unlock()
	d.editing[n]--
	c.body, c.updated = in.Body, d.tick()
	d.notice(d.repo(repo), p, "edited", c, by)
	reply(w, 200, d.giteaComment(c))
}

func notFound(w http.ResponseWriter) {
	reply(w, 404, obj{"errors": nil, "message": "The target couldn't be found.", "url": "/api/swagger"})
}

func orEmpty(list []any) []any {
	if list == nil {
		return []any{}
	}
	return list
}

func giteaUser(a *account) obj {
	return obj{"id": a.id, "login": a.login, "login_name": "", "full_name": "", "email": a.login + "@noreply.invalid", "avatar_url": "", "html_url": "", "active": true, "created": time.Unix(0, 0)}
}

func (d *Double) giteaRepo(h *hosted, by *account) obj {
	owner, name, _ := strings.Cut(h.name, "/")
	role := h.roles[by.id]
	return obj{"id": h.id, "owner": obj{"login": owner}, "name": name, "full_name": h.name, "default_branch": "main", "clone_url": d.URL + "/" + h.name + ".git", "html_url": d.URL + "/" + h.name,
		"permissions": obj{"admin": role == "admin", "push": role == "write" || role == "admin", "pull": role != ""}}
}

func (p *pull) giteaTitle(title string) {
	p.title, p.draft = title, false
	if rest, ok := strings.CutPrefix(title, "WIP:"); ok {
		p.title, p.draft = strings.TrimSpace(rest), true
	}
}

func (d *Double) giteaPull(h *hosted, p *pull, by *account) obj {
	title := p.title
	if p.draft {
		title = "WIP: " + title
	}
	state := "closed"
	if p.state == forge.Open {
		state = "open"
	}
	head := obj{"label": p.head, "ref": p.head, "sha": p.headSHA, "repo_id": p.from.id, "repo": d.giteaRepo(p.from, by)}
	if p.from.gone {
		head["repo"], head["repo_id"] = nil, 0
	}
	if p.from.gone || p.from.commit(p.head) == "" {
		head["ref"] = "refs/pull/" + strconv.Itoa(p.number) + "/head"
	}
	return obj{"id": p.id, "number": p.number, "user": giteaUser(p.author), "title": title, "body": p.body, "state": state, "draft": p.draft, "html_url": d.URL + "/" + h.name + "/pulls/" + strconv.Itoa(p.number),
		"merged": p.state == forge.Merged, "merged_at": p.merged, "head": head, "base": obj{"label": p.base, "ref": p.base, "sha": p.baseSHA, "repo_id": h.id, "repo": d.giteaRepo(h, by)},
		"created_at": p.created, "updated_at": p.updated}
}

func (d *Double) giteaComment(c *comment) obj {
	return obj{"id": c.id, "html_url": d.URL + "/c#" + strconv.FormatInt(c.id, 10), "user": giteaUser(c.author), "body": c.body, "created_at": c.created, "updated_at": c.updated}
}
