package account

import "time"

// Act is something that the audit log keeps. No value of a secret is ever part of it.
type Act string

// The acts.
const (
	ActSignedIn        Act = "signed in"
	ActSignedOut       Act = "signed out"
	ActPasswordChanged Act = "changed the password"
	ActRenamed         Act = "took another name"
	ActSessionRevoked  Act = "revoked a session"
	ActLinkMade        Act = "made an invitation"
	ActLinkRevoked     Act = "withdrew an invitation"
	ActJoined          Act = "accepted an invitation"
	ActRoleChanged     Act = "changed a role"
	ActMemberRemoved   Act = "removed a member"
	ActPersonRemoved   Act = "removed a person"
	ActAdministrator   Act = "changed who administers the installation"
	ActProjectCreated  Act = "created a project"
	ActSettings        Act = "changed settings"
	ActSecretSet       Act = "set a secret"
	ActSecretRemoved   Act = "removed a secret"
	ActKeyShown        Act = "looked at the API key"
	ActKeyRotated      Act = "rotated the API key"
	ActPullRequest     Act = "approved a pull request"
	ActMerged          Act = "merged a pull request"
	ActClosed          Act = "closed a pull request"
	ActApproved        Act = "approved an action"
	ActRejected        Act = "rejected an action"
	ActTriedAgain      Act = "had an action tried again"
)

// Entry is one line of the audit log.
type Entry struct {
	ID        string // grows with time
	At        time.Time
	PersonID  string
	Who       string // the person's name and e-mail then
	Address   string // the network address
	Act       Act
	ProjectID string // "" where it is about the installation
	About     string // of what: an e-mail, a name, a role
}

// AuditQuery finds entries, the newest first.
type AuditQuery struct {
	ProjectID string // "" for all
	Before    string // ID of an entry
	Limit     int
}
