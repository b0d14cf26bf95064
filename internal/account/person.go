package account

import (
	"time"

	"tas-service/internal/fault"
)

// Person is somebody who signs in.
type Person struct {
	ID            string
	Email         string // in lower case; unique
	Name          string
	Administrator bool // of the installation: makes projects, and is an administrator of each
	CreatedAt     time.Time
}

// Role is what a person may do in one project. The empty role is none.
type Role string

// The roles, each of which may also do what the one before it may.
const (
	RoleViewer        Role = "viewer"        // looks
	RoleMember        Role = "member"        // starts and cancels runs, decides about failures
	RoleAdministrator Role = "administrator" // settings, secrets, the API key, members
)

func (r Role) rank() int {
	switch r {
	case RoleViewer:
		return 1
	case RoleMember:
		return 2
	case RoleAdministrator:
		return 3
	}
	return 0
}

// Includes reports whether the role may do what another may.
func (r Role) Includes(other Role) bool { return r.rank() >= other.rank() }

// Roles lists the roles, the smallest first.
func Roles() []Role { return []Role{RoleViewer, RoleMember, RoleAdministrator} }

// Membership is a person's role in a project.
type Membership struct {
	ProjectID string
	PersonID  string
	Role      Role
}

// Viewer is who looks at a page: a person, the session and what it may see.
type Viewer struct {
	Person    Person
	SessionID string
	Address   string       // the network address, for the audit log
	Projects  []Membership // as an administrator of the installation: every project
}

// In answers the viewer as an actor in one project, and fault.NotFound where it has no
// role: to a stranger a project looks as if it did not exist.
func (v Viewer) In(projectID string) (Actor, error) {
	for _, m := range v.Projects {
		if m.ProjectID == projectID && m.Role.rank() > 0 {
			return Actor{ProjectID: projectID, PersonID: v.Person.ID, Name: v.Person.Name, Role: m.Role, Via: ViaSession}, nil
		}
	}
	return Actor{}, fault.New(fault.NotFound, "There is no such project, or you are not a member of it.").
		WithFix("Ask an administrator of the project to invite you.")
}

// Administers answers the viewer as an administrator of a project, with the errors of In and
// of MayAs for who is none.
func (v Viewer) Administers(projectID string) (Actor, error) {
	a, err := v.In(projectID)
	if err != nil {
		return a, err
	}
	return a, a.MayAs(RoleAdministrator, projectID, "project")
}

// MayAdminister answers nil for an administrator of the installation.
func (v Viewer) MayAdminister() error {
	if v.Person.Administrator {
		return nil
	}
	return fault.New(fault.Forbidden, "This is for administrators of the installation.").WithFix("Ask one of them.")
}
