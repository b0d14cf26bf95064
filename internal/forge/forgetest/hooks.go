package forgetest

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"tas-service/internal/forge"
)

// hook is a webhook of a repository.
type hook struct {
	repo, url, secret string
}

// AddHook has a repository's events sent to an address, signed with a secret.
func (d *Double) AddHook(repo, url, secret string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hooks = append(d.hooks, hook{repo: repo, url: url, secret: secret})
}

// Delivery makes the webhook of something that happened to a pull request: what is
// "opened", "updated", "closed", "merged", "reopened" or "commented".
func (d *Double) Delivery(repo string, number int, what, commentID, secret string) forge.Delivery {
	d.mu.Lock()
	defer d.mu.Unlock()
	h, p := d.pull(repo, number)
	n, _ := strconv.ParseInt(commentID, 10, 64)
	_, c := d.comment(repo, n)
	header, body := d.deliver(h, p, what, c, d.account("reader"), secret)
	return forge.Delivery{Header: header.Get, Body: body}
}

// PushDelivery makes the webhook of a push to a branch.
func (d *Double) PushDelivery(repo, branch, secret string) forge.Delivery {
	d.mu.Lock()
	defer d.mu.Unlock()
	h := d.repo(repo)
	by := d.account("owner")
	commit := h.commit(branch)
	if commit == "" {
		commit = strings.Repeat("0", 40)
	}
	body := obj{"ref": "refs/heads/" + branch, "before": strings.Repeat("0", 40), "after": commit, "repository": obj{"id": h.id, "full_name": h.name, "default_branch": "main"},
		"sender": obj{"id": by.id, "login": by.login}, "pusher": obj{"name": by.login}, "commits": []any{}}
	event := "push"
	if d.Kind == forge.GitLab {
		event = "Push Hook"
		body = obj{"object_kind": "push", "event_name": "push", "ref": "refs/heads/" + branch, "after": commit, "user_id": by.id, "user_username": by.login,
			"project": obj{"id": h.id, "path_with_namespace": h.name, "default_branch": "main"}}
	}
	header, raw := d.signed(event, body, secret)
	return forge.Delivery{Header: header.Get, Body: raw}
}

// notice sends webhooks, in the background as forges do. The lock is held.
func (d *Double) notice(h *hosted, p *pull, what string, c *comment, by *account) {
	for _, x := range d.hooks {
		if !strings.EqualFold(x.repo, h.name) {
			continue
		}
		header, body := d.deliver(h, p, what, c, by, x.secret)
		go func() {
			r, err := http.NewRequest(http.MethodPost, x.url, bytes.NewReader(body))
			if err != nil {
				return
			}
			r.Header = header
			if resp, err := http.DefaultClient.Do(r); err == nil {
				resp.Body.Close() //nolint:errcheck // forges do not read it either
			}
		}()
	}
}

// deliver makes a webhook in the forge's own words.
func (d *Double) deliver(h *hosted, p *pull, what string, c *comment, by *account, secret string) (http.Header, []byte) {
	if d.Kind == forge.GitLab {
		return d.deliverGitLab(h, p, what, c, by, secret)
	}
	state := "open"
	if p.state != forge.Open {
		state = "closed"
	}
	updated := "synchronize"
	if d.Kind == forge.Gitea {
		updated = "synchronized"
	}
	action := map[string]string{"opened": "opened", "updated": updated, "closed": "closed", "merged": "closed", "reopened": "reopened", "commented": "created", "edited": "edited"}[what]
	title := p.title
	if d.Kind == forge.Gitea && p.draft {
		title = "WIP: " + title
	}
	side := func(r *hosted, branch, sha string) obj {
		return obj{"ref": branch, "sha": sha, "label": branch, "repo": obj{"id": r.id, "full_name": r.name}}
	}
	body := obj{"action": action, "number": p.number, "repository": obj{"id": h.id, "full_name": h.name, "default_branch": "main", "private": true},
		"sender": obj{"id": by.id, "login": by.login}}
	event := "pull_request"
	if c == nil {
		body["pull_request"] = obj{"id": p.id, "number": p.number, "state": state, "merged": p.state == forge.Merged, "draft": p.draft, "title": title, "body": p.body,
			"head": side(p.from, p.head, p.headSHA), "base": side(h, p.base, p.baseSHA), "user": obj{"id": p.author.id, "login": p.author.login}}
	} else {
		event = "issue_comment"
		issue := obj{"id": p.id, "number": p.number, "title": title, "state": state}
		if d.Kind == forge.GitHub {
			issue["pull_request"] = obj{"url": d.URL + "/x"}
		} else {
			body["is_pull"] = true
		}
		body["issue"] = issue
		body["comment"] = obj{"id": c.id, "body": c.body, "html_url": d.URL + "/c", "user": obj{"id": c.author.id, "login": c.author.login}, "created_at": c.created, "updated_at": c.updated}
	}
	return d.signed(event, body, secret)
}

