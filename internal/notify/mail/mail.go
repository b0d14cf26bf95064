// Package mail sends e-mails through the installation's SMTP server.
package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"

	"tas-service/internal/fault"
	"tas-service/internal/notify"
)

// Security is how the connection is kept from being read.
type Security string

// The ways.
const (
	StartTLS Security = "starttls" // the default: nothing is said before it
	TLS      Security = "tls"      // from the first byte
	None     Security = "none"     // for a server on the same machine
)

// Config is how to reach the server.
type Config struct {
	Host     string
	Port     int // 0: the usual one of the security
	Security Security
	User     string // "" for none
	Password string
	From     string // an address, or "Name <address>"
	Roots    *tls.Config
}

// Mailer is a notify.Mailer. Each letter is a connection of its own.
type Mailer struct {
	cfg     Config
	options []gomail.Option
}

// sendFor bounds one letter.
const sendFor = 30 * time.Second

// New makes a Mailer; what is wrong with the configuration is said at once.
func New(cfg Config) (*Mailer, error) {
	m := &Mailer{cfg: cfg, options: []gomail.Option{gomail.WithTimeout(sendFor)}}
	switch cfg.Security {
	case TLS:
		m.options = append(m.options, gomail.WithSSLPort(false))
	case None:
		m.options = append(m.options, gomail.WithTLSPortPolicy(gomail.NoTLS))
	case StartTLS, "":
		m.options = append(m.options, gomail.WithTLSPortPolicy(gomail.TLSMandatory))
	default:
		return nil, fault.New(fault.Invalid, "TAS_SMTP_SECURITY is %q.", cfg.Security).WithFix("Set starttls, tls or none, or leave it out.")
	}
	if cfg.Port > 0 {
		m.options = append(m.options, gomail.WithPort(cfg.Port))
	}
	if cfg.Roots != nil {
		m.options = append(m.options, gomail.WithTLSConfig(cfg.Roots))
	}
	if cfg.User != "" {
		m.options = append(m.options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover), gomail.WithUsername(cfg.User), gomail.WithPassword(cfg.Password))
	}
	if _, err := gomail.NewClient(cfg.Host, m.options...); err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "TAS_SMTP_HOST and TAS_SMTP_PORT do not name a server.").WithFix("Set them to such as smtp.example.com and 587.")
	}
	if err := gomail.NewMsg().From(cfg.From); err != nil {
		return nil, fault.New(fault.Invalid, "TAS_SMTP_FROM is no e-mail address.").WithFix("Set it to such as tas@example.com: receivers see it as the sender.")
	}
	return m, nil
}

// Send sends a letter to all of its receivers at once.
func (m *Mailer) Send(ctx context.Context, l notify.Letter) (string, error) {
	msg := gomail.NewMsg()
	if err := errors.Join(msg.From(m.cfg.From), msg.To(l.To...)); err != nil {
		return "", fault.New(fault.External, "An address of the letter cannot be written.").WithFix("Check the destination's addresses.")
	}
	domain := "tas.invalid"
	if from := msg.GetFrom(); len(from) > 0 {
		if _, host, ok := strings.Cut(from[0].Address, "@"); ok {
			domain = host
		}
	}
	msg.SetMessageIDWithValue(l.ID + "@" + domain)
	msg.SetDate()
	msg.SetBulk()
	msg.Subject(l.Subject)
	msg.SetBodyString(gomail.TypeTextPlain, l.Text)
	c, err := gomail.NewClient(m.cfg.Host, m.options...)
	if err != nil {
		return "", fault.Wrap(err, fault.Internal, "make a client for e-mail")
	}
	ctx, cancel := context.WithTimeout(ctx, sendFor)
	defer cancel()
	if err := c.DialAndSendWithContext(ctx, msg); err != nil {
		if msg.IsDelivered() {
			return "taken; the goodbye failed", nil
		}
		return m.clean(err), m.judge(err)
	}
	return "taken by " + m.cfg.Host, nil
}

// clean answers what the server said, without the password that it might repeat.
func (m *Mailer) clean(err error) string {
	text := err.Error()
	if m.cfg.Password != "" {
		text = strings.ReplaceAll(text, m.cfg.Password, "…")
	}
	return text
}

// judge says whether another try may help: SMTP has codes for that.
func (m *Mailer) judge(err error) error {
	var sent *gomail.SendError
	if errors.As(err, &sent) && !sent.IsTemp() && sent.ErrorCode() >= 500 {
		return fault.New(fault.External, "The mail server refuses the letter (%d).", sent.ErrorCode()).WithFix("Check the destination's addresses.")
	}
	return fault.New(fault.Unavailable, "The mail server did not take the letter.").WithFix("Whoever runs the service finds its settings in TAS_SMTP_HOST and its siblings.")
}
