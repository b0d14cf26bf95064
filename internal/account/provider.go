package account

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"tas-service/internal/fault"
)

// Claims is what a provider vouches for.
type Claims struct {
	Identity
	Email    string
	Verified bool // the provider has made sure that the e-mail is theirs
	Name     string
}

// Flow is a sign-in under way at a provider. It stays with the browser, sealed.
type Flow struct {
	State    string // comes back with the browser
	Nonce    string // comes back in what the provider signed
	Verifier string // proves that who began it ends it (PKCE)
	Next     string // where to go then
}

// Provider signs people in elsewhere. Errors: fault.Unavailable when it does not answer,
// fault.Unauthenticated when it does not vouch for anybody.
type Provider interface {
	Name() string // as people know it
	// Begin answers where to send the browser.
	Begin(ctx context.Context, f Flow) (address string, err error)
	// Finish trades the code that the browser brought back for what the provider vouches for.
	Finish(ctx context.Context, f Flow, code string) (Claims, error)
}

// Vouched begins a session for somebody whom a provider vouches for: who is known by it,
// who has an account under a verified e-mail, who was invited by a link or under that
// e-mail, and with signUp anybody else. linkToken is that of a link, or "".
func (p *People) Vouched(ctx context.Context, c Claims, linkToken string, signUp bool, from Client) (token string, err error) {
	who, err := p.Records.PersonByIdentity(ctx, c.Identity)
	known := err == nil
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return "", err
	}
	if !known {
		if !c.Verified || c.Email == "" {
			return "", fault.New(fault.Forbidden, "Your provider does not say that your e-mail address is yours.").WithFix("Confirm the address there, then sign in again.")
		}
		if c.Email, err = checkEmail(c.Email); err != nil {
			return "", err
		}
		who, _, err = p.Records.PersonByEmail(ctx, c.Email)
		switch {
		case err == nil:
			known = true
			if err := p.adopt(ctx, who, c, from); err != nil {
				return "", err
			}
		case fault.KindOf(err) != fault.NotFound:
			return "", err
		}
	}
	if !known {
		if who, err = p.newcomer(ctx, c, linkToken, signUp, from); err != nil {
			return "", err
		}
	} else if linkToken != "" {
		if err := p.Accept(ctx, Viewer{Person: who, Address: from.Address}, linkToken); err != nil && fault.KindOf(err) != fault.NotFound {
			return "", err
		}
	}
	return p.begin(ctx, who, from)
}

// adopt gives an account to whom the provider vouches for as its e-mail. Nobody made sure of
// that e-mail when the account was made: whoever did, with an invitation to something else,
// must not wait inside for its owner. So the password and the sessions of before end.
func (p *People) adopt(ctx context.Context, who Person, c Claims, from Client) error {
	if err := p.Records.AddIdentity(ctx, who.ID, c.Identity); err != nil {
		return err
	}
	if err := p.Records.SetPassword(ctx, who.ID, "", ""); err != nil {
		return err
	}
	return p.note(ctx, Viewer{Person: who, Address: from.Address}, Entry{Act: ActPasswordChanged, About: "removed: the account belongs to its e-mail's owner at the provider now"})
}

// newcomer adds a person whom nobody here knows yet, by their invitations.
func (p *People) newcomer(ctx context.Context, c Claims, linkToken string, signUp bool, from Client) (Person, error) {
	name, err := checkName(c.Name)
	if err != nil {
		name, _, _ = strings.Cut(c.Email, "@")
	}
	who := Person{ID: uuid.NewString(), Email: c.Email, Name: name, CreatedAt: p.Clock().UTC()}
	var open []Link
	if linkToken != "" {
		l, err := p.Opened(ctx, linkToken)
		if err != nil {
			return who, err
		}
		if l.Kind == LinkReset {
			return who, fault.New(fault.Forbidden, "This link sets a new password, and is not for you.").WithFix("Ask for an invitation.")
		}
		open = append(open, l)
	}
	named, err := p.Records.LinksFor(ctx, c.Email, p.Clock())
	if err != nil {
		return who, err
	}
	for _, l := range named {
		holds, err := p.holds(ctx, l)
		if err != nil {
			return who, err
		}
		if holds && (len(open) == 0 || l.ID != open[0].ID) {
			open = append(open, l)
		}
	}
	if len(open) == 0 {
		if !signUp {
			return who, fault.New(fault.Forbidden, "Nobody has invited %s yet.", c.Email).WithFix("Ask an administrator of a project for an invitation.")
		}
		return who, p.Records.AddPerson(ctx, who, &c.Identity)
	}
	join := Join{Person: who, New: true, Identity: &c.Identity}
	for _, l := range open {
		if err := p.use(ctx, l, join, from.Address); err != nil {
			return who, err
		}
		join.New, join.Identity = false, nil
	}
	return who, nil
}
