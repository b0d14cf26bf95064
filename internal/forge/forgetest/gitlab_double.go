package forgetest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"tas-service/internal/forge"
)

// NewGitLab starts a double of GitLab: merge requests, notes beside the system's own,
// statuses that may not be pending twice, emoji that are refused a second time with 404.
func NewGitLab(t *testing.T) *Double { return newDouble(t, forge.GitLab, gitlabAPI) }

// levels are GitLab's numbers of roles.
var levels = map[string]int{"read": 20, "write": 30, "admin": 40}

func gitlabAPI(d *Double) http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, f func(w http.ResponseWriter, r *http.Request, by *account, h *hosted)) {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" /api/v4"+path, func(w http.ResponseWriter, r *http.Request) {
			d.mu.Lock()
			defer d.mu.Unlock()
			by := d.byToken(r.Header.Get("PRIVATE-TOKEN"))
			if by == nil {
				reply(w, 401, obj{"message": "401 Unauthorized"})
				return
			}
			var h *hosted
			if id := r.PathValue("id"); id != "" {
				if h = d.gitlabProject(id); h == nil || h.roles[by.id] == "" {
					reply(w, 404, obj{"message": "404 Project Not Found"})
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
			reply(w, 404, obj{"message": "404 Not found"})
		})
	}
	handle("GET /user", func(w http.ResponseWriter, _ *http.Request, by *account, _ *hosted) { reply(w, 200, gitlabUser(by)) })
	handle("GET /users", func(w http.ResponseWriter, r *http.Request, _ *account, _ *hosted) {
		out := []any{}
		if a := d.account(r.URL.Query().Get("username")); a != nil {
			out = append(out, gitlabUser(a))
		}
		reply(w, 200, out)
	})
	handle("GET /projects/{id}", func(w http.ResponseWriter, _ *http.Request, by *account, h *hosted) {
		reply(w, 200, obj{"id": h.id, "path_with_namespace": h.name, "default_branch": "main", "http_url_to_repo": d.URL + "/" + h.name + ".git", "web_url": d.URL + "/" + h.name,
			"permissions": obj{"project_access": obj{"access_level": levels[h.roles[by.id]], "notification_level": 3}, "group_access": nil}})
	})
	handle("GET /projects/{id}/members/all/{user}", func(w http.ResponseWriter, r *http.Request, _ *account, h *hosted) {
		for _, a := range d.accounts {
			if strconv.FormatInt(a.id, 10) == r.PathValue("user") && h.roles[a.id] != "" {
				m := gitlabUser(a)
				m["access_level"] = levels[h.roles[a.id]]
				reply(w, 200, m)
				return
			}
		}
		reply(w, 404, obj{"message": "404 Not found"})
	})
	handle("GET /projects/{id}/merge_requests", func(w http.ResponseWriter, r *http.Request, _ *account, h *hosted) {
		q := r.URL.Query()
		out := []any{}
		for _, p := range h.pulls {
			if (q.Get("state") == "opened") == (p.state == forge.Open) && (q.Get("source_branch") == "" || q.Get("source_branch") == p.head) && (q.Get("target_branch") == "" || q.Get("target_branch") == p.base) {
				d.refresh(h, p)
				out = append(out, d.gitlabPull(h, p, false))
			}
		}
		gitlabPage(w, q, out)
	})
	handle("POST /projects/{id}/merge_requests", func(w http.ResponseWriter, r *http.Request, by *account, h *hosted) {
		var in struct {
			Title, Description string
			Source             string `json:"source_branch"`
			Target             string `json:"target_branch"`
		}
		if json.NewDecoder(r.Body).Decode(&in) != nil || in.Title == "" || in.Source == "" || in.Target == "" {
			reply(w, 400, obj{"error": "title is missing"})
			return
		}
		if h.commit(in.Source) == "" || h.commit(in.Target) == "" {
			reply(w, 400, obj{"message": obj{"base": []string{"Source and target branches must exist"}}})
			return
		}
		for _, p := range h.pulls {
			if p.state == forge.Open && p.from == h && p.head == in.Source && p.base == in.Target {
				reply(w, 409, obj{"message": []string{"Another open merge request already exists for this source branch: !" + strconv.Itoa(p.number)}})
				return
			}
		}
		p := d.open(h, h, in.Source, in.Target, "", in.Description, false, by)
		p.gitlabTitle(in.Title)
		reply(w, 201, d.gitlabPull(h, p, true))
	})
	onPull("GET /projects/{id}/merge_requests/{n}", func(w http.ResponseWriter, _ *http.Request, _ *account, h *hosted, p *pull) {
		reply(w, 200, d.gitlabPull(h, p, true))
	})
	onPull("PUT /projects/{id}/merge_requests/{n}", func(w http.ResponseWriter, r *http.Request, by *account, h *hosted, p *pull) {
		var in struct {
			Title, Description *string
			Event              string `json:"state_event"`
		}
		if json.NewDecoder(r.Body).Decode(&in) != nil || in.Title == nil && in.Description == nil && in.Event == "" {
			reply(w, 400, obj{"error": "at least one parameter must be provided"})
			return
		}
		if h.roles[by.id] == "read" && p.author != by {
			reply(w, 403, obj{"message": "403 Forbidden"})
			return
		}
		if in.Title != nil {
			p.gitlabTitle(*in.Title)
		}
		if in.Description != nil {
			p.body = *in.Description
		}
		if in.Event == "close" && p.state == forge.Open {
			p.state = forge.Closed
		}
		p.updated = d.tick()
		reply(w, 200, d.gitlabPull(h, p, true))
	})
	onPull("GET /projects/{id}/merge_requests/{n}/raw_diffs", func(w http.ResponseWriter, _ *http.Request, _ *account, h *hosted, p *pull) {
		w.Header().Set("Content-Type", "text/plain")
		w.Write([]byte(d.diff(h, p))) //nolint:errcheck // a recorder
	})
	onPull("GET /projects/{id}/merge_requests/{n}/diffs", func(w http.ResponseWriter, r *http.Request, _ *account, h *hosted, p *pull) {
		out := []any{}
		for _, x := range d.changes(h, p) {
			old := x.old
			if old == "" {
				old = x.path
			}
			out = append(out, obj{"old_path": old, "new_path": x.path, "a_mode": "100644", "b_mode": "100644", "diff": "", "new_file": x.letter == "A", "renamed_file": x.letter == "R", "deleted_file": x.letter == "D", "generated_file": false})
		}
		gitlabPage(w, r.URL.Query(), out)
	})
	onPull("GET /projects/{id}/merge_requests/{n}/notes", func(w http.ResponseWriter, r *http.Request, by *account, _ *hosted, p *pull) {
		// GitLab tells what happened among what people say.
		out := []any{gitlabNote(&comment{id: 1, body: "added 1 commit", author: by, created: p.created, updated: p.created}, true)}
		for _, c := range p.comments {
			out = append(out, gitlabNote(c, false))
		}
		if r.URL.Query().Get("sort") != "asc" {
			for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
				out[i], out[j] = out[j], out[i]
			}
		}
		gitlabPage(w, r.URL.Query(), out)
	})
	onPull("POST /projects/{id}/merge_requests/{n}/notes", func(w http.ResponseWriter, r *http.Request, by *account, h *hosted, p *pull) {
		var in struct{ Body string }
		if json.NewDecoder(r.Body).Decode(&in) != nil || in.Body == "" || len([]rune(in.Body)) > forge.MaxBody(forge.GitLab) {
			reply(w, 400, obj{"message": obj{"note": []string{"is too long (maximum is 1000000 characters)"}}})
			return
		}
		reply(w, 201, gitlabNote(d.say(h, p, by, in.Body), false))
	})
	onPull("PUT /projects/{id}/merge_requests/{n}/notes/{note}", func(w http.ResponseWriter, r *http.Request, by *account, h *hosted, p *pull) {
		var in struct{ Body string }
		c := gitlabFind(p, r.PathValue("note"))
		switch {
		case c == nil || json.NewDecoder(r.Body).Decode(&in) != nil:
			reply(w, 404, obj{"message": "404 Note Not Found"})
		case c.author != by:
			reply(w, 403, obj{"message": "403 Forbidden"})
		default:
			c.body, c.updated = in.Body, d.tick()
			d.notice(h, p, "edited", c, by)
			reply(w, 200, gitlabNote(c, false))
		}
	})
	onPull("POST /projects/{id}/merge_requests/{n}/notes/{note}/award_emoji", func(w http.ResponseWriter, r *http.Request, by *account, _ *hosted, p *pull) {
		var in struct{ Name string }
		c := gitlabFind(p, r.PathValue("note"))
		if c == nil || json.NewDecoder(r.Body).Decode(&in) != nil {
			reply(w, 404, obj{"message": "404 Not Found"})
			return
		}
		for _, m := range c.marks {
			if m.by == by && m.sign == in.Name {
				reply(w, 404, obj{"message": "404 Award Emoji Name has already been taken Not Found"})
				return
			}
		}
		c.marks = append(c.marks, mark{by: by, sign: in.Name})
		reply(w, 201, obj{"id": d.next(), "name": in.Name, "user": gitlabUser(by), "awardable_id": c.id, "awardable_type": "Note"})
	})
	handle("POST /projects/{id}/statuses/{sha}", func(w http.ResponseWriter, r *http.Request, by *account, h *hosted) {
		var in struct {
			State, Name, Description string
			URL                      string `json:"target_url"`
		}
		sha := r.PathValue("sha")
		if levels[h.roles[by.id]] < 30 {
			reply(w, 403, obj{"message": "403 Forbidden"})
			return
		}
		if _, err := gitOutput(nil, h.dir, "cat-file", "-e", sha+"^{commit}"); err != nil || json.NewDecoder(r.Body).Decode(&in) != nil {
			reply(w, 404, obj{"message": "404 Commit Not Found"})
			return
		}
		for i := len(h.status[sha]) - 1; i >= 0; i-- {
			if s := h.status[sha][i]; s.context == in.Name {
				if s.state == "pending" && in.State == "pending" {
					reply(w, 400, obj{"message": `Cannot transition status via :enqueue from :pending (Reason(s): Status cannot transition via "enqueue")`})
					return
				}
				break
			}
		}
		h.status[sha] = append(h.status[sha], status{state: in.State, context: in.Name, description: in.Description, url: in.URL})
		reply(w, 201, obj{"id": d.next(), "sha": sha, "status": in.State, "name": in.Name, "description": in.Description, "target_url": in.URL, "author": gitlabUser(by)})
	})
	return mux
}

