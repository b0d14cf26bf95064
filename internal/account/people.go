package account

import (
	"cmp"
	"context"
	"net/mail"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"tas-service/internal/fault"
)

// People signs people in, invites them and says what they may. Safe for concurrent use.
type People struct {
	Records Records
	Hasher  *Hasher
	Tries   *Tries
	Clock   func() time.Time
	// Failed, when set, hears of each sign-in that failed.
	Failed func()
}

// Client is the browser that somebody uses.
type Client struct {
	Address   string
	UserAgent string
}

// wrong is the one answer to a password that does not fit, whatever the reason is.
func wrong() error {
	return fault.New(fault.Unauthenticated, "This e-mail and password do not belong together.").
		WithFix("Check both. Who has forgotten the password asks whoever runs the service for a new one: tas admin link --email E-MAIL.")
}

// SignIn begins a session and answers its token, once. Errors: fault.Unauthenticated, the
// same and as late for an unknown e-mail as for a wrong password; fault.RateLimited, whose
// cause is a Limited.
func (p *People) SignIn(ctx context.Context, email, password string, from Client) (token string, err error) {
	email = tidyEmail(email)
	if err := p.Tries.take(email, from.Address); err != nil {
		return "", err
	}
	who, hash, err := p.Records.PersonByEmail(ctx, email)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return "", err
	}
	fits, err := p.Hasher.Fits(ctx, clip(password), hash)
	if err != nil {
		return "", err
	}
	if !fits {
		if p.Failed != nil {
			p.Failed()
		}
		return "", wrong()
	}
	return p.begin(ctx, who, from)
}

// clip bounds what is hashed of a password that nobody can have.
func clip(password string) string { return password[:min(len(password), 4*MaxPassword)] }

// begin begins a session.
func (p *People) begin(ctx context.Context, who Person, from Client) (string, error) {
	token, hash := NewToken()
	now := p.Clock().UTC()
	agent := strings.ToValidUTF8(from.UserAgent[:min(len(from.UserAgent), maxUserAgent)], "")
	s := Session{ID: uuid.NewString(), PersonID: who.ID, TokenHash: hash, UserAgent: agent, Address: from.Address, CreatedAt: now, SeenAt: now, ExpiresAt: now.Add(SessionFor)}
	if err := p.Records.AddSession(ctx, s); err != nil {
		return "", err
	}
	return token, p.note(ctx, Viewer{Person: who, Address: from.Address}, Entry{Act: ActSignedIn})
}

// ViewerOf answers whom a session's token belongs to, and lets the session last longer:
// fault.Unauthenticated for one that is over.
func (p *People) ViewerOf(ctx context.Context, token, address string) (Viewer, error) {
	over := fault.New(fault.Unauthenticated, "You are not signed in, or no longer.").WithFix("Sign in again.")
	hash := tokenHash(token)
	if hash == "" {
		return Viewer{}, over
	}
	now := p.Clock().UTC()
	s, err := p.Records.SessionByToken(ctx, hash, now)
	if fault.KindOf(err) == fault.NotFound {
		return Viewer{}, over
	}
	if err != nil {
		return Viewer{}, err
	}
	who, err := p.Records.Person(ctx, s.PersonID)
	if fault.KindOf(err) == fault.NotFound {
		return Viewer{}, over
	}
	if err != nil {
		return Viewer{}, err
	}
	if now.Sub(s.SeenAt) >= sessionNote {
		if err := p.Records.SeeSession(ctx, s.ID, now, now.Add(SessionFor)); err != nil {
			return Viewer{}, err
		}
	}
	v, err := p.seen(ctx, who)
	v.SessionID, v.Address = s.ID, address
	return v, err
}

// As answers a person with what they may, for what is decided in their name elsewhere.
func (p *People) As(ctx context.Context, personID string) (Viewer, error) {
	who, err := p.Records.Person(ctx, personID)
	if err != nil {
		return Viewer{}, err
	}
	return p.seen(ctx, who)
}

func (p *People) seen(ctx context.Context, who Person) (v Viewer, err error) {
	v.Person = who
	if !who.Administrator {
		v.Projects, err = p.Records.Memberships(ctx, who.ID)
		return v, err
	}
	ids, err := p.Records.AllProjects(ctx)
	for _, id := range ids {
		v.Projects = append(v.Projects, Membership{ProjectID: id, PersonID: who.ID, Role: RoleAdministrator})
	}
	return v, err
}

