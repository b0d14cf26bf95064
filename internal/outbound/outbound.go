// Package outbound is the HTTP client with which the service calls others that it was told
// of: bounded answers, no redirect that takes credentials elsewhere, no second try that
// nobody asked for, and errors in our words that hold no secret.
package outbound

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"tas-service/internal/fault"
)

// What holds where a Config says nothing.
const (
	DefaultTimeout = 30 * time.Second // of a call, with reading its answer
	DefaultLimit   = 64 << 20         // bytes of an answer
)

const (
	maxSaid      = 300     // characters of a message that are passed on
	maxRefusal   = 1 << 20 // bytes of a refusal that are read
	maxRedirects = 3
)

// Config is how others are called.
type Config struct {
	// Who is called, for people: "GitHub".
	Who string
	// HTTP lends its transport and its timeout; nil for the machine's own, which calls no
	// address of the link (clouds tell machines' secrets there), and DefaultTimeout.
	HTTP *http.Client
	// Secrets answers what must not be told, whatever the other side says; nil for none.
	Secrets func() []string
	// Explain says what a status of 300 or more means; said is the other side's message,
	// cleansed.
	Explain func(status int, header func(string) string, said string) error
}

// New answers a client whose errors are faults, wrapped by net/http: see Fault. Statuses of
// 300 and more are errors, too.
func New(c Config) *http.Client {
	timeout := DefaultTimeout
	var transport http.RoundTripper
	if c.HTTP != nil {
		if c.HTTP.Transport != nil {
			transport = c.HTTP.Transport
		}
		if c.HTTP.Timeout > 0 {
			timeout = c.HTTP.Timeout
		}
	}
	if transport == nil {
		transport = direct()
	}
	return &http.Client{
		Timeout:   timeout,
		Transport: &careful{Config: c, next: transport},
		CheckRedirect: func(r *http.Request, before []*http.Request) error {
			first := before[0]
			if len(before) > maxRedirects || r.URL.Scheme != first.URL.Scheme || r.URL.Host != first.URL.Host || r.Method != first.Method {
				return fault.New(fault.Invalid, "%s leads elsewhere, and credentials are not taken there.", c.Who).
					WithFix("Write its own address into the settings.")
			}
			return nil
		},
	}
}

// direct answers what http.DefaultTransport is, but for the addresses that it does not call.
func direct() *http.Transport {
	t := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxIdleConns: 100, IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second, ExpectContinueTimeout: time.Second}
	// The address is resolved already, so that no name can answer twice.
	d := &net.Dialer{Timeout: DefaultTimeout, KeepAlive: 30 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		if a := at.Addr().Unmap().WithZone(""); a.IsLinkLocalUnicast() || a.IsMulticast() || slices.Contains(tellers, a) {
			return errLink
		}
		return nil
	}}
	t.DialContext = d.DialContext
	return t
}

// tellers are where clouds tell machines' secrets outside of the link.
var tellers = []netip.Addr{netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("100.100.100.200")}

// errLink is what a dial to a forbidden address ends with.
var errLink = errors.New("the address is one of the link")

type limitKey struct{}

// WithLimit bounds the answers of calls with this context, in bytes: what is longer is an
// error of kind fault.TooLarge.
func WithLimit(ctx context.Context, bytes int64) context.Context {
	return context.WithValue(ctx, limitKey{}, bytes)
}

// careful is the transport of these clients.
type careful struct {
	Config
	next http.RoundTripper
}

// RoundTrip answers with the whole body in memory, or with a fault.
func (c *careful) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := c.next.RoundTrip(r)
	if err != nil {
		return nil, c.lost(err)
	}
	redirect := resp.StatusCode >= 300 && resp.StatusCode < 400 && resp.Header.Get("Location") != ""
	if resp.StatusCode < 300 || redirect {
		limit, ok := r.Context().Value(limitKey{}).(int64)
		if !ok {
			limit = DefaultLimit
		}
		body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
		resp.Body.Close() //nolint:errcheck // it was read
		if err != nil {
			return nil, c.lost(err)
		}
		if int64(len(body)) > limit {
			return nil, fault.New(fault.TooLarge, "%s answered with more than %d bytes.", c.Who, limit)
		}
		resp.Body = io.NopCloser(bytes.NewReader(body))
		return resp, nil
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	resp.Body.Close() //nolint:errcheck // it was read
	if err != nil {
		body = nil // the status says enough
	}
	return nil, c.Explain(resp.StatusCode, resp.Header.Get, c.cleanse(message(body)))
}

// lost is a call that has no answer. It may have been heard all the same.
func (c *careful) lost(err error) error {
	if errors.Is(err, errLink) {
		return fault.New(fault.Invalid, "The address of %s is one that is never called.", c.Who).WithFix("Correct it in the settings.")
	}
	what := "cannot be reached"
	var timeout net.Error
	switch {
	case errors.Is(err, context.Canceled):
		what = "was not waited for"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		what = "did not answer in time"
	}
	return fault.Wrap(errors.New(c.cleanse(err.Error())), fault.Unavailable, "%s %s.", c.Who, what).
		WithFix("Check its address, and whether it can be reached from the service's machine.")
}

func (c *careful) cleanse(s string) string {
	if c.Secrets != nil {
		for _, secret := range c.Secrets() {
			if secret != "" {
				s = strings.ReplaceAll(s, secret, "***")
				s = strings.ReplaceAll(s, url.QueryEscape(secret), "***")
			}
		}
	}
	return s
}

// message reads what a refusal says, whatever its shape: {"message": …}, {"error": …},
// with texts, lists or objects in it.
func message(body []byte) string {
	var m map[string]any
	if json.Unmarshal(body, &m) != nil {
		return ""
	}
	var parts []string
	for _, key := range []string{"message", "error", "error_description", "errors"} {
		if s := flat(m[key], 0); s != "" {
			parts = append(parts, s)
		}
	}
	return cut(strings.Join(parts, "; "))
}

func flat(v any, depth int) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var parts []string
		for _, x := range v {
			if s := flat(x, depth+1); s != "" && depth < 3 {
				parts = append(parts, s)
			}
		}
		return strings.Join(parts, ", ")
	case map[string]any:
		if s, ok := v["message"].(string); ok {
			return s
		}
		var parts []string
		for _, key := range []string{"resource", "field", "code", "base", "name", "title", "body", "note", "description"} {
			if s := flat(v[key], depth+1); s != "" && depth < 3 {
				parts = append(parts, key+" "+s)
			}
		}
		return strings.Join(parts, ", ")
	default:
		return ""
	}
}

// cut answers one line that fits into a message.
func cut(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	if utf8.RuneCountInString(s) > maxSaid {
		s = string([]rune(s)[:maxSaid]) + "…"
	}
	return s
}

// Fault answers what an SDK's error means: the fault that the client gave, without what the
// SDK and net/http wrapped around it (they tell addresses); or, of an answer that the SDK
// cannot read, a fault of its own.
func Fault(who string, err error) error {
	if err == nil {
		return nil
	}
	if f := fault.As(err); f != nil {
		return f
	}
	var timeout net.Error
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout() {
		return fault.New(fault.Unavailable, "%s did not answer in time.", who).WithFix("It is tried again later.")
	}
	// Its text may hold what was sent: only its type is kept.
	return fault.Wrap(fmt.Errorf("%T", err), fault.Unavailable, "%s answered something that cannot be read.", who).
		WithFix("Check that its address leads to its own API, not to a proxy or a sign-in page.")
}
