// Package oidc signs people in at an OpenID Connect provider: the authorization code flow
// with PKCE, a state and a nonce.
package oidc

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"tas-service/internal/account"
	"tas-service/internal/fault"
)

// answerIn bounds each question to the provider.
const answerIn = 10 * time.Second

// Config is how the provider knows the service.
type Config struct {
	Issuer       string // its address, as it signs it
	ClientID     string
	ClientSecret string
	Callback     string // where it sends browsers back to
}

// Provider is an account.Provider. It is asked about itself when somebody first signs in,
// so that the service starts without it. Safe for concurrent use.
type Provider struct {
	cfg    Config
	client *http.Client

	mu    sync.Mutex
	known *oidc.Provider
}

var _ account.Provider = (*Provider)(nil)

// New knows a provider by its configuration.
func New(cfg Config) *Provider { return &Provider{cfg: cfg, client: &http.Client{Timeout: answerIn}} }

// Name answers the provider's host.
func (p *Provider) Name() string {
	if u, err := url.Parse(p.cfg.Issuer); err == nil && u.Host != "" {
		return u.Host
	}
	return p.cfg.Issuer
}

// discover asks the provider about itself, once it answers.
func (p *Provider) discover(ctx context.Context) (*oidc.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known != nil {
		return p.known, nil
	}
	// The provider's keys are fetched later too, so it must not be this request's context.
	known, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), p.client), p.cfg.Issuer)
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "The sign-in at %s does not answer as OpenID Connect does.", p.Name()).
			WithFix("Try again later, or sign in with a password. Whoever runs the service checks TAS_OIDC_ISSUER.")
	}
	p.known = known
	return known, nil
}

func (p *Provider) oauth(known *oidc.Provider) *oauth2.Config {
	return &oauth2.Config{ClientID: p.cfg.ClientID, ClientSecret: p.cfg.ClientSecret, Endpoint: known.Endpoint(), RedirectURL: p.cfg.Callback,
		Scopes: []string{oidc.ScopeOpenID, "email", "profile"}}
}

// Begin answers where to send the browser.
func (p *Provider) Begin(ctx context.Context, f account.Flow) (string, error) {
	known, err := p.discover(ctx)
	if err != nil {
		return "", err
	}
	return p.oauth(known).AuthCodeURL(f.State, oidc.Nonce(f.Nonce), oauth2.S256ChallengeOption(f.Verifier)), nil
}

// Finish trades the code for what the provider signed, and checks that it is meant for
// this service and this flow.
func (p *Provider) Finish(ctx context.Context, f account.Flow, code string) (account.Claims, error) {
	known, err := p.discover(ctx)
	if err != nil {
		return account.Claims{}, err
	}
	ctx = oidc.ClientContext(ctx, p.client)
	token, err := p.oauth(known).Exchange(ctx, code, oauth2.VerifierOption(f.Verifier))
	if err != nil {
		if _, refused := errors.AsType[*oauth2.RetrieveError](err); refused {
			return account.Claims{}, refuse(err)
		}
		return account.Claims{}, fault.Wrap(err, fault.Unavailable, "The sign-in at %s does not answer.", p.Name()).WithFix("Try again later.")
	}
	raw, ok := token.Extra("id_token").(string)
	if !ok {
		return account.Claims{}, refuse(errors.New("no id_token was answered"))
	}
	id, err := known.Verifier(&oidc.Config{ClientID: p.cfg.ClientID}).Verify(ctx, raw)
	if err != nil {
		return account.Claims{}, refuse(err)
	}
	if f.Nonce == "" || id.Nonce != f.Nonce {
		return account.Claims{}, refuse(errors.New("the nonce is another one"))
	}
	var said struct {
		Email    string `json:"email"`
		Verified bool   `json:"email_verified"`
		Name     string `json:"name"`
	}
	if err := id.Claims(&said); err != nil {
		return account.Claims{}, refuse(err)
	}
	return account.Claims{Identity: account.Identity{Issuer: id.Issuer, Subject: id.Subject}, Email: said.Email, Verified: said.Verified, Name: said.Name}, nil
}

func refuse(err error) error {
	return fault.Wrap(err, fault.Unauthenticated, "The provider did not vouch for you.").WithFix("Begin the sign-in again from the start.")
}
