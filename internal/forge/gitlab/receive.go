package gitlab

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"tas-service/internal/fault"
	"tas-service/internal/forge"
)

// signing begins GitLab's signing tokens.
const signing = "whsec_"

// slack is how old, or how far in the future, a signed delivery may be.
const slack = 5 * time.Minute

// Receiver is a forge.Receiver of GitLab's webhooks. The secret is GitLab's secret token,
// which it sends as it is; or its signing token (it begins with "whsec_"), with which it
// signs as the Standard Webhooks say.
type Receiver struct {
	Clock func() time.Time // nil for the machine's
}

var _ forge.Receiver = Receiver{}

// payload is what is read of all of GitLab's webhooks.
type payload struct {
	ObjectKind string `json:"object_kind"`
	Ref        string `json:"ref"`
	After      string `json:"after"`
	UserID     int64  `json:"user_id"`
	UserName   string `json:"user_username"`
	Project    struct {
		Path          string `json:"path_with_namespace"`
		DefaultBranch string `json:"default_branch"`
	} `json:"project"`
	User struct {
		ID       int64  `json:"id"`
		Username string `json:"username"`
	} `json:"user"`
	MergeRequest *struct {
		IID int `json:"iid"`
	} `json:"merge_request"`
	Object struct {
		ID           int64  `json:"id"`
		IID          int    `json:"iid"`
		State        string `json:"state"`
		Action       string `json:"action"`
		Draft        bool   `json:"draft"`
		Title        string `json:"title"`
		URL          string `json:"url"`
		Note         string `json:"note"`
		NoteableType string `json:"noteable_type"`
		Type         string `json:"type"`
		AuthorID     int64  `json:"author_id"`
		System       bool   `json:"system"`
		CreatedAt    string `json:"created_at"`
		UpdatedAt    string `json:"updated_at"`
	} `json:"object_attributes"`
}

func read(d forge.Delivery) (payload, error) {
	var p payload
	if err := forge.CheckDelivery(d); err != nil {
		return p, err
	}
	if d.Header("X-Gitlab-Event") == "" || json.Unmarshal(d.Body, &p) != nil || forge.CheckRepo(p.Project.Path) != nil {
		return p, fault.New(fault.Invalid, "That is no webhook of a GitLab project.")
	}
	return p, nil
}

// Peek answers the project.
func (Receiver) Peek(d forge.Delivery) (string, error) {
	p, err := read(d)
	return p.Project.Path, err
}

// Receive verifies and reads.
func (r Receiver) Receive(d forge.Delivery, secret string) (forge.Event, error) {
	if err := forge.CheckDelivery(d); err != nil {
		return forge.Event{}, err
	}
	if !r.verified(d, secret) {
		return forge.Event{}, fault.New(fault.Unauthenticated, "The webhook does not prove that it knows the project's secret.").WithFix("Set the same secret token, or signing token, at GitLab.")
	}
	p, err := read(d)
	if err != nil {
		return forge.Event{}, err
	}
	e := forge.Event{Kind: forge.EventOther, Repo: p.Project.Path, Digest: forge.Digest(d.Body)}
	// The first one is signed, where anything is; the UUID is shared by all that one event set off.
	names := []string{"Idempotency-Key", "X-Gitlab-Event-UUID"}
	if strings.HasPrefix(secret, signing) {
		names = []string{"webhook-id"}
	}
	for _, name := range names {
		if e.ID == "" {
			e.ID = d.Header(name)
		}
	}
	if e.ID == "" {
		return forge.Event{}, fault.New(fault.Invalid, "The webhook has neither an Idempotency-Key nor an X-Gitlab-Event-UUID header.")
	}
	e.Sender = person(p.User.ID, p.User.Username)
	switch p.ObjectKind {
	case "push":
		e.Kind, e.Branch, e.Commit = forge.EventPush, forge.BranchOf(p.Ref), forge.PushedCommit(p.After)
		e.Default = e.Branch != "" && e.Branch == p.Project.DefaultBranch
		e.Sender = person(p.UserID, p.UserName)
	case "tag_push":
		e.Kind, e.Commit, e.Sender = forge.EventPush, forge.PushedCommit(p.After), person(p.UserID, p.UserName)
	case "merge_request":
		if p.Object.IID <= 0 {
			return forge.Event{}, fault.New(fault.Invalid, "The webhook tells of no merge request.")
		}
		_, marked := untitled(p.Object.Title)
		e.Kind, e.Number, e.Draft, e.State, e.Action = forge.EventPull, p.Object.IID, marked || p.Object.Draft, forge.Open, forge.ActionOther
		switch p.Object.State {
		case "merged":
			e.State = forge.Merged
		case "closed":
			e.State = forge.Closed
		}
		if a := actions[p.Object.Action]; a != "" {
			e.Action = a
		}
	case "note":
		o := p.Object
		// GitLab sends edits too; older ones do not tell which it is, but the times do.
		created := o.Action == "create" || o.Action == "" && o.CreatedAt == o.UpdatedAt
		if !created || o.NoteableType != "MergeRequest" || o.System || o.Type == "DiffNote" || o.ID <= 0 || p.MergeRequest == nil || p.MergeRequest.IID <= 0 {
			break
		}
		e.Kind, e.Number = forge.EventComment, p.MergeRequest.IID
		e.Comment = forge.Comment{ID: itoa(o.ID), Body: o.Note, Author: e.Sender, URL: o.URL, CreatedAt: moment(o.CreatedAt)}
		if o.AuthorID > 0 && o.AuthorID != p.User.ID {
			e.Comment.Author = forge.User{ID: itoa(o.AuthorID)}
		}
	}
	return e, nil
}

var actions = map[string]string{"open": forge.ActionOpened, "reopen": forge.ActionReopened, "close": forge.ActionClosed, "merge": forge.ActionMerged, "update": forge.ActionUpdated}

func person(id int64, login string) forge.User {
	if id <= 0 {
		return forge.User{Login: login}
	}
	return forge.User{ID: itoa(id), Login: login}
}

// moment reads the ways in which GitLab has written times.
func moment(s string) time.Time {
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05 MST", "2006-01-02 15:04:05 -0700"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// verified proves the secret. One that signs must sign: a delivery cannot choose the weaker way.
func (r Receiver) verified(d forge.Delivery, secret string) bool {
	encoded, signs := strings.CutPrefix(secret, signing)
	if !signs {
		return forge.SameSecret(secret, d.Header("X-Gitlab-Token"))
	}
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(key) == 0 {
		return false
	}
	now := time.Now
	if r.Clock != nil {
		now = r.Clock
	}
	at, err := strconv.ParseInt(d.Header("webhook-timestamp"), 10, 64)
	if age := now().Sub(time.Unix(at, 0)); err != nil || at <= 0 || age > slack || age < -slack {
		return false
	}
	h := hmac.New(sha256.New, key)
	h.Write([]byte(d.Header("webhook-id") + "." + d.Header("webhook-timestamp") + "."))
	h.Write(d.Body)
	want := h.Sum(nil)
	for one := range strings.FieldsSeq(d.Header("webhook-signature")) {
		if v, ok := strings.CutPrefix(one, "v1,"); ok {
			if got, err := base64.StdEncoding.DecodeString(v); err == nil && hmac.Equal(want, got) {
				return true
			}
		}
	}
	return false
}