// SignOut ends the viewer's session.
func (p *People) SignOut(ctx context.Context, v Viewer) error {
	had, err := p.Records.DropSession(ctx, v.Person.ID, v.SessionID)
	if err != nil || !had {
		return err
	}
	return p.note(ctx, v, Entry{Act: ActSignedOut})
}

// Sessions answers the viewer's sessions, the last seen first.
func (p *People) Sessions(ctx context.Context, v Viewer) ([]Session, error) {
	return p.Records.Sessions(ctx, v.Person.ID, p.Clock())
}

// Revoke ends one of the viewer's sessions: fault.NotFound for none of theirs.
func (p *People) Revoke(ctx context.Context, v Viewer, sessionID string) error {
	had, err := p.Records.DropSession(ctx, v.Person.ID, sessionID)
	switch {
	case err != nil:
		return err
	case !had:
		return fault.New(fault.NotFound, "This session is over already.").WithFix("Load the page again.")
	}
	return p.note(ctx, v, Entry{Act: ActSessionRevoked})
}

// Rename changes the viewer's name.
func (p *People) Rename(ctx context.Context, v Viewer, name string) error {
	name, err := checkName(name)
	if err != nil {
		return err
	}
	before := ""
	err = p.Records.UpdatePerson(ctx, v.Person.ID, func(who *Person, _ int) error { before, who.Name = who.Name, name; return nil })
	if err != nil || before == name {
		return err
	}
	return p.note(ctx, v, Entry{Act: ActRenamed, About: before + " is " + name + " now"})
}

// ChangePassword takes a new password for the old one, and ends the viewer's other
// sessions. Who has signed in without one so far gives none.
func (p *People) ChangePassword(ctx context.Context, v Viewer, old, fresh string) error {
	if err := p.Tries.take(v.Person.Email, v.Address); err != nil {
		return err
	}
	_, hash, err := p.Records.PersonByEmail(ctx, v.Person.Email)
	if err != nil {
		return err
	}
	if hash != "" {
		fits, err := p.Hasher.Fits(ctx, clip(old), hash)
		if err != nil {
			return err
		}
		if !fits {
			return fault.New(fault.Invalid, "The current password is not right.").WithFix("Enter the one that you signed in with.").At("old", "not right")
		}
	}
	if err := CheckPassword(fresh, v.Person.Email); err != nil {
		return err
	}
	if hash, err = p.Hasher.Hash(ctx, fresh); err != nil {
		return err
	}
	if err := p.Records.SetPassword(ctx, v.Person.ID, hash, v.SessionID); err != nil {
		return err
	}
	return p.note(ctx, v, Entry{Act: ActPasswordChanged})
}

// Note keeps in the audit log what a viewer did.
func (p *People) Note(ctx context.Context, v Viewer, act Act, projectID, about string) error {
	return p.note(ctx, v, Entry{Act: act, ProjectID: projectID, About: about})
}

func (p *People) note(ctx context.Context, v Viewer, e Entry) error {
	id, err := uuid.NewV7()
	if err != nil {
		return fault.Wrap(err, fault.Internal, "make an ID")
	}
	e.ID, e.At, e.PersonID, e.Address = id.String(), p.Clock().UTC(), v.Person.ID, v.Address
	e.Who = cmp.Or(who(v.Person), "the operator")
	return p.Records.Note(ctx, e)
}

func who(p Person) string {
	if p.Email == "" {
		return p.Name
	}
	return p.Name + " <" + p.Email + ">"
}

// tidyEmail answers an e-mail as it is kept.
func tidyEmail(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

const (
	maxEmail = 254
	maxName  = 100 // characters
)

func checkEmail(email string) (string, error) {
	email = tidyEmail(email)
	if a, err := mail.ParseAddress(email); err != nil || a.Address != email || len(email) > maxEmail || strings.ContainsAny(email, "\" \r\n\x00") {
		return "", fault.New(fault.Invalid, "This is not an e-mail address.").WithFix("Write it as name@example.com.").At("email", "not an e-mail address")
	}
	return email, nil
}

func checkName(name string) (string, error) {
	name = strings.TrimSpace(name)
	if n := utf8.RuneCountInString(name); n == 0 || n > maxName || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return "", fault.New(fault.Invalid, "A name has 1 to %d characters.", maxName).WithFix("Enter what the others call you.").At("name", "1 to %d characters", maxName)
	}
	return name, nil
}
