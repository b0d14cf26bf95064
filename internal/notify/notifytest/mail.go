package notifytest

import (
	"crypto/tls"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// Letter is an e-mail that a MailServer took.
type Letter struct {
	From string
	To   []string
	Text string // with its headers
}

// MailServer speaks SMTP at a port of loopback.
type MailServer struct {
	Addr string

	mu      sync.Mutex
	letters []Letter
	refuse  error
	user    string
	pass    string
}

// NewMailServer starts a mail server. With a user it takes letters of that one alone; with a
// certificate it offers STARTTLS, and with implicit it speaks TLS from the first byte.
func NewMailServer(t testing.TB, user, pass string, cert *tls.Config, implicit bool) *MailServer {
	t.Helper()
	m := &MailServer{user: user, pass: pass}
	s := smtp.NewServer(m)
	s.Domain, s.TLSConfig, s.AllowInsecureAuth, s.MaxRecipients = "localhost", cert, cert == nil, 50
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m.Addr = l.Addr().String()
	if implicit {
		l = tls.NewListener(l, cert)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() { s.Close(); <-done }) //nolint:errcheck // it ends
	return m
}

// Refuse has the server answer letters with an error from now on; nil takes them again.
func (m *MailServer) Refuse(err *smtp.SMTPError) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refuse = nil
	if err != nil {
		m.refuse = err
	}
}

// Letters answers what was taken.
func (m *MailServer) Letters() []Letter {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]Letter(nil), m.letters...)
}

// NewSession begins a connection.
func (m *MailServer) NewSession(*smtp.Conn) (smtp.Session, error) {
	return &mailSession{m: m, in: m.user == ""}, nil
}

type mailSession struct {
	m  *MailServer
	in bool
	l  Letter
}

// AuthMechanisms lists how one signs in.
func (s *mailSession) AuthMechanisms() []string {
	if s.m.user == "" {
		return nil
	}
	return []string{sasl.Plain}
}

// Auth signs in.
func (s *mailSession) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, pass string) error {
		if user != s.m.user || pass != s.m.pass {
			return smtp.ErrAuthFailed
		}
		s.in = true
		return nil
	}), nil
}

// Mail begins a letter.
func (s *mailSession) Mail(from string, _ *smtp.MailOptions) error {
	if !s.in {
		return smtp.ErrAuthRequired
	}
	s.l = Letter{From: from}
	return nil
}

// Rcpt adds a receiver.
func (s *mailSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.l.To = append(s.l.To, to)
	return nil
}

// Data takes the letter.
func (s *mailSession) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	if err != nil || s.m.refuse != nil {
		if err == nil {
			err = s.m.refuse
		}
		return err
	}
	s.l.Text = string(text)
	s.m.letters = append(s.m.letters, s.l)
	return nil
}

// Reset forgets the letter.
func (s *mailSession) Reset() { s.l = Letter{} }

// Logout ends the connection.
func (s *mailSession) Logout() error { return nil }
