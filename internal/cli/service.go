// Package cli is the caller's side of the command line: it starts runs, follows them and
// says what came of them. It knows the service only through its public API, by the package
// client, as any other caller.
package cli

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"tas-service/client"
)

// Service says where the service is. The key comes from the environment alone: an argument
// is seen by every user of the machine, and shells keep it.
type Service struct {
	BaseURL string `name:"base-url" env:"SERVICE_BASE_URL" placeholder:"URL" help:"Address of the service. The API key is read from SERVICE_API_KEY, and from nowhere else."`
}

// silence is how long an answer may take beyond what it was asked to wait.
const silence = 45 * time.Second

// dial answers a client of the service.
func (s Service) dial() (*client.Client, error) {
	if s.BaseURL == "" {
		return nil, usage("No address of the service. Set SERVICE_BASE_URL, or give --base-url, such as http://127.0.0.1:8700.")
	}
	u, err := url.Parse(strings.TrimSpace(s.BaseURL))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return nil, usage("%q is no address of a service. SERVICE_BASE_URL (or --base-url) must look like http://127.0.0.1:8700 or https://tas.example.com.", clean(s.BaseURL))
	}
	u.RawQuery, u.Fragment = "", ""
	u.Path = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), "/public-api/v1"), "/public-api")
	key := strings.TrimSpace(os.Getenv("SERVICE_API_KEY")) // secrets from files end in a line break
	switch {
	case key == "":
		return nil, usage("No API key. Set SERVICE_API_KEY to the project's key; `tas project create` and `tas project rotate-key` print it.")
	case strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return nil, usage("SERVICE_API_KEY holds spaces, line breaks or letters that no key has. Set it to the key alone.")
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = pollWait + silence
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	return &client.Client{BaseURL: u.String(), APIKey: key, HTTP: &http.Client{Transport: t, Timeout: 2 * (pollWait + silence),
		// A POST that follows a redirect becomes a GET: say where the service went instead.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}, nil
}

// explain answers what a person should read of a failed call, with its exit code.
func explain(err error) *Exit {
	if e, ok := errors.AsType[*Exit](err); ok {
		return e
	}
	p, ok := errors.AsType[*client.Problem](err)
	if !ok {
		return &Exit{Code: exitUnreachable, Message: "The service cannot be reached: " + clean(reason(err)) + ". Check SERVICE_BASE_URL, and that the service runs."}
	}
	message := clean(p.Detail)
	for _, e := range p.Errors {
		message += "\n  " + clean(e.Path) + ": " + clean(e.Message)
	}
	if p.RequestID != "" && p.Status >= 500 {
		message += "\n  request " + clean(p.RequestID) + " in the service's log"
	}
	if p.Status >= 300 && p.Status < 400 {
		message += ". Set SERVICE_BASE_URL (or --base-url) to the service's new address."
	}
	switch p.Status {
	case http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return &Exit{Code: exitUsage, Message: message}
	default:
		return &Exit{Code: exitUnreachable, Message: message}
	}
}

// reason leaves out what a person does not need of a network error: the method and the
// whole address, which is long for a status.
func reason(err error) string {
	if u, ok := errors.AsType[*url.Error](err); ok {
		if at, perr := url.Parse(u.URL); perr == nil {
			return at.Scheme + "://" + at.Host + ": " + u.Err.Error()
		}
		return u.Err.Error()
	}
	return err.Error()
}

// passing reports whether the same call may succeed later without anybody changing it.
func passing(err error) bool {
	if p, ok := errors.AsType[*client.Problem](err); ok {
		return p.Temporary()
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return dns.IsTemporary || dns.IsTimeout
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return false
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return false
	}
	return !errors.Is(err, context.Canceled)
}

// patiently makes a call again and again while its failure may pass, for so long. told
// hears of the first failure.
func patiently[T any](ctx context.Context, patience time.Duration, told func(error), call func() (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for wait := newBackoff(); ; {
		out, err := call()
		if err == nil || !passing(err) || ctx.Err() != nil {
			return out, err
		}
		if wait.tries == 0 && told != nil {
			told(err)
		}
		if !wait.sleep(ctx, err) {
			return out, err
		}
	}
}

// backoff spaces repeated calls.
type backoff struct {
	tries int
	next  time.Duration
}

const (
	firstPause   = 250 * time.Millisecond
	longestPause = 10 * time.Second
)

func newBackoff() *backoff { return &backoff{next: firstPause} }

// sleep waits, longer each time, or as long as the answer asked for; false when ctx ended.
func (b *backoff) sleep(ctx context.Context, err error) bool {
	pause := b.next
	if p, ok := errors.AsType[*client.Problem](err); ok {
		pause = cmp.Or(min(p.RetryAfter, time.Minute), pause)
	}
	b.tries++
	b.next = min(2*b.next, longestPause)
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
