package github_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"os"
	"testing"

	"tas-service/internal/forge"
	"tas-service/internal/forge/forgetest"
	"tas-service/internal/forge/github"
)

func TestReceiver(t *testing.T) {
	t.Parallel()
	forgetest.RunReceiver(t, forgetest.NewGitHub, github.Receiver{}, "the secret")
}

func sign(body []byte, event, id string) func(string) string {
	h := hmac.New(sha256.New, []byte("the secret"))
	h.Write(body)
	return func(name string) string {
		return map[string]string{"X-GitHub-Event": event, "X-GitHub-Delivery": id, "X-Hub-Signature-256": "sha256=" + hex.EncodeToString(h.Sum(nil))}[name]
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
	body := data(t, "issue_comment.json")
	e, err := github.Receiver{}.Receive(forge.Delivery{Header: sign([]byte(body), "issue_comment", "1"), Body: []byte(body)}, "the secret")
	if err != nil || e.Kind != forge.EventComment || e.Number != 12 || e.Comment.ID != "2345678901" || e.Comment.Author != (forge.User{ID: "583231", Login: "octocat"}) || e.Comment.Body != "/tas run @smoke" {
		t.Errorf("%+v, %v", e, err)
	}
	// The same as a form, as GitHub sends it where nobody chose JSON.
	form := []byte("payload=" + url.QueryEscape(body))
	header := sign(form, "issue_comment", "1")
	e, err = github.Receiver{}.Receive(forge.Delivery{Body: form, Header: func(n string) string {
		if n == "Content-Type" {
			return "application/x-www-form-urlencoded"
		}
		return header(n)
	}}, "the secret")
	if err != nil || e.Number != 12 {
		t.Errorf("%+v, %v", e, err)
	}
	ping := []byte(`{"zen":"Keep it logically awesome.","hook_id":1,"repository":{"full_name":"shop/tests"},"sender":{"id":1,"login":"x"}}`)
	if e, err := (github.Receiver{}).Receive(forge.Delivery{Header: sign(ping, "ping", "1"), Body: ping}, "the secret"); err != nil || e.Kind != forge.EventPing {
		t.Errorf("%+v, %v", e, err)
	}
	// Under an issue that is no pull request.
	issue := []byte(`{"action":"created","issue":{"number":3},"comment":{"id":4,"body":"/tas run"},"repository":{"full_name":"shop/tests"}}`)
	if e, err := (github.Receiver{}).Receive(forge.Delivery{Header: sign(issue, "issue_comment", "1"), Body: issue}, "the secret"); err != nil || e.Kind != forge.EventOther {
		t.Errorf("%+v, %v", e, err)
	}
}

func FuzzWebhook(f *testing.F) {
	forgetest.FuzzReceiver(f, github.Receiver{}, "issue_comment", sign, data(f, "issue_comment.json"), `{"repository":{"full_name":"a/b"},"pull_request":{"number":1,"merged":true}}`, `{"ref":"refs/heads/x","after":"0"}`)
}