func (d *Double) gitlabProject(id string) *hosted {
	for _, h := range d.repos {
		if strconv.FormatInt(h.id, 10) == id && !h.gone {
			return h
		}
	}
	return d.repo(id)
}

// gitlabPage answers a page with the headers that lead to the next one.
func gitlabPage(w http.ResponseWriter, q url.Values, all []any) {
	n := number(q.Get("page"), 1)
	part, more := page(all, n, min(number(q.Get("per_page"), 20), 100))
	if more {
		w.Header().Set("X-Next-Page", strconv.Itoa(n+1))
	}
	w.Header().Set("X-Page", strconv.Itoa(n))
	reply(w, 200, orEmpty(part))
}

func gitlabUser(a *account) obj {
	return obj{"id": a.id, "username": a.login, "name": a.login, "state": "active", "avatar_url": "", "web_url": ""}
}

func gitlabFind(p *pull, id string) *comment {
	for _, c := range p.comments {
		if strconv.FormatInt(c.id, 10) == id {
			return c
		}
	}
	return nil
}

func gitlabNote(c *comment, system bool) obj {
	return obj{"id": c.id, "type": nil, "body": c.body, "author": gitlabUser(c.author), "system": system, "created_at": c.created, "updated_at": c.updated, "noteable_type": "MergeRequest"}
}

