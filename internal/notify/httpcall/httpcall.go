// Package httpcall posts messages to addresses that people have entered: signed where they
// have a key, within bounds, and never to the inside of the network unless it may.
package httpcall

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"tas-service/internal/fault"
	"tas-service/internal/notify"
)

// Bounds of a call.
const (
	callFor   = 15 * time.Second
	maxAnswer = 16 << 10
	maxWait   = 24 * time.Hour // of Retry-After
)

// Caller is a notify.Caller. Safe for concurrent use.
type Caller struct {
	client *http.Client
	own    []string
}

// errInside is what a dial to a forbidden address ends with.
var errInside = errors.New("the address is inside")

// New makes a Caller. With private true it also calls addresses of the machine and of
// private networks; the service's own addresses, such as https://tas.example.com, it never
// calls. Calls go straight out: a proxy would make connections that nobody checks.
func New(private bool, own ...string) *Caller {
	ports := map[uint16]bool{} // at which the service itself listens on this machine
	d := &net.Dialer{Timeout: callFor, Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address) // resolved already, so that no name can answer twice
		if err != nil {
			return err
		}
		if !private && Inside(at.Addr()) || ports[at.Port()] && local(at.Addr()) {
			return errInside
		}
		return nil
	}}
	c := &Caller{client: &http.Client{Timeout: callFor,
		Transport:     &http.Transport{DialContext: d.DialContext, MaxIdleConns: 20, IdleConnTimeout: 30 * time.Second, TLSHandshakeTimeout: callFor, MaxResponseHeaderBytes: 64 << 10, ForceAttemptHTTP2: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	for _, o := range own {
		if u, err := url.Parse(o); err == nil && u.Host != "" {
			c.own = append(c.own, hostPort(u))
			if a, err := netip.ParseAddrPort(u.Host); err == nil && local(a.Addr()) {
				ports[a.Port()] = true
			}
		}
	}
	return c
}

// local reports whether an address is one of this machine.
func local(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if a.IsLoopback() || a.IsUnspecified() {
		return true
	}
	all, err := net.InterfaceAddrs()
	return err == nil && slices.ContainsFunc(all, func(x net.Addr) bool {
		p, err := netip.ParsePrefix(x.String())
		return err == nil && p.Addr().Unmap().WithZone("") == a
	})
}

func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if a, err := netip.ParseAddr(host); host == "localhost" || err == nil && a.Unmap().IsLoopback() {
		host = "loopback"
	}
	return net.JoinHostPort(host, port)
}

// notPublic are networks that no receiver on the Internet is in, beside those that
// netip.Addr knows: shared, of protocols, for benchmarks and documents, and those that
// carry an IPv4 address within an IPv6 one, which could be any.
var notPublic = prefixes("0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "fec0::/10")

func prefixes(all ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(all))
	for i, p := range all {
		out[i] = netip.MustParsePrefix(p)
	}
	return out
}

// Inside reports whether an address is one of the machine, of a private network, or of no
// receiver on the Internet.
func Inside(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return !a.IsGlobalUnicast() || a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() ||
		slices.ContainsFunc(notPublic, func(p netip.Prefix) bool { return p.Contains(a) })
}

// Call posts one message. No error tells the address: it is a secret.
func (c *Caller) Call(ctx context.Context, call notify.Call) (notify.Reply, error) {
	u, err := url.Parse(call.URL)
	if err != nil || u.Host == "" {
		return notify.Reply{}, fault.New(fault.External, "The destination's address cannot be read.").WithFix("Enter it anew.")
	}
	if slices.Contains(c.own, hostPort(u)) {
		return notify.Reply{}, fault.New(fault.External, "The destination is this service itself.").WithFix("Enter the address of who should hear of it.")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, call.URL, bytes.NewReader(call.Body))
	if err != nil {
		return notify.Reply{}, fault.New(fault.External, "The destination's address cannot be called.").WithFix("Enter it anew.")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "TAS")
	if len(call.Keys) > 0 {
		if err := sign(req.Header, call); err != nil {
			return notify.Reply{}, err
		}
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return notify.Reply{}, why(err)
	}
	defer resp.Body.Close() //nolint:errcheck // it was read as far as it is wanted
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil && resp.StatusCode < 300 {
		body = nil // the status came, and says it all
	}
	return notify.Reply{Status: resp.StatusCode, Body: string(body), RetryAfter: RetryAfter(resp.Header.Get("Retry-After"), time.Now())}, nil
}

func sign(h http.Header, call notify.Call) error {
	var all []string
	for _, key := range call.Keys {
		w, err := standardwebhooks.NewWebhook(key)
		if err != nil {
			return fault.New(fault.Invalid, "The destination's signing key cannot be read.").WithFix("Rotate it.")
		}
		one, err := w.Sign(call.ID, call.At, call.Body)
		if err != nil {
			return fault.Wrap(err, fault.Internal, "sign a message")
		}
		all = append(all, one)
	}
	h.Set(standardwebhooks.HeaderWebhookID, call.ID)
	h.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(call.At.Unix(), 10))
	h.Set(standardwebhooks.HeaderWebhookSignature, strings.Join(all, " "))
	return nil
}

// why says what kept a call from being answered, without the address that http's own
// errors hold.
func why(err error) error {
	var dns *net.DNSError
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	switch {
	case errors.Is(err, errInside):
		return fault.New(fault.External, "The destination is inside: an address of this machine or of a private network.").
			WithFix("Enter a public one. Whoever runs the service may allow others: TAS_WEBHOOKS_PRIVATE=true.")
	case errors.As(err, &dns):
		return fault.New(fault.Unavailable, "The destination's host name is not known.").WithFix("Check the address.")
	case errors.Is(err, context.DeadlineExceeded) || isTimeout(err):
		return fault.New(fault.Unavailable, "The receiver did not answer within %s.", callFor).WithFix("It should take the message and work on it afterwards.")
	case errors.Is(err, syscall.ECONNREFUSED):
		return fault.New(fault.Unavailable, "The receiver refuses connections.").WithFix("Check that it runs.")
	}
	return fault.New(fault.Unavailable, "The receiver cannot be reached, or its certificate is not trusted.").WithFix("Check the address, and that it can be called from this service's machine.")
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

// RetryAfter reads how long somebody wants to be left alone: seconds, or a time. What
// cannot be read is 0, and a day the most.
func RetryAfter(text string, now time.Time) time.Duration {
	text = strings.TrimSpace(text)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return time.Duration(min(max(n, 0), int64(maxWait/time.Second))) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(at.Sub(now), 0), maxWait)
	}
	return 0
}
