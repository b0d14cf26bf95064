package account

import "tas-service/internal/fault"

// Via says how an actor proved who it is.
type Via string

// The ways.
const (
	ViaKey      Via = "key"      // a project's API key
	ViaOperator Via = "operator" // a person with a shell on the machine of the service
)

// Actor is who asks for something. It is passed explicitly to every operation and
// acts on exactly one project.
type Actor struct {
	ProjectID string
	KeyID     string
	Via       Via
}

// May answers nil when the actor may act on a project, and fault.NotFound otherwise:
// to another project's caller a thing looks as if it did not exist.
func (a Actor) May(projectID, what string) error {
	if a.ProjectID != "" && a.ProjectID == projectID {
		return nil
	}
	return fault.New(fault.NotFound, "There is no such %s in this project.", what).
		WithFix("Check the ID, and that the API key belongs to the project that you mean.")
}
