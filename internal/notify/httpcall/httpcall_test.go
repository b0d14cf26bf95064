package httpcall_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"tas-service/internal/fault"
	"tas-service/internal/notify"
	"tas-service/internal/notify/httpcall"
	"tas-service/internal/notify/notifytest"
)

const (
	oneKey   = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	otherKey = "whsec_plJ3nmyCDGBKInavdOK15jsl"
)

// TestSigned verifies a message with either of two keys, as after a rotation.
func TestSigned(t *testing.T) {
	t.Parallel()
	c := httpcall.New(true)
	for _, key := range []string{oneKey, otherKey} {
		r := notifytest.NewReceiver(t, notifytest.Signed(key))
		reply, err := c.Call(t.Context(), notify.Call{URL: r.URL, Body: []byte(`{"a":1}`), Keys: []string{oneKey, otherKey}, ID: "evt_1", At: time.Now()})
		if err != nil || reply.Status != http.StatusOK {
			t.Errorf("%+v, %v", reply, err)
		}
	}
	r := notifytest.NewReceiver(t, notifytest.Signed("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"))
	if reply, err := c.Call(t.Context(), notify.Call{URL: r.URL, Body: []byte(`{}`), Keys: []string{oneKey}, ID: "evt_1", At: time.Now()}); err != nil || reply.Status != http.StatusBadRequest {
		t.Errorf("another key verifies: %+v, %v", reply, err)
	}
	// The example of the standard's own documents.
	headers := make(http.Header)
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) { headers = q.Header.Clone() }))
	defer srv.Close()
	if _, err := c.Call(t.Context(), notify.Call{URL: srv.URL, Body: []byte(`{"test": 2432232314}`), Keys: []string{oneKey}, ID: "msg_p5jXN8AQM9LWM0D4loKWxJek", At: time.Unix(1614265330, 0)}); err != nil {
		t.Fatal(err)
	}
	if got := headers.Get("webhook-signature"); got != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" {
		t.Errorf("signed %q", got)
	}
}

// TestInside refuses every address that is not on the Internet, however it is written, and
// the service's own always.
func TestInside(t *testing.T) {
	t.Parallel()
	for text, inside := range map[string]bool{
		"127.0.0.1": true, "127.9.9.9": true, "10.1.2.3": true, "172.16.0.1": true, "192.168.1.1": true, "169.254.169.254": true, "0.0.0.0": true, "0.1.2.3": true, "100.64.0.1": true,
		"224.0.0.1": true, "255.255.255.255": true, "198.18.0.1": true, "192.0.2.1": true, "::1": true, "::": true, "::ffff:127.0.0.1": true, "::ffff:10.0.0.1": true, "::127.0.0.1": true,
		"fe80::1%eth0": true, "fc00::1": true, "fd12::1": true, "ff02::1": true, "64:ff9b::7f00:1": true, "2002:7f00:1::": true, "2001:db8::1": true,
		"8.8.8.8": false, "172.32.0.1": false, "2606:4700::1111": false, "::ffff:8.8.8.8": false,
	} {
		if got := httpcall.Inside(netip.MustParseAddr(text)); got != inside {
			t.Errorf("%s is inside: %v", text, got)
		}
	}
	r := notifytest.NewReceiver(t, func(http.Header, []byte) error { return nil })
	_, port, err := net.SplitHostPort(r.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	call := func(c *httpcall.Caller, url string) error {
		_, err := c.Call(t.Context(), notify.Call{URL: url, Body: []byte("{}")})
		return err
	}
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0", "2130706433", "0x7f.1", "LOCALHOST."} {
		err := call(httpcall.New(false), "http://"+host+":"+port+"/s3cret")
		if err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", host, err)
		}
		if err := call(httpcall.New(true, r.URL), "http://"+host+":"+port+"/s3cret"); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("the service's own at %s: %v", host, err)
		}
	}
	if err := call(httpcall.New(false), r.URL); fault.KindOf(err) != fault.External || !strings.Contains(fault.As(err).Public(), "TAS_WEBHOOKS_PRIVATE") {
		t.Errorf("%v", err)
	}
	if err := call(httpcall.New(true, "https://tas.example"), "https://TAS.example:443/x"); fault.KindOf(err) != fault.External {
		t.Errorf("%v", err)
	}
	if len(r.Arrived) != 0 {
		t.Errorf("%d calls arrived", len(r.Arrived))
	}
	if err := call(httpcall.New(true), r.URL); err != nil {
		t.Errorf("what is allowed: %v", err)
	}
}

// TestAnswers does not follow redirects, reads answers within bounds, and tells nothing of
// the address where nobody answers.
func TestAnswers(t *testing.T) {
	t.Parallel()
	c := httpcall.New(true)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		switch q.URL.Path {
		case "/away":
			http.Redirect(w, q, "/big", http.StatusTemporaryRedirect)
		case "/big":
			w.Write(make([]byte, 10<<20)) //nolint:errcheck // the caller stops reading
		case "/busy":
			w.Header().Set("Retry-After", "120")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}))
	defer srv.Close()
	for path, want := range map[string]notify.Reply{"/away": {Status: 307}, "/big": {Status: 200, Body: string(make([]byte, 16<<10))}, "/busy": {Status: 429, RetryAfter: 2 * time.Minute}} {
		got, err := c.Call(t.Context(), notify.Call{URL: srv.URL + path, Body: []byte("{}")})
		if err != nil || got != want {
			t.Errorf("%s: %d, %d bytes, %s, %v", path, got.Status, len(got.Body), got.RetryAfter, err)
		}
	}
	gone := httptest.NewServer(nil)
	gone.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for what, call := range map[string]func() error{
		"refused": func() error { _, err := c.Call(t.Context(), notify.Call{URL: gone.URL + "/s3cret"}); return err },
		"broken":  func() error { _, err := c.Call(ctx, notify.Call{URL: srv.URL + "/s3cret"}); return err },
		"no host": func() error {
			_, err := c.Call(t.Context(), notify.Call{URL: "http://no.such.host.invalid/s3cret"})
			return err
		},
		"odd": func() error { _, err := c.Call(t.Context(), notify.Call{URL: "http://[::1/s3cret"}); return err },
		"bad key": func() error {
			_, err := c.Call(t.Context(), notify.Call{URL: srv.URL, Keys: []string{"whsec_%"}})
			return err
		},
		"not https": func() error {
			_, err := c.Call(t.Context(), notify.Call{URL: strings.Replace(srv.URL, "http", "https", 1) + "/s3cret"})
			return err
		},
	} {
		if err := call(); err == nil || fault.As(err) == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// FuzzRetryAfter reads what receivers send.
func FuzzRetryAfter(f *testing.F) {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	for _, s := range []string{"", "1", "-1", "99999999999999999999", "Wed, 04 Mar 2026 12:00:30 GMT", "Wed, 04 Mar 2099 12:00:30 GMT", "x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if d := httpcall.RetryAfter(text, now); d < 0 || d > 24*time.Hour {
			t.Errorf("%q is %s", text, d)
		}
	})
}
