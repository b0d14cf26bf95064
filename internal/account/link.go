package account

import "time"

// LinkKind says what becomes of whoever opens a link.
type LinkKind string

// The kinds.
const (
	LinkFirst         LinkKind = "first"         // the first administrator, as long as there is nobody
	LinkAdministrator LinkKind = "administrator" // an administrator of the installation
	LinkMember        LinkKind = "member"        // a member of a project, in a role
	LinkReset         LinkKind = "reset"         // a new password for somebody
)

// Link is a link that works once. Whoever has it needs nothing else, so only a hash of its
// token is kept and it expires.
type Link struct {
	ID        string
	Kind      LinkKind
	TokenHash string
	ProjectID string // of LinkMember
	Role      Role   // of LinkMember
	PersonID  string // of LinkReset
	Email     string // who alone may use it; "" for whoever has it
	MadeBy    string // as Actor names itself; "" for the service and its operator
	CreatedAt time.Time
	ExpiresAt time.Time
}

// LinkFor is how long a link can be opened.
const LinkFor = 7 * 24 * time.Hour

// Path answers where in the web app a link of this kind is opened.
func (k LinkKind) Path(token string) string {
	switch k {
	case LinkFirst, LinkAdministrator:
		return "/welcome/" + token
	case LinkReset:
		return "/password/" + token
	case LinkMember:
	}
	return "/invitations/" + token
}
