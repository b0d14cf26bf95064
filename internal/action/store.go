package action

import (
	"context"
	"time"
)

// Store keeps actions. Lookups answer fault.NotFound for what is not there. Every method is
// one transaction; safe for concurrent use, also from several services.
type Store interface {
	// AskAction lets change see the action under a key of a project, nil where there is none,
	// with the project's policy, and saves what it answers; nil saves nothing. Of two at once
	// the second sees what the first has saved.
	AskAction(ctx context.Context, projectID, key string, change func(known *Action, p Policy) (*Action, error)) (Action, error)
	// Action answers one action of a project with its history.
	Action(ctx context.Context, projectID, id string) (Action, error)
	Actions(ctx context.Context, q Query) ([]Action, error)
	// CountActions answers how many actions of a project are in a state.
	CountActions(ctx context.Context, projectID string, s State) (int, error)
	// UpdateAction changes one action of a project.
	UpdateAction(ctx context.Context, projectID, id string, change func(*Action) error) error

	// DueActions answers the IDs of pending actions of these kinds whose time has come and
	// that nobody has claimed: the first of each Serial of which none is claimed.
	DueActions(ctx context.Context, kinds []Kind, now time.Time, limit int) ([]string, error)
	// ClaimAction takes an action that is still due for as long as d and answers it as it is
	// then, or false where somebody else was quicker or has another one of its Serial. Time is
	// the database's own.
	ClaimAction(ctx context.Context, id, claim string, now time.Time, d time.Duration) (Action, bool, error)
	// KeepClaim has a claim last for d from now on: fault.Superseded where another one took over,
	// or began something of the same Serial because the claim was over.
	KeepClaim(ctx context.Context, id, claim string, d time.Duration) error
	// FinishAction changes an action under a claim and gives the claim up: fault.Superseded
	// where another one took over, and nothing is changed.
	FinishAction(ctx context.Context, id, claim string, change func(*Action) error) error

	ActionPolicy(ctx context.Context, projectID string) (Policy, error)
	SetActionPolicy(ctx context.Context, projectID string, p Policy) error
	// DropMessages removes messages that were done before a time.
	DropMessages(ctx context.Context, before time.Time) error
}

// Query asks for actions of a project, the newest first. Empty filters let everything through.
type Query struct {
	ProjectID string
	Kind      Kind
	State     State
	Serial    string
	Before    string // ID of the last one of the page before
	Limit     int
}
