// Package notify tells others what happens in a project: webhooks, chat rooms and people's
// mailboxes. Each message is an action, so that it is recorded, tried again, and shown with
// the answer. How one is sent is machinery below this package.
package notify

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"net/mail"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"tas-service/internal/fault"
)

// Kind is a kind of destination.
type Kind string

// The kinds.
const (
	Webhook Kind = "webhook" // in the Standard Webhooks format
	Slack   Kind = "slack"
	Teams   Kind = "teams"
	Discord Kind = "discord"
	Email   Kind = "email"
)

// Kinds lists every kind.
func Kinds() []Kind { return []Kind{Webhook, Slack, Teams, Discord, Email} }

// Type is what an event tells of.
type Type string

// The types.
const (
	RunFinished     Type = "run.finished"
	BugOpened       Type = "bug.opened"
	BugReopened     Type = "bug.reopened"
	SessionFinished Type = "session.finished"
	Test            Type = "test" // asked for by a person, and sent whatever the filter says
)

// Types lists what a destination can choose.
func Types() []Type { return []Type{RunFinished, BugOpened, BugReopened, SessionFinished} }

// Filter says what a destination hears of.
type Filter struct {
	Events       []Type   `json:"events"`
	OnlyFailures bool     `json:"onlyFailures,omitempty"` // of runs: those that failed
	OnlyChanges  bool     `json:"onlyChanges,omitempty"`  // of runs: those whose verdict is another one than that of the run before
	Branches     []string `json:"branches,omitempty"`     // globs; none: all
}

// Branch reports whether the filter lets a branch through.
func (f Filter) Branch(name string) bool {
	return len(f.Branches) == 0 || slices.ContainsFunc(f.Branches, func(glob string) bool {
		ok, err := doublestar.Match(glob, name)
		return ok && err == nil
	})
}

// Destination is where messages of a project go.
type Destination struct {
	ID        string
	ProjectID string
	Name      string // unique within the project
	Kind      Kind
	To        []string // addresses of e-mail
	Filter    Filter
	Secrets   Secrets // the zero value where people look at it
	Disabled  string  // why nothing is sent; "" while it is
	CreatedBy string  // as account.Actor names itself
	CreatedAt time.Time
	// Hints tell secrets apart without telling them.
	URLHint, KeyHint string
}

// Secrets is what must not be read of a destination.
type Secrets struct {
	URL      string     `json:"url,omitempty"`
	Key      string     `json:"key,omitempty"` // whsec_…, of a webhook
	OldKey   string     `json:"oldKey,omitempty"`
	OldUntil *time.Time `json:"oldUntil,omitempty"` // until then both sign
}

// keys answers what a message is signed with at a time, the current one first.
func (s Secrets) keys(now time.Time) []string {
	if s.OldKey != "" && s.OldUntil != nil && now.Before(*s.OldUntil) {
		return []string{s.Key, s.OldKey}
	}
	return []string{s.Key}
}

// newKey makes a webhook's key: 256 bits.
func newKey() string {
	raw := make([]byte, 32)
	rand.Read(raw) //nolint:errcheck // crypto/rand.Read never fails
	return "whsec_" + base64.StdEncoding.EncodeToString(raw)
}

// veiled answers the destination for people: hints in place of secrets.
func (d Destination) veiled() Destination {
	if u, err := url.Parse(d.Secrets.URL); err == nil && u.Host != "" {
		d.URLHint = u.Scheme + "://" + u.Host + "/…" + tail(d.Secrets.URL)
	}
	if d.Secrets.Key != "" {
		d.KeyHint = "whsec_…" + tail(strings.TrimRight(d.Secrets.Key, "="))
	}
	d.Secrets = Secrets{}
	return d
}

// tail is the end of a secret; short ones have none to show.
func tail(s string) string {
	if len(s) < 24 {
		return ""
	}
	return s[len(s)-4:]
}

// Bounds of what can be entered.
const (
	MaxDestinations = 50 // of a project
	maxName         = 80
	maxURL          = 2000
	maxTo           = 20
	maxBranches     = 20
	maxGlob         = 200
)

