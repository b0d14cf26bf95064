package checkout

import "context"

// Seen is one step of a look at a repository.
type Seen struct {
	What string
	OK   bool
	Said string
	Fix  string
}

// Looks sees whether a repository has what a run needs, without running anything of it.
// Safe for concurrent use.
type Looks interface {
	// Look answers what it saw, in the order in which a run would need it, and stops at the
	// first thing that hides the rest.
	Look(ctx context.Context, src Source, dir string) []Seen
}