func (p *pull) gitlabTitle(title string) {
	p.title, p.draft = title, false
	if rest, ok := strings.CutPrefix(title, "Draft:"); ok {
		p.title, p.draft = strings.TrimSpace(rest), true
	}
}

func (d *Double) gitlabPull(h *hosted, p *pull, whole bool) obj {
	title := p.title
	if p.draft {
		title = "Draft: " + title
	}
	out := obj{"id": p.id, "iid": p.number, "project_id": h.id, "title": title, "description": p.body, "draft": p.draft,
		"state":         map[forge.State]string{forge.Open: "opened", forge.Closed: "closed", forge.Merged: "merged"}[p.state],
		"source_branch": p.head, "target_branch": p.base, "source_project_id": p.from.id, "target_project_id": h.id, "sha": p.headSHA, "author": gitlabUser(p.author),
		"web_url": d.URL + "/" + h.name + "/-/merge_requests/" + strconv.Itoa(p.number), "created_at": p.created, "updated_at": p.updated, "merged_at": p.merged}
	if p.from.gone {
		out["source_project_id"] = nil
	}
	if whole {
		from, _ := d.span(h, p)
		out["diff_refs"] = obj{"base_sha": from, "head_sha": p.headSHA, "start_sha": p.baseSHA}
	}
	return out
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
