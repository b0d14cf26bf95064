package forgetest

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"tas-service/internal/forge"
)

// app is a GitHub App that is installed at the double.
type app struct {
	id, installation int64
	key              *rsa.PublicKey
	bot              *account
	lasts            time.Duration
	issued           int
}

// NewGitHub starts a double of a GitHub Enterprise server: its API is below /api/v3.
func NewGitHub(t *testing.T) *Double { return newDouble(t, forge.GitHub, githubAPI) }

// InstallApp installs an App in the repository; its tokens are good for so long.
func (d *Double) InstallApp(id, installation int64, key *rsa.PublicKey, lasts time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	bot := &account{id: d.next(), login: "tas-app[bot]", bot: true}
	d.accounts = append(d.accounts, bot)
	d.repo("shop/tests").roles[bot.id] = "write"
	d.app = &app{id: id, installation: installation, key: key, bot: bot, lasts: lasts}
}

// IssuedTokens answers how many tokens the App's installation was given.
func (d *Double) IssuedTokens() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.app.issued
}

// githubRefusal is GitHub's answer to what it does not do.
func githubRefusal(w http.ResponseWriter, status int, message string, more ...obj) {
	body := obj{"message": message, "documentation_url": "https://docs.github.com/rest", "status": strconv.Itoa(status)}
	if len(more) > 0 {
		body["errors"] = more
	}
	reply(w, status, body)
}

