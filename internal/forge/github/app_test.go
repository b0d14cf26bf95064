package github_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"sync"
	"testing"
	"time"

	"tas-service/internal/fault"
	"tas-service/internal/forge"
	"tas-service/internal/forge/forgetest"
	"tas-service/internal/forge/github"
)

func keyPair(t *testing.T) (*rsa.PrivateKey, string) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return key, string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
}

// TestApp works as an App's installation: the token is asked for once, and anew before it
// ends and where it is refused.
func TestApp(t *testing.T) {
	t.Parallel()
	key, text := keyPair(t)
	d := forgetest.NewGitHub(t)
	d.InstallApp(7, 8, &key.PublicKey, time.Hour)
	var mu sync.Mutex
	var ahead time.Duration
	f, err := github.New(github.Config{BaseURL: d.URL, AppID: 7, InstallationID: 8, PrivateKey: text, Clock: func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return time.Now().Add(ahead)
	}})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			if r, err := f.Repository(ctx, "shop/tests"); err != nil || !r.CanPush {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
	wait.Wait()
	if n := d.IssuedTokens(); n != 1 {
		t.Errorf("%d tokens", n)
	}
	me, err := f.WhoAmI(ctx)
	if err != nil || me.Login != "tas-app[bot]" || me.ID == "" {
		t.Errorf("%+v, %v", me, err)
	}
	d.Commit(t, "shop/tests", "heal", map[string]string{"h.ts": "h\n"})
	p, created, err := forge.Ensure(ctx, f, "shop/tests", forge.NewPullRequest{Title: "T", Head: "heal", Base: "main"})
	if err != nil || !created || !p.Author.Is(me) {
		t.Errorf("%+v, %v", p, err)
	}
	if may, err := f.MayWrite(ctx, "shop/tests", me); err != nil || !may {
		t.Errorf("%v, %v", may, err)
	}
	mu.Lock()
	ahead = 56 * time.Minute
	mu.Unlock()
	before := d.IssuedTokens()
	// The proof that we make now lies in the future of the double's clock.
	if _, err := f.Credentials(ctx); fault.KindOf(err) != fault.Unauthenticated || d.IssuedTokens() != before {
		t.Errorf("a token that is about to end is used: %v", err)
	}
	mu.Lock()
	ahead = 0
	mu.Unlock()
	// A refusal has it asked for anew.
	d.SetTrouble(func(call int, _ *http.Request) forgetest.Trouble {
		if call == 1 {
			return forgetest.Trouble{Status: 401, Body: `{"message":"Bad credentials"}`}
		}
		return forgetest.Trouble{}
	})
	if _, err := f.Repository(ctx, "shop/tests"); fault.KindOf(err) != fault.Unauthenticated {
		t.Errorf("%v", err)
	}
	if _, err := f.Repository(ctx, "shop/tests"); err != nil || d.IssuedTokens() != before+1 {
		t.Errorf("%v, %d tokens", err, d.IssuedTokens())
	}
	_, stranger := keyPair(t)
	bad, err := github.New(github.Config{BaseURL: d.URL, AppID: 7, InstallationID: 8, PrivateKey: stranger})
	if err == nil {
		_, err = bad.Repository(ctx, "shop/tests")
	}
	if fault.KindOf(err) != fault.Unauthenticated {
		t.Errorf("another key: %v", err)
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	_, text := keyPair(t)
	for name, c := range map[string]github.Config{
		"nothing": {}, "both": {Token: "x", AppID: 1, InstallationID: 2, PrivateKey: text}, "half an App": {AppID: 1, PrivateKey: text}, "no key": {AppID: 1, InstallationID: 2}, "bad key": {AppID: 1, InstallationID: 2, PrivateKey: "-----BEGIN X-----\n-----END X-----"},
		"bad address": {BaseURL: "ftp://x", Token: "t"}, "a user": {BaseURL: "https://u:p@x", Token: "t"},
	} {
		if _, err := github.New(c); fault.KindOf(err) != fault.Invalid || err == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := github.New(github.Config{Token: "t"}); err != nil {
		t.Error(err)
	}
}
