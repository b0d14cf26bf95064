package oidc_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"tas-service/internal/account"
	"tas-service/internal/account/oidc"
	"tas-service/internal/account/oidctest"
	"tas-service/internal/fault"
)

func begin(t *testing.T, p *oidc.Provider, f account.Flow) (code string) {
	t.Helper()
	address, err := p.Begin(context.Background(), f)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultTransport.RoundTrip(mustRequest(t, address))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	back, err := url.Parse(resp.Header.Get("Location"))
	if err != nil || resp.StatusCode != http.StatusFound || back.Query().Get("state") != f.State || !strings.HasPrefix(back.String(), "http://tas.example/sign-in/oidc/callback?") {
		t.Fatalf("the provider sends to %s: %d, %v", back, resp.StatusCode, err)
	}
	return back.Query().Get("code")
}

func mustRequest(t *testing.T, address string) *http.Request {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestProvider believes what the provider signed for this flow, and nothing else.
func TestProvider(t *testing.T) {
	t.Parallel()
	double := oidctest.New(t)
	double.Become("42", "Ada@Example.com", true, "Ada")
	cfg := oidc.Config{Issuer: double.URL, ClientID: double.ClientID, ClientSecret: double.ClientSecret, Callback: "http://tas.example/sign-in/oidc/callback"}
	p := oidc.New(cfg)
	f := account.Flow{State: "s1", Nonce: "n1", Verifier: strings.Repeat("v", 43)}
	c, err := p.Finish(context.Background(), f, begin(t, p, f))
	if err != nil || c.Subject != "42" || c.Issuer != double.URL || c.Email != "Ada@Example.com" || !c.Verified || c.Name != "Ada" {
		t.Fatalf("%+v, %v", c, err)
	}
	refused := func(name string, p *oidc.Provider, f account.Flow, code string) {
		t.Helper()
		if c, err := p.Finish(context.Background(), f, code); fault.KindOf(err) != fault.Unauthenticated {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
	code := begin(t, p, f)
	if _, err := p.Finish(context.Background(), f, code); err != nil {
		t.Fatal(err)
	}
	refused("a code that was used", p, f, code)
	other := f
	other.Nonce = "n2"
	refused("another flow's nonce", p, other, begin(t, p, f))
	other = f
	other.Verifier = strings.Repeat("w", 43)
	refused("another browser's verifier", p, other, begin(t, p, f))
	wrong := cfg
	wrong.ClientSecret = "x"
	refused("a wrong secret", oidc.New(wrong), f, begin(t, p, f))
	for name, bend := range map[string]func(map[string]any){
		"for another service": func(c map[string]any) { c["aud"] = "other" },
		"of another provider": func(c map[string]any) { c["iss"] = "https://evil.example" },
		"expired":             func(c map[string]any) { c["exp"] = time.Now().Add(-time.Hour).Unix() },
		"no nonce":            func(c map[string]any) { delete(c, "nonce") },
	} {
		double.Bend(bend)
		refused(name, p, f, begin(t, p, f))
	}
	double.Bend(nil)
	double.Forge(true)
	refused("signed with another key", p, f, begin(t, p, f))
	away := cfg
	away.Issuer = "http://127.0.0.1:1"
	if _, err := oidc.New(away).Begin(context.Background(), f); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a provider that does not answer: %v", err)
	}
}