func githubAPI(d *Double) http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, f func(w http.ResponseWriter, r *http.Request, by *account, h *hosted)) {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" /api/v3"+path, func(w http.ResponseWriter, r *http.Request) {
			d.mu.Lock()
			defer d.mu.Unlock()
			w.Header().Set("X-RateLimit-Limit", "5000")
			w.Header().Set("X-RateLimit-Remaining", "4999")
			w.Header().Set("X-RateLimit-Reset", strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10))
			by := d.byToken(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
			if by == nil {
				githubRefusal(w, 401, "Bad credentials")
				return
			}
			var h *hosted
			if owner := r.PathValue("owner"); owner != "" {
				if h = d.repo(owner + "/" + r.PathValue("repo")); h == nil || h.roles[by.id] == "" {
					githubRefusal(w, 404, "Not Found")
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
			githubRefusal(w, 404, "Not Found")
		})
	}
	handle("GET /user", func(w http.ResponseWriter, _ *http.Request, by *account, _ *hosted) {
		if by.bot {
			githubRefusal(w, 403, "Resource not accessible by integration")
			return
		}
		reply(w, 200, d.githubPerson(by))
	})
	handle("GET /users/{login}", func(w http.ResponseWriter, r *http.Request, _ *account, _ *hosted) {
		if a := d.account(r.PathValue("login")); a != nil {
			reply(w, 200, d.githubPerson(a))
			return
		}
		githubRefusal(w, 404, "Not Found")
	})
	handle("GET /repos/{owner}/{repo}", func(w http.ResponseWriter, _ *http.Request, by *account, h *hosted) {
		reply(w, 200, d.githubRepo(h, by))
	})
	handle("GET /repos/{owner}/{repo}/pulls", func(w http.ResponseWriter, r *http.Request, by *account, h *hosted) {
		q := r.URL.Query()
		out := []any{}
		for _, p := range h.pulls {
			owner, _, _ := strings.Cut(p.from.name, "/")
			if (q.Get("state") == "open") == (p.state == forge.Open) && (q.Get("head") == "" || q.Get("head") == owner+":"+p.head) && (q.Get("base") == "" || q.Get("base") == p.base) {
				d.refresh(h, p)
				out = append(out, d.githubPull(h, p, by, false))
			}
		}
		d.githubPage(w, r, out)
	})
	handle("POST /repos/{owner}/{repo}/pulls", func(w http.ResponseWriter, r *http.Request, by *account, h *hosted) {
		var in struct {
			Title, Head, Base, Body string
			Draft                   bool
		}
		if json.NewDecoder(r.Body).Decode(&in) != nil || in.Title == "" {
			githubRefusal(w, 422, "Validation Failed", obj{"resource": "PullRequest", "code": "missing_field", "field": "title"})
			return
		}
		owner, head, _ := strings.Cut(in.Head, ":")
		switch {
		case !strings.HasPrefix(h.name, owner+"/") || h.commit(head) == "":
			githubRefusal(w, 422, "Validation Failed", obj{"resource": "PullRequest", "field": "head", "code": "invalid"})
			return
		case h.commit(in.Base) == "":
			githubRefusal(w, 422, "Validation Failed", obj{"resource": "PullRequest", "field": "base", "code": "invalid"})
			return
		case len([]rune(in.Body)) > forge.MaxBody(forge.GitHub):
			githubRefusal(w, 422, "Validation Failed", obj{"resource": "Issue", "code": "custom", "field": "body", "message": "body is too long (maximum is 65536 characters)"})
			return
		case d.empty(h, h, head, in.Base):
			githubRefusal(w, 422, "Validation Failed", obj{"resource": "PullRequest", "code": "custom", "message": "No commits between " + in.Base + " and " + head})
			return
		}
		for _, p := range h.pulls {
			if p.state == forge.Open && p.from == h && p.head == head && p.base == in.Base {
				githubRefusal(w, 422, "Validation Failed", obj{"resource": "PullRequest", "code": "custom", "message": "A pull request already exists for " + in.Head + "."})
				return
			}
		}
		reply(w, 201, d.githubPull(h, d.open(h, h, head, in.Base, in.Title, in.Body, in.Draft, by), by, true))
	})
	onPull("GET /repos/{owner}/{repo}/pulls/{n}", func(w http.ResponseWriter, r *http.Request, by *account, h *hosted, p *pull) {
		if strings.Contains(r.Header.Get("Accept"), "diff") {
			w.Header().Set("Content-Type", "application/vnd.github.v3.diff; charset=utf-8")
			w.Write([]byte(d.diff(h, p))) //nolint:errcheck // a recorder
			return
		}
		reply(w, 200, d.githubPull(h, p, by, true))
	})
	onPull("PATCH /repos/{owner}/{repo}/pulls/{n}", func(w http.ResponseWriter, r *http.Request, by *account, h *hosted, p *pull) {
		var in struct{ Title, Body, State *string }
		if json.NewDecoder(r.Body).Decode(&in) != nil {
			githubRefusal(w, 422, "Problems parsing JSON")
			return
		}
		if h.roles[by.id] == "read" && p.author != by {
			githubRefusal(w, 403, "Resource not accessible by personal access token")
			return
		}
		if in.Title != nil {
			p.title = *in.Title
		}
		if in.Body != nil {
			p.body = *in.Body
		}
		if in.State != nil && *in.State == "closed" && p.state == forge.Open {
			p.state = forge.Closed
		}
		p.updated = d.tick()
		reply(w, 200, d.githubPull(h, p, by, true))
	})
	onPull("GET /repos/{owner}/{repo}/pulls/{n}/files", func(w http.ResponseWriter, r *http.Request, _ *account, h *hosted, p *pull) {
		out := []any{}
		for _, x := range d.changes(h, p) {
			f := obj{"sha": p.headSHA, "filename": x.path, "status": map[string]string{"A": "added", "M": "modified", "D": "removed", "R": "renamed"}[x.letter], "additions": 1, "deletions": 0, "changes": 1,
				"blob_url": d.URL, "raw_url": d.URL, "contents_url": d.URL}
			if x.old != "" {
				f["previous_filename"] = x.old
			}
			out = append(out, f)
		}
		d.githubPage(w, r, out)
	})
	onPull("GET /repos/{owner}/{repo}/issues/{n}/comments", func(w http.ResponseWriter, r *http.Request, _ *account, h *hosted, p *pull) {
		out := []any{}
		for _, c := range p.comments {
			out = append(out, d.githubComment(h, p, c))
		}
		d.githubPage(w, r, out)
	})
	onPull("POST /repos/{owner}/{repo}/issues/{n}/comments", func(w http.ResponseWriter, r *http.Request, by *account, h *hosted, p *pull) {
		var in struct{ Body string }
		if json.NewDecoder(r.Body).Decode(&in) != nil || in.Body == "" || len([]rune(in.Body)) > forge.MaxBody(forge.GitHub) {
			githubRefusal(w, 422, "Validation Failed", obj{"resource": "IssueComment", "code": "unprocessable", "field": "data", "message": "Body is too long (maximum is 65536 characters)"})
			return
		}
		reply(w, 201, d.githubComment(h, p, d.say(h, p, by, in.Body)))
	})
	mux.HandleFunc("PATCH /api/v3/repos/{owner}/{repo}/issues/comments/{id}", func(w http.ResponseWriter, r *http.Request) {
		d.mu.Lock()
		defer d.mu.Unlock()
		var in struct{ Body string }
		by := d.byToken(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		id, _ := strconv.ParseInt(r.PathValue("id"), 10, 64)
		repo := r.PathValue("owner") + "/" + r.PathValue("repo")
		p, c := d.comment(repo, id)
		switch {
		case by == nil || c == nil || json.NewDecoder(r.Body).Decode(&in) != nil:
			githubRefusal(w, 404, "Not Found")
		case c.author != by:
			githubRefusal(w, 403, "Must have admin rights to Repository.")
		default:
			c.body, c.updated = in.Body, d.tick()
			d.notice(d.repo(repo), p, "edited", c, by)
			reply(w, 200, d.githubComment(d.repo(repo), p, c))
		}
	})
	handle("POST /repos/{owner}/{repo}/issues/comments/{id}/reactions", func(w http.ResponseWriter, r *http.Request, by *account, h *hosted) {
		var in struct{ Content string }
		id, _ := strconv.ParseInt(r.PathValue("id"), 10, 64)
		_, c := d.comment(h.name, id)
		if json.NewDecoder(r.Body).Decode(&in) != nil || c == nil {
			githubRefusal(w, 404, "Not Found")
			return
		}
		for _, m := range c.marks {
			if m.by == by && m.sign == in.Content {
				reply(w, 200, d.githubReaction(m))
				return
			}
		}
		m := mark{id: d.next(), by: by, sign: in.Content}
		c.marks = append(c.marks, m)
		reply(w, 201, d.githubReaction(m))
	})
	handle("POST /repos/{owner}/{repo}/statuses/{sha}", func(w http.ResponseWriter, r *http.Request, by *account, h *hosted) {
		var in struct {
			State, Context, Description string
			URL                         *string `json:"target_url"`
		}
		sha := r.PathValue("sha")
		if h.roles[by.id] == "read" {
			githubRefusal(w, 403, "Resource not accessible by personal access token")
			return
		}
		if _, err := gitOutput(nil, h.dir, "cat-file", "-e", sha+"^{commit}"); err != nil || json.NewDecoder(r.Body).Decode(&in) != nil || len([]rune(in.Description)) > 140 {
			githubRefusal(w, 422, "No commit found for SHA: "+sha)
			return
		}
		link := ""
		if in.URL != nil {
			link = *in.URL
		}
		h.status[sha] = append(h.status[sha], status{state: in.State, context: in.Context, description: in.Description, url: link})
		reply(w, 201, obj{"url": d.URL, "avatar_url": nil, "id": d.next(), "node_id": "S", "state": in.State, "description": in.Description, "target_url": in.URL, "context": in.Context,
			"created_at": d.now, "updated_at": d.now, "creator": d.githubUser(by)})
	})
	handle("GET /repos/{owner}/{repo}/collaborators/{login}/permission", func(w http.ResponseWriter, r *http.Request, _ *account, h *hosted) {
		a := d.account(r.PathValue("login"))
		if a == nil {
			githubRefusal(w, 404, "Not Found")
			return
		}
		role := h.roles[a.id]
		if role == "" {
			role = "none"
		}
		u := d.githubUser(a)
		u["role_name"] = role
		reply(w, 200, obj{"permission": role, "role_name": role, "user": u})
	})
	mux.HandleFunc("POST /api/graphql", d.githubGraph)
	mux.HandleFunc("GET /api/v3/app", func(w http.ResponseWriter, r *http.Request) {
		d.asApp(w, r, func() {
			reply(w, 200, obj{"id": d.app.id, "slug": "tas-app", "node_id": "A", "owner": d.githubUser(d.account("owner")), "name": "TAS", "description": nil, "external_url": "https://example.com",
				"html_url": d.URL + "/apps/tas-app", "created_at": d.now, "updated_at": d.now, "permissions": obj{"contents": "write"}, "events": []string{}})
		})
	})
	mux.HandleFunc("POST /api/v3/app/installations/{id}/access_tokens", func(w http.ResponseWriter, r *http.Request) {
		d.asApp(w, r, func() {
			if r.PathValue("id") != strconv.FormatInt(d.app.installation, 10) {
				githubRefusal(w, 404, "Not Found")
				return
			}
			d.app.issued++
			d.app.bot.token = fmt.Sprintf("ghs_s3cret%d", d.app.issued) // the one before ends
			reply(w, 201, obj{"token": d.app.bot.token, "expires_at": time.Now().Add(d.app.lasts).UTC().Format(time.RFC3339), "permissions": obj{"contents": "write"}})
		})
	})
	return mux
}

// asApp checks the JWT of an App.
func (d *Double) asApp(w http.ResponseWriter, r *http.Request, f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	parts := strings.Split(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), ".")
	var claims struct {
		Issued  int64  `json:"iat"`
		Expires int64  `json:"exp"`
		Issuer  string `json:"iss"`
	}
	good := d.app != nil && len(parts) == 3
	if good {
		body, err := base64.RawURLEncoding.DecodeString(parts[1])
		sig, serr := base64.RawURLEncoding.DecodeString(parts[2])
		sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
		now := time.Now().Unix()
		good = err == nil && serr == nil && json.Unmarshal(body, &claims) == nil && rsa.VerifyPKCS1v15(d.app.key, crypto.SHA256, sum[:], sig) == nil &&
			claims.Issuer == strconv.FormatInt(d.app.id, 10) && claims.Issued <= now && claims.Expires > now && claims.Expires-claims.Issued <= 600
	}
	if !good {
		githubRefusal(w, 401, "A JSON web token could not be decoded")
		return
	}
	f()
}

// githubGraph knows the two mutations that no REST call can do.
func (d *Double) githubGraph(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var in struct {
		Query     string
		Variables struct{ ID string }
	}
	if d.byToken(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")) == nil || json.NewDecoder(r.Body).Decode(&in) != nil {
		githubRefusal(w, 401, "Bad credentials")
		return
	}
	for _, h := range d.repos {
		for _, p := range h.pulls {
			if "PR_"+strconv.FormatInt(p.id, 10) == in.Variables.ID {
				p.draft = strings.Contains(in.Query, "convertPullRequestToDraft")
				reply(w, 200, obj{"data": obj{"x": obj{"pullRequest": obj{"isDraft": p.draft}}}})
				return
			}
		}
	}
	reply(w, 200, obj{"data": nil, "errors": []obj{{"type": "NOT_FOUND", "message": "Could not resolve to a node"}}})
}
