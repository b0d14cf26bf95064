package account

import (
	"context"
	"time"
)

// Member is a person with a role in a project.
type Member struct {
	Person Person
	Role   Role
}

// Identity is a person as somebody else vouches for them.
type Identity struct {
	Issuer  string
	Subject string // never changes, as an e-mail may
}

// Join is what becomes of whoever uses a link.
type Join struct {
	Person   Person
	New      bool   // the person is added
	Password string // its hash; "" leaves it as it is
	Identity *Identity
}

// Records keeps people, their sessions and what they may. Lookups answer fault.NotFound
// for what is not there. Safe for concurrent use, also from several services.
type Records interface {
	HasPeople(ctx context.Context) (bool, error)
	People(ctx context.Context) ([]Person, error) // by name
	Person(ctx context.Context, id string) (Person, error)
	// PersonByEmail answers the hash of the password too, "" for none.
	PersonByEmail(ctx context.Context, email string) (Person, string, error)
	PersonByIdentity(ctx context.Context, id Identity) (Person, error)
	AddPerson(ctx context.Context, p Person, id *Identity) error
	// AddIdentity answers fault.Conflict for a person whom the issuer knows as another
	// subject: an e-mail may have been given to somebody else there.
	AddIdentity(ctx context.Context, personID string, id Identity) error
	// UpdatePerson lets change see how many administrators the installation has besides.
	// Nothing comes between its answer and what is saved.
	UpdatePerson(ctx context.Context, id string, change func(p *Person, others int) error) error
	RemovePerson(ctx context.Context, id string, allow func(p Person, others int) error) error
	// SetPassword ends the person's sessions, but for one.
	SetPassword(ctx context.Context, personID, hash, keepSessionID string) error

	AddSession(ctx context.Context, s Session) error
	SessionByToken(ctx context.Context, hash string, now time.Time) (Session, error)
	SeeSession(ctx context.Context, id string, seen, expires time.Time) error
	Sessions(ctx context.Context, personID string, now time.Time) ([]Session, error) // the last seen first
	DropSession(ctx context.Context, personID, id string) (had bool, err error)

	AddLink(ctx context.Context, l Link) error
	LinkByToken(ctx context.Context, hash string, now time.Time) (Link, error)
	Links(ctx context.Context, kind LinkKind, projectID string, now time.Time) ([]Link, error) // the newest first
	LinksFor(ctx context.Context, email string, now time.Time) ([]Link, error)                 // those that name an e-mail
	DropLink(ctx context.Context, projectID, id string) (had bool, err error)
	// UseLink uses an open link up, and does for whom use answers what the link promises.
	// Of two at once, one gets fault.NotFound. A link for the first administrator is there
	// only while there is nobody.
	UseLink(ctx context.Context, hash string, now time.Time, use func(Link) (Join, error)) error

	Memberships(ctx context.Context, personID string) ([]Membership, error)
	AllProjects(ctx context.Context) (ids []string, err error)
	Members(ctx context.Context, projectID string) ([]Member, error) // by name
	SetMembership(ctx context.Context, m Membership) error           // fault.NotFound for who is no member
	DropMembership(ctx context.Context, projectID, personID string) (had bool, err error)

	Note(ctx context.Context, e Entry) error
	Audit(ctx context.Context, q AuditQuery) ([]Entry, error)
}
