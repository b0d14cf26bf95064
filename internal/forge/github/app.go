package github

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"strconv"
	"sync"
	"time"

	api "github.com/google/go-github/v92/github"

	"tas-service/internal/fault"
	"tas-service/internal/outbound"
)

const (
	// early is how long before its end a token of an installation is no longer used: git may
	// be at it for a while.
	early = 5 * time.Minute
	// drift is how much GitHub's clock may be behind ours.
	drift = time.Minute
	// proofLasts is how long the App's proof of itself is good; GitHub takes ten minutes.
	proofLasts = 8 * time.Minute
)

// app gets the tokens of a GitHub App's installation: each is good for an hour.
type app struct {
	id, installation int64
	key              *rsa.PrivateKey
	api              *api.Client // without a token of its own
	clock            func() time.Time

	asking sync.Mutex // one at a time asks for a new one
	mu     sync.Mutex
	have   string
	ends   time.Time
}

func parseKey(text string) (*rsa.PrivateKey, error) {
	bad := fault.New(fault.Invalid, "The App's private key cannot be read.").WithFix("Paste the whole file that GitHub gave, with its BEGIN and END lines.")
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, bad
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	if any, err := x509.ParsePKCS8PrivateKey(block.Bytes); err == nil {
		if key, ok := any.(*rsa.PrivateKey); ok {
			return key, nil
		}
	}
	return nil, bad
}

// proof answers a JWT that proves that we are the App.
func (a *app) proof() (string, error) {
	now := a.clock()
	claims, err := json.Marshal(map[string]any{"iat": now.Add(-drift).Unix(), "exp": now.Add(proofLasts).Unix(), "iss": strconv.FormatInt(a.id, 10)})
	if err != nil {
		return "", err
	}
	encode := base64.RawURLEncoding.EncodeToString
	text := encode([]byte(`{"alg":"RS256","typ":"JWT"}`)) + "." + encode(claims)
	sum := sha256.Sum256([]byte(text))
	sig, err := rsa.SignPKCS1v15(rand.Reader, a.key, crypto.SHA256, sum[:])
	if err != nil {
		return "", fault.Wrap(err, fault.Invalid, "The App's private key cannot sign.")
	}
	return text + "." + encode(sig), nil
}

// call makes a request as the App, not as its installation.
func (a *app) call(ctx context.Context, method, path string, out any) error {
	proof, err := a.proof()
	if err != nil {
		return err
	}
	r, err := a.api.NewRequest(ctx, method, path, nil)
	if err != nil {
		return outbound.Fault(who, err)
	}
	r.Header.Set("Authorization", "Bearer "+proof)
	_, err = a.api.Do(r, out)
	return outbound.Fault(who, err)
}

func (a *app) slug(ctx context.Context) (string, error) {
	var me api.App
	if err := a.call(ctx, http.MethodGet, "app", &me); err != nil {
		return "", err
	}
	if me.GetSlug() == "" {
		return "", unreadable()
	}
	return me.GetSlug(), nil
}

func (a *app) current() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.have
}

// forget is called when GitHub refuses the token: the next call asks for a new one.
func (a *app) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ends = time.Time{}
}

func (a *app) good() (string, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.have, a.have != "" && a.clock().Before(a.ends.Add(-early))
}

func (a *app) token(ctx context.Context) (string, error) {
	if t, ok := a.good(); ok {
		return t, nil
	}
	a.asking.Lock()
	defer a.asking.Unlock()
	if t, ok := a.good(); ok {
		return t, nil
	}
	var fresh api.InstallationToken
	if err := a.call(ctx, http.MethodPost, "app/installations/"+strconv.FormatInt(a.installation, 10)+"/access_tokens", &fresh); err != nil {
		return "", err
	}
	if fresh.GetToken() == "" {
		return "", unreadable()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.have, a.ends = fresh.GetToken(), fresh.GetExpiresAt().Time
	return a.have, nil
}
