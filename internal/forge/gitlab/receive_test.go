package gitlab_test

import (
	"encoding/base64"
	"os"
	"strings"
	"testing"
	"time"

	"tas-service/internal/fault"
	"tas-service/internal/forge"
	"tas-service/internal/forge/forgetest"
	"tas-service/internal/forge/gitlab"
)

var signing = "whsec_" + base64.StdEncoding.EncodeToString([]byte("thirty-two bytes of a secret key"))

func TestReceiver(t *testing.T) {
	t.Parallel()
	for name, secret := range map[string]string{"secret token": "the secret", "signing token": signing} {
		t.Run(name, func(t *testing.T) { forgetest.RunReceiver(t, forgetest.NewGitLab, gitlab.Receiver{}, secret) })
	}
}

func sign(_ []byte, event, id string) func(string) string {
	return func(name string) string {
		return map[string]string{"X-Gitlab-Event": event, "X-Gitlab-Event-UUID": id, "X-Gitlab-Token": "the secret"}[name]
	}
}

func data(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestPayloads(t *testing.T) {
	t.Parallel()
	body := data(t, "note.json")
	receive := func(body string) (forge.Event, error) {
		return gitlab.Receiver{}.Receive(forge.Delivery{Header: sign(nil, "Note Hook", "1"), Body: []byte(body)}, "the secret")
	}
	e, err := receive(body)
	if err != nil || e.Kind != forge.EventComment || e.Number != 12 || e.Comment.ID != "1244" || e.Comment.Author != (forge.User{ID: "9", Login: "ada"}) || e.Comment.Body != "/tas run" || e.Repo != "group/sub/tests" || e.Comment.CreatedAt.IsZero() {
		t.Errorf("%+v, %v", e, err)
	}
	for name, other := range map[string][2]string{"an edit": {`"action":"create"`, `"action":"update"`}, "an older GitLab's edit": {`"action":"create","updated_at":"2026-11-21 09:00:00 UTC"`, `"updated_at":"2026-11-21 09:05:00 UTC"`},
		"of a commit": {`"noteable_type":"MergeRequest"`, `"noteable_type":"Commit"`}, "beside a line": {`"type":null`, `"type":"DiffNote"`}, "of GitLab itself": {`"system":false`, `"system":true`}} {
		if changed := strings.ReplaceAll(body, other[0], other[1]); changed == body {
			t.Errorf("%s is not in the payload", other[0])
		} else if e, err := receive(changed); err != nil || e.Kind != forge.EventOther {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
	}
}

// TestStale refuses what was signed long ago, and who would choose the weaker proof.
func TestStale(t *testing.T) {
	t.Parallel()
	d := forgetest.NewGitLab(t)
	x := d.PushDelivery("shop/tests", "main", signing)
	for _, off := range []time.Duration{-time.Hour, time.Hour} {
		r := gitlab.Receiver{Clock: func() time.Time { return time.Now().Add(off) }}
		if _, err := r.Receive(x, signing); fault.KindOf(err) != fault.Unauthenticated {
			t.Errorf("%s off: %v", off, err)
		}
	}
	weaker := forge.Delivery{Body: x.Body, Header: func(name string) string {
		if name == "X-Gitlab-Token" {
			return signing
		}
		return map[string]string{"X-Gitlab-Event": "Push Hook", "Idempotency-Key": "1"}[name]
	}}
	if _, err := (gitlab.Receiver{}).Receive(weaker, signing); fault.KindOf(err) != fault.Unauthenticated {
		t.Errorf("%v", err)
	}
}

func FuzzWebhook(f *testing.F) {
	forgetest.FuzzReceiver(f, gitlab.Receiver{}, "Note Hook", sign, data(f, "note.json"), `{"object_kind":"merge_request","project":{"path_with_namespace":"a/b"},"object_attributes":{"iid":1,"state":"merged"}}`)
}
