package forgetest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"tas-service/internal/forge"
)

// githubPage answers a page with the Link header that leads to the next one.
func (d *Double) githubPage(w http.ResponseWriter, r *http.Request, all []any) {
	q := r.URL.Query()
	n := number(q.Get("page"), 1)
	part, more := page(all, n, min(number(q.Get("per_page"), 30), 100))
	if more {
		q.Set("page", strconv.Itoa(n+1))
		w.Header().Set("Link", fmt.Sprintf(`<%s%s?%s>; rel="next"`, d.URL, r.URL.Path, q.Encode()))
	}
	reply(w, 200, orEmpty(part))
}

// links fills in addresses that every answer has and nobody here reads.
func links(to obj, base string, names string) obj {
	for name := range strings.FieldsSeq(names) {
		to[name] = base + "/" + name
	}
	return to
}

func (d *Double) githubUser(a *account) obj {
	kind := "User"
	if a.bot {
		kind = "Bot"
	}
	return links(obj{"id": a.id, "login": a.login, "node_id": "U_" + strconv.FormatInt(a.id, 10), "gravatar_id": "", "site_admin": false, "type": kind}, d.URL+"/u/"+strconv.FormatInt(a.id, 10),
		"avatar_url events_url followers_url following_url gists_url html_url organizations_url received_events_url repos_url starred_url subscriptions_url url")
}

func (d *Double) githubPerson(a *account) obj {
	u := d.githubUser(a)
	for _, name := range []string{"bio", "company", "email", "hireable", "location", "name"} {
		u[name] = nil
	}
	for _, name := range []string{"followers", "following", "public_gists", "public_repos"} {
		u[name] = 0
	}
	u["blog"], u["user_view_type"] = "", "public"
	u["created_at"], u["updated_at"] = time.Unix(0, 0).UTC(), time.Unix(0, 0).UTC()
	return u
}

func (d *Double) githubRepo(h *hosted, by *account) obj {
	owner, name, _ := strings.Cut(h.name, "/")
	a := d.account(owner)
	if a == nil {
		a = &account{id: 1, login: owner}
	}
	role := h.roles[by.id]
	base := d.URL + "/" + h.name
	out := links(obj{"id": h.id, "node_id": "R", "name": name, "full_name": h.name, "owner": d.githubUser(a), "private": true, "fork": false, "description": nil, "default_branch": "main",
		"clone_url": base + ".git", "html_url": base, "git_url": "git://x/" + h.name, "ssh_url": "git@x:" + h.name, "svn_url": base, "mirror_url": nil, "homepage": nil, "language": nil, "license": nil,
		"pushed_at": d.now, "created_at": d.now, "updated_at": d.now,
		"permissions": obj{"admin": role == "admin", "push": role == "admin" || role == "write", "pull": role != ""}}, base,
		`archive_url assignees_url blobs_url branches_url collaborators_url comments_url commits_url compare_url contents_url contributors_url deployments_url downloads_url events_url forks_url
		git_commits_url git_refs_url git_tags_url hooks_url issue_comment_url issue_events_url issues_url keys_url labels_url languages_url merges_url milestones_url notifications_url pulls_url
		releases_url stargazers_url statuses_url subscribers_url subscription_url tags_url teams_url trees_url url`)
	for name := range strings.FieldsSeq("forks forks_count open_issues open_issues_count size stargazers_count watchers watchers_count network_count subscribers_count") {
		out[name] = 0
	}
	for name := range strings.FieldsSeq("has_downloads has_issues has_projects has_wiki has_pages has_discussions archived disabled") {
		out[name] = false
	}
	return out
}

// githubPull is a pull request: in lists, or whole.
func (d *Double) githubPull(h *hosted, p *pull, by *account, whole bool) obj {
	base := d.URL + "/" + h.name + "/pull/" + strconv.Itoa(p.number)
	side := func(r *hosted, branch, sha string) obj {
		owner, _, _ := strings.Cut(r.name, "/")
		out := obj{"label": owner + ":" + branch, "ref": branch, "sha": sha, "user": d.githubUser(p.author), "repo": d.githubRepo(r, by)}
		if r.gone {
			out["repo"] = nil
		}
		return out
	}
	refs := obj{}
	for name := range strings.FieldsSeq("comments commits statuses html issue review_comments review_comment self") {
		refs[name] = obj{"href": base + "/" + name}
	}
	state := "closed"
	if p.state == forge.Open {
		state = "open"
	}
	out := links(obj{"_links": refs, "assignee": nil, "labels": []any{}, "head": side(p.from, p.head, p.headSHA), "base": side(h, p.base, p.baseSHA), "title": p.title, "body": p.body, "closed_at": nil,
		"created_at": p.created, "updated_at": p.updated, "html_url": base, "id": p.id, "node_id": "PR_" + strconv.FormatInt(p.id, 10), "merge_commit_sha": nil, "merged_at": p.merged, "milestone": nil,
		"number": p.number, "state": state, "locked": false, "user": d.githubUser(p.author), "author_association": "MEMBER", "auto_merge": nil, "draft": p.draft}, base,
		"comments_url commits_url diff_url issue_url patch_url review_comment_url review_comments_url statuses_url url")
	if whole {
		out["changed_files"] = len(d.changes(h, p))
		for name := range strings.FieldsSeq("additions comments commits deletions review_comments") {
			out[name] = 0
		}
		out["mergeable"], out["mergeable_state"], out["merged"], out["maintainer_can_modify"], out["merged_by"] = nil, "unknown", p.state == forge.Merged, false, nil
	}
	return out
}

func (d *Double) githubComment(h *hosted, p *pull, c *comment) obj {
	base := d.URL + "/" + h.name + "/pull/" + strconv.Itoa(p.number)
	return obj{"id": c.id, "node_id": "C", "url": base + "/c", "html_url": base + "#c" + strconv.FormatInt(c.id, 10), "issue_url": base, "body": c.body, "user": d.githubUser(c.author),
		"created_at": c.created, "updated_at": c.updated, "author_association": "MEMBER"}
}

func (d *Double) githubReaction(m mark) obj {
	return obj{"id": m.id, "node_id": "R", "user": d.githubUser(m.by), "content": m.sign, "created_at": d.now}
}
