// Package checkout is a working copy of a tests repository at one commit.
package checkout

import "context"

// Source is what to check out.
type Source struct {
	Key    string // names the repository on this machine: one mirror for each key
	URL    string
	Token  string // secret for HTTPS; "" for none
	Branch string // "" for the repository's default branch
	Commit string // "" for the branch's newest; else exactly this one
}

// Copy is a working copy. Its folder belongs to whoever made it until Discard.
type Copy struct {
	Dir    string
	Branch string // resolved
	Commit string // full hash
}

// Checkouts makes working copies. Safe for concurrent use, also from several processes.
// Errors: fault.External with code "branch-not-found" or "clone-failed" when the
// repository says no, fault.Unavailable when it cannot be reached.
type Checkouts interface {
	// Make brings the mirror up to date and makes a working copy in dir, which must not exist.
	Make(ctx context.Context, src Source, dir string) (Copy, error)
	// Apply changes a working copy by a unified diff with paths from its root, before
	// anything else has had the folder. fault.Invalid with code "patch-refused" for one that
	// does not fit, leads out of the copy or makes links; then the copy is as it was. The
	// copy is never used again after Discard. An empty patch changes nothing.
	Apply(ctx context.Context, src Source, dir, patch string) error
	// Renames answers the files that were renamed between two commits, old → new; an
	// unknown commit is no error and answers nothing.
	Renames(ctx context.Context, src Source, from, to string) (map[string]string, error)
	// Discard removes a working copy.
	Discard(ctx context.Context, src Source, dir string) error
}
