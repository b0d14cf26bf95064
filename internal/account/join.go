package account

import (
	"cmp"
	"context"
	"slices"

	"github.com/google/uuid"

	"tas-service/internal/fault"
)

// Opened answers an open link of the token: fault.NotFound for one that was used, has
// expired or never was.
func (p *People) Opened(ctx context.Context, token string) (Link, error) {
	hash := tokenHash(token)
	if hash == "" {
		return Link{}, gone()
	}
	l, err := p.Records.LinkByToken(ctx, hash, p.Clock())
	if fault.KindOf(err) == fault.NotFound {
		return Link{}, gone()
	}
	if err != nil {
		return l, err
	}
	switch holds, err := p.holds(ctx, l); {
	case err != nil:
		return Link{}, err
	case !holds:
		return Link{}, gone()
	}
	return l, nil
}

// holds reports whether whoever made a link could still make it: nobody comes back, or
// lets others in, by a link from the time when they were an administrator.
func (p *People) holds(ctx context.Context, l Link) (bool, error) {
	id := PersonBy(l.MadeBy)
	if id == "" {
		return true, nil
	}
	maker, err := p.Records.Person(ctx, id)
	switch {
	case fault.KindOf(err) == fault.NotFound:
		return false, nil
	case err != nil || maker.Administrator || l.Kind != LinkMember:
		return maker.Administrator, err
	}
	roles, err := p.Records.Memberships(ctx, id)
	return slices.ContainsFunc(roles, func(m Membership) bool { return m.ProjectID == l.ProjectID && m.Role.Includes(RoleAdministrator) }), err
}

func gone() error {
	return fault.New(fault.NotFound, "This link was used already, has expired or was withdrawn.").
		WithFix("Ask for a new one: an administrator of the project makes invitations; whoever runs the service prints other links with tas admin link.")
}

// Entrant is somebody who uses a link and is not signed in.
type Entrant struct {
	Email, Name, Password string
}

// Enter uses a link up for a new person, or sets a new password by it, and answers the
// token of a session. Errors: fault.NotFound for the link, fault.Invalid, fault.Conflict
// for an e-mail that somebody has.
func (p *People) Enter(ctx context.Context, token string, in Entrant, from Client) (string, error) {
	l, err := p.Opened(ctx, token) // before the work of hashing
	if err != nil {
		return "", err
	}
	join, err := p.entrant(ctx, l, in)
	if err != nil {
		return "", err
	}
	if err := CheckPassword(in.Password, join.Person.Email); err != nil {
		return "", err
	}
	if join.Password, err = p.Hasher.Hash(ctx, in.Password); err != nil {
		return "", err
	}
	if err := p.use(ctx, l, join, from.Address); err != nil {
		return "", err
	}
	return p.begin(ctx, join.Person, from)
}

func (p *People) entrant(ctx context.Context, l Link, in Entrant) (Join, error) {
	if l.Kind == LinkReset {
		who, err := p.Records.Person(ctx, l.PersonID)
		return Join{Person: who}, err
	}
	email, err := checkEmail(cmp.Or(l.Email, in.Email))
	if err != nil {
		return Join{}, err
	}
	name, err := checkName(in.Name)
	if err != nil {
		return Join{}, err
	}
	if _, _, err := p.Records.PersonByEmail(ctx, email); fault.KindOf(err) != fault.NotFound {
		if err != nil {
			return Join{}, err
		}
		return Join{}, fault.New(fault.Conflict, "Somebody with this e-mail has an account here already.").WithFix("If it is yours, sign in, then open this link again.").At("email", "has an account")
	}
	return Join{New: true, Person: Person{ID: uuid.NewString(), Email: email, Name: name, Administrator: l.Kind == LinkFirst || l.Kind == LinkAdministrator, CreatedAt: p.Clock().UTC()}}, nil
}

// Accept uses a link up for somebody who is signed in.
func (p *People) Accept(ctx context.Context, v Viewer, token string) error {
	l, err := p.Opened(ctx, token)
	if err != nil {
		return err
	}
	if l.Kind == LinkReset || l.Kind == LinkFirst {
		return fault.New(fault.Conflict, "This link is not for somebody who is signed in.").WithFix("Sign out and open it again.")
	}
	return p.use(ctx, l, Join{Person: v.Person}, v.Address)
}

// use uses a link up that was looked at before: it may be gone since.
func (p *People) use(ctx context.Context, l Link, join Join, address string) error {
	err := p.Records.UseLink(ctx, l.TokenHash, p.Clock(), func(l Link) (Join, error) {
		if l.Email != "" && l.Email != join.Person.Email {
			return Join{}, fault.New(fault.Forbidden, "This invitation is for %s.", l.Email).WithFix("Sign in as that person, or ask for an invitation of your own.")
		}
		return join, nil
	})
	if fault.KindOf(err) == fault.NotFound {
		return gone()
	}
	if err != nil {
		return err
	}
	e := Entry{Act: ActJoined, ProjectID: l.ProjectID, About: string(l.Role)}
	switch l.Kind {
	case LinkFirst, LinkAdministrator:
		e.About = "administrator of the installation"
	case LinkReset:
		e.Act, e.About = ActPasswordChanged, "with a link of the operator"
	case LinkMember:
	}
	return p.note(ctx, Viewer{Person: join.Person, Address: address}, e)
}

// SetUp answers a link for the first administrator as long as there is nobody, "" after.
func (p *People) SetUp(ctx context.Context) (path string, err error) {
	has, err := p.Records.HasPeople(ctx)
	if err != nil || has {
		return "", err
	}
	return p.link(ctx, Link{Kind: LinkFirst})
}

// OperatorLink answers a link for whoever has a shell on the machine of the service: a new
// password for a person, or without an e-mail a new administrator.
func (p *People) OperatorLink(ctx context.Context, email string) (path string, err error) {
	if email == "" {
		return p.link(ctx, Link{Kind: LinkAdministrator})
	}
	who, _, err := p.Records.PersonByEmail(ctx, tidyEmail(email))
	if fault.KindOf(err) == fault.NotFound {
		return "", fault.New(fault.NotFound, "Nobody here has the e-mail %s.", tidyEmail(email)).WithFix("Leave --email out for a link that makes a new administrator.")
	}
	if err != nil {
		return "", err
	}
	return p.link(ctx, Link{Kind: LinkReset, PersonID: who.ID})
}

// link keeps a new link and answers its path, which is the only time that it is known.
func (p *People) link(ctx context.Context, l Link) (path string, err error) {
	token, hash := NewToken()
	now := p.Clock().UTC()
	l.ID, l.TokenHash, l.CreatedAt, l.ExpiresAt = uuid.NewString(), hash, now, now.Add(LinkFor)
	return l.Kind.Path(token), p.Records.AddLink(ctx, l)
}