// Check answers fault.Invalid with a detail for each wrong field. insecure lets addresses
// through that are not https, for installations whose receivers are inside.
func (d *Destination) Check(insecure bool) error {
	bad := fault.New(fault.Invalid, "The destination cannot be kept like this.").WithFix("Correct what is named below.")
	d.Name = strings.TrimSpace(d.Name)
	if n := utf8.RuneCountInString(d.Name); n == 0 || n > maxName || !utf8.ValidString(d.Name) || strings.ContainsFunc(d.Name, unicode.IsControl) {
		bad.At("name", "1 to %d characters", maxName)
	}
	if !slices.Contains(Kinds(), d.Kind) {
		bad.At("kind", "one of those offered")
	}
	if d.Kind == Email {
		d.Secrets = Secrets{}
		if len(d.To) == 0 || len(d.To) > maxTo {
			bad.At("to", "1 to %d e-mail addresses", maxTo)
		}
		for _, to := range d.To {
			if a, err := mail.ParseAddress(to); err != nil || a.Address != to || len(to) > 254 || strings.ContainsAny(to, "\" \r\n\x00") {
				bad.At("to", "%.80q is no e-mail address", to)
			}
		}
	} else {
		d.To = nil
		checkURL(bad, d.Secrets.URL, insecure)
	}
	if len(d.Filter.Events) == 0 {
		bad.At("events", "choose at least one")
	}
	for _, e := range d.Filter.Events {
		if !slices.Contains(Types(), e) {
			bad.At("events", "%.40q is none of those offered", e)
		}
	}
	if len(d.Filter.Branches) > maxBranches {
		bad.At("branches", "at most %d", maxBranches)
	}
	for _, b := range d.Filter.Branches {
		if b == "" || len(b) > maxGlob || !doublestar.ValidatePattern(b) {
			bad.At("branches", "%.80q is no pattern: write main or release/**", b)
		}
	}
	if len(bad.Details) > 0 {
		return bad
	}
	return nil
}

// checkURL never repeats the address: it is a secret.
func checkURL(bad *fault.Error, text string, insecure bool) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || len(text) > maxURL:
		bad.At("url", "an address such as https://example.com/hook, at most %d bytes", maxURL)
	case u.Scheme == "http" && !insecure:
		bad.At("url", "an https address: what is sent over http can be read on its way")
	case u.User != nil:
		bad.At("url", "leave the user and password out of it")
	}
}

// Store keeps destinations. Lookups answer fault.NotFound for what is not there.
type Store interface {
	// Destinations answers those of a project, by name, with their secrets.
	Destinations(ctx context.Context, projectID string) ([]Destination, error)
	Destination(ctx context.Context, projectID, id string) (Destination, error)
	// UpdateDestination changes one, or adds one for the ID ""; others is how many the project
	// has besides. fault.Conflict answers a name that another one has.
	UpdateDestination(ctx context.Context, projectID, id string, change func(d *Destination, others int) error) (Destination, error)
	DropDestination(ctx context.Context, projectID, id string) error
}

// Call is one message to an address.
type Call struct {
	URL  string
	Body []byte
	// Keys, where there are any, sign the message in the Standard Webhooks format; each
	// gives a signature.
	Keys []string
	ID   string // the same for each try
	At   time.Time
}

// Caller posts JSON. Errors: fault.Unavailable where nobody answers in time, fault.External
// where the address is one that must not be called. Any status is an answer.
type Caller interface {
	Call(ctx context.Context, c Call) (Reply, error)
}

// Reply is what the other side answered.
type Reply struct {
	Status     int
	Body       string        // its beginning
	RetryAfter time.Duration // where it said so
}

// Letter is an e-mail in plain text.
type Letter struct {
	ID      string // becomes its Message-ID, so that a second copy can be told
	To      []string
	Subject string
	Text    string
}

// Mailer sends e-mails. An answer is what the server said. Errors are final
// (fault.External) or worth another try (fault.Unavailable), as the server says.
type Mailer interface {
	Send(ctx context.Context, l Letter) (answer string, err error)
}
