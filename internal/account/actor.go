package account

import (
	"strings"

	"tas-service/internal/fault"
)

// Via says how an actor proved who it is.
type Via string

// The ways.
const (
	ViaKey      Via = "key"      // a project's API key
	ViaSession  Via = "session"  // a person who signed in to the web app
	ViaOperator Via = "operator" // a person with a shell on the machine of the service
	ViaForge    Via = "forge"    // a person who may write to the repository that is worked on, by a comment there
	ViaService  Via = "service"  // the service itself, in the course of what somebody asked for
)

// Actor is who asks for something. It is passed explicitly to every operation and
// acts on exactly one project.
type Actor struct {
	ProjectID string
	KeyID     string // of ViaKey
	PersonID  string // of ViaSession
	Name      string // of the person
	Role      Role   // of the person in the project
	Via       Via
}

// What a record that names its doer begins with; the rest is an ID.
const (
	byPerson = "person:"
	byKey    = "key:"
)

// By names the actor for a record. It holds an ID and never a name: a name is chosen by
// whoever has it, and may be a colleague's tomorrow.
func (a Actor) By() string {
	switch a.Via {
	case ViaSession:
		return byPerson + a.PersonID
	case ViaKey:
		return byKey + a.KeyID
	case ViaOperator, ViaForge, ViaService:
	}
	return string(a.Via)
}

// PersonBy answers the ID of the person whom a record names, "" where it names none.
func PersonBy(by string) string {
	id, ok := strings.CutPrefix(by, byPerson)
	if !ok {
		return ""
	}
	return id
}

// IsKey reports whether a record names an API key.
func IsKey(by string) bool { return strings.HasPrefix(by, byKey) }

// May answers nil when the actor may act on a project, and fault.NotFound otherwise:
// to another project's caller a thing looks as if it did not exist.
func (a Actor) May(projectID, what string) error {
	if a.ProjectID != "" && a.ProjectID == projectID {
		return nil
	}
	return fault.New(fault.NotFound, "There is no such %s in this project.", what).
		WithFix("Check the ID, and that it is one of the project that you mean: an API key belongs to one project.")
}

// MayAs answers nil when the actor may act on a project in a role: an API key, a
// comment at the forge and the service itself may do what a member may. It answers fault.NotFound as May does, and fault.Forbidden where the
// actor sees the project but has too small a role.
func (a Actor) MayAs(role Role, projectID, what string) error {
	if err := a.May(projectID, what); err != nil {
		return err
	}
	if a.Via == ViaOperator || (a.Via == ViaKey || a.Via == ViaForge || a.Via == ViaService) && RoleMember.Includes(role) || a.Via == ViaSession && a.Role.Includes(role) {
		return nil
	}
	return fault.New(fault.Forbidden, "This takes the role %s in the project.", role).
		WithFix("Ask an administrator of the project for that role.")
}
