package gitea_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"testing"

	"tas-service/internal/forge"
	"tas-service/internal/forge/forgetest"
	"tas-service/internal/forge/gitea"
)

func TestReceiver(t *testing.T) {
	t.Parallel()
	forgetest.RunReceiver(t, forgetest.NewGitea, gitea.Receiver{}, "the secret")
}

// sign writes the headers as Forgejo does where Gitea's are not there.
func sign(body []byte, event, id string) func(string) string {
	h := hmac.New(sha256.New, []byte("the secret"))
	h.Write(body)
	return func(name string) string {
		return map[string]string{"X-Forgejo-Event": event, "X-Forgejo-Delivery": id, "X-Forgejo-Signature": hex.EncodeToString(h.Sum(nil))}[name]
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
	body := []byte(data(t, "pull_request.json"))
	e, err := gitea.Receiver{}.Receive(forge.Delivery{Header: sign(body, "pull_request", "1"), Body: body}, "the secret")
	if err != nil || e.Kind != forge.EventPull || e.Number != 7 || e.State != forge.Merged || e.Action != forge.ActionMerged || !e.Draft {
		t.Errorf("%+v, %v", e, err)
	}
	issue := []byte(`{"action":"created","is_pull":false,"issue":{"number":3},"comment":{"id":4,"body":"/tas run"},"repository":{"full_name":"shop/tests"}}`)
	if e, err := (gitea.Receiver{}).Receive(forge.Delivery{Header: sign(issue, "issue_comment", "1"), Body: issue}, "the secret"); err != nil || e.Kind != forge.EventOther {
		t.Errorf("%+v, %v", e, err)
	}
}

func FuzzWebhook(f *testing.F) {
	forgetest.FuzzReceiver(f, gitea.Receiver{}, "pull_request", sign, data(f, "pull_request.json"), `{"is_pull":true,"action":"created","comment":{"id":1},"issue":{"number":1},"repository":{"full_name":"a/b"}}`)
}