func (d *Double) deliverGitLab(h *hosted, p *pull, what string, c *comment, by *account, secret string) (http.Header, []byte) {
	action := map[string]string{"opened": "open", "updated": "update", "closed": "close", "merged": "merge", "reopened": "reopen", "commented": "create", "edited": "update"}[what]
	stamp := func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
	state := map[forge.State]string{forge.Open: "opened", forge.Closed: "closed", forge.Merged: "merged"}[p.state]
	title := p.title
	if p.draft {
		title = "Draft: " + title
	}
	mr := obj{"id": p.id, "iid": p.number, "state": state, "draft": p.draft, "title": title, "source_branch": p.head, "target_branch": p.base, "action": action, "url": d.URL + "/mr"}
	body := obj{"object_kind": "merge_request", "event_type": "merge_request", "user": obj{"id": by.id, "username": by.login, "name": by.login},
		"project": obj{"id": h.id, "path_with_namespace": h.name, "default_branch": "main"}, "object_attributes": mr}
	event := "Merge Request Hook"
	if c != nil {
		event = "Note Hook"
		body["object_kind"], body["event_type"], body["merge_request"] = "note", "note", obj{"id": p.id, "iid": p.number}
		body["object_attributes"] = obj{"id": c.id, "note": c.body, "noteable_type": "MergeRequest", "author_id": c.author.id, "system": false, "type": nil, "action": action,
			"url": d.URL + "/note", "created_at": stamp(c.created), "updated_at": stamp(c.updated)}
	}
	return d.signed(event, body, secret)
}

// signed adds the headers of the forge.
func (d *Double) signed(event string, v any, secret string) (http.Header, []byte) {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	id := fmt.Sprintf("00000000-0000-4000-8000-%012d", d.next())
	hash := hmac.New(sha256.New, []byte(secret))
	hash.Write(body)
	mac := hex.EncodeToString(hash.Sum(nil))
	header := http.Header{"Content-Type": {"application/json"}}
	switch d.Kind {
	case forge.GitHub:
		header.Set("X-GitHub-Event", event)
		header.Set("X-GitHub-Delivery", id)
		header.Set("X-Hub-Signature-256", "sha256="+mac)
	case forge.Gitea:
		header.Set("X-Gitea-Event", event)
		header.Set("X-Gitea-Delivery", id)
		header.Set("X-Gitea-Signature", mac)
	case forge.GitLab:
		header.Set("X-Gitlab-Event", event)
		header.Set("X-Gitlab-Event-UUID", id)
		header.Set("Idempotency-Key", "key-"+id)
		if encoded, ok := strings.CutPrefix(secret, "whsec_"); ok {
			key, err := base64.StdEncoding.DecodeString(encoded)
			if err != nil {
				panic(err)
			}
			at := strconv.FormatInt(time.Now().Unix(), 10)
			sign := hmac.New(sha256.New, key)
			sign.Write([]byte("key-" + id + "." + at + "."))
			sign.Write(body)
			header.Set("webhook-id", "key-"+id)
			header.Set("webhook-timestamp", at)
			header.Set("webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(sign.Sum(nil)))
		} else {
			header.Set("X-Gitlab-Token", secret)
		}
	}
	return header, body
}
