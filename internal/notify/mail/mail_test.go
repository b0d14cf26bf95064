package mail_test

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/emersion/go-smtp"

	"tas-service/internal/fault"
	"tas-service/internal/notify"
	"tas-service/internal/notify/mail"
	"tas-service/internal/notify/notifytest"
)

// certificate answers what a server of 127.0.0.1 shows, and who trusts it.
func certificate(t *testing.T) (server, client *tls.Config) {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return &tls.Config{Certificates: s.TLS.Certificates}, &tls.Config{RootCAs: roots, ServerName: "127.0.0.1"}
}

func config(t *testing.T, addr string, c mail.Config) mail.Config {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	c.Host, c.From = host, "TAS <tas@example.com>"
	if c.Port, err = strconv.Atoi(port); err != nil {
		t.Fatal(err)
	}
	return c
}

var letter = notify.Letter{ID: "evt_1.d", To: []string{"a@example.com", "b@example.com"}, Subject: "Shop: 2 of 3\r\nBcc: eve@example.com tests failed жж", Text: "line\n.\nFrom the end жж\n"}

// TestSend sends over each kind of connection, with and without signing in.
func TestSend(t *testing.T) {
	t.Parallel()
	shows, trusts := certificate(t)
	for name, c := range map[string]struct {
		cert     *tls.Config
		implicit bool
		cfg      mail.Config
		wrong    bool
	}{
		"starttls":         {shows, false, mail.Config{Roots: trusts, User: "u", Password: "p-s3cret"}, false},
		"tls":              {shows, true, mail.Config{Roots: trusts, Security: mail.TLS, User: "u", Password: "p-s3cret"}, false},
		"none":             {nil, false, mail.Config{Security: mail.None}, false},
		"wrong password":   {shows, false, mail.Config{Roots: trusts, User: "u", Password: "q-s3cret"}, true},
		"no starttls":      {nil, false, mail.Config{}, true},
		"unknown issuer":   {shows, false, mail.Config{User: "u", Password: "p-s3cret"}, true},
		"nobody signed in": {shows, false, mail.Config{Roots: trusts}, true},
	} {
		user := "u"
		if c.cfg.Security == mail.None {
			user = ""
		}
		server := notifytest.NewMailServer(t, user, "p-s3cret", c.cert, c.implicit)
		m, err := mail.New(config(t, server.Addr, c.cfg))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := m.Send(t.Context(), letter)
		got := server.Letters()
		if (err != nil) != c.wrong || (len(got) == 1) == c.wrong || strings.Contains(answer, "s3cret") || err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %q, %v, %d letters", name, answer, err, len(got))
			continue
		}
		if c.wrong {
			continue
		}
		if l := got[0]; l.From != "tas@example.com" || strings.Join(l.To, " ") != "a@example.com b@example.com" || !strings.Contains(l.Text, "Message-ID: <evt_1.d@example.com>") || strings.Contains(l.Text, "\nBcc:") {
			t.Errorf("%s: %+v", name, l)
		}
	}
}

// TestRefused tells what is final from what another try may help.
func TestRefused(t *testing.T) {
	t.Parallel()
	server := notifytest.NewMailServer(t, "", "", nil, false)
	m, err := mail.New(config(t, server.Addr, mail.Config{Security: mail.None}))
	if err != nil {
		t.Fatal(err)
	}
	for code, kind := range map[int]fault.Kind{451: fault.Unavailable, 554: fault.External} {
		server.Refuse(&smtp.SMTPError{Code: code, EnhancedCode: smtp.EnhancedCode{code / 100, 0, 0}, Message: "not now"})
		if answer, err := m.Send(t.Context(), letter); fault.KindOf(err) != kind || !strings.Contains(answer, "not now") {
			t.Errorf("%d: %q, %v", code, answer, err)
		}
	}
	nobody, err := mail.New(config(t, "127.0.0.1:1", mail.Config{Security: mail.None}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := nobody.Send(t.Context(), letter); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("%v", err)
	}
	for name, cfg := range map[string]mail.Config{"security": {Host: "h", From: "a@b.c", Security: "x"}, "from": {Host: "h", From: "x"}, "host": {From: "a@b.c"}} {
		if _, err := mail.New(cfg); err == nil || !strings.Contains(err.Error(), "TAS_SMTP") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
