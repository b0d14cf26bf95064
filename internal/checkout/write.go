package checkout

import (
	"context"
	"strings"
	"time"
)

// Prefix begins the names of all branches that the service makes. It pushes to no other.
const Prefix = "tas/"

// Person is an author or committer.
type Person struct {
	Name  string
	Email string
}

// Change is one commit to be made. The same change makes the same commit, so that it can
// be made again after a crash.
type Change struct {
	Base      string // full hash of the parent
	Patch     string // unified diff against Base, with paths from the root of the repository
	Message   string
	Author    Person
	Committer Person
	At        time.Time // of author and committer; whole seconds
	// SigningKey is a private SSH key without passphrase, as OpenSSH writes it; "" leaves
	// the commit unsigned.
	SigningKey string
}

// MaxPatch bounds a patch, in bytes.
const MaxPatch = 4 << 20

// Branch is what a push makes of a branch.
type Branch struct {
	Name   string // begins with Prefix
	Commit string // full hash that it is to point at
	// Was is where it is expected to point now; "" where it must not be there yet.
	Was string
}

// Writes changes repositories without a working copy: what test code may have done to one
// has no way into a commit. Safe for concurrent use, also from several processes.
//
// Errors: fault.Invalid for a patch that does not fit or a branch that is not the
// service's own, fault.Conflict for a branch that somebody else has moved, fault.External
// with code "push-refused" when the repository says no, fault.Unavailable when it cannot be
// reached; then the push may have been done.
type Writes interface {
	// Head answers the commit of a branch, or of the default one for "", and "" where there
	// is no such branch.
	Head(ctx context.Context, src Source, branch string) (string, error)
	// Commit makes a commit in the mirror, where Make finds it, and answers its full hash.
	Commit(ctx context.Context, src Source, c Change) (string, error)
	// Diff answers the unified diff between two commits of the mirror.
	Diff(ctx context.Context, src Source, from, to string) (string, error)
	// Push has a branch of the repository point at a commit of the mirror. A branch that
	// does so already is no error.
	Push(ctx context.Context, src Source, b Branch) error
	// Drop removes a branch of the service's own that points where it is expected to; one
	// that is gone is no error.
	Drop(ctx context.Context, src Source, name, was string) error
}

// maxBranch bounds the name of a branch, in bytes; git's own limit is near.
const maxBranch = 244

// ValidBranch reports whether a text can be the name of a branch, by the rules of git
// check-ref-format.
func ValidBranch(b string) bool {
	return b != "" && len(b) <= maxBranch && !strings.HasPrefix(b, "-") && !strings.HasPrefix(b, "/") &&
		!strings.HasSuffix(b, "/") && !strings.HasSuffix(b, ".") && !strings.HasSuffix(b, ".lock") &&
		!strings.Contains(b, "..") && !strings.Contains(b, "@{") && !strings.Contains(b, "//") && b != "@" && !strings.Contains("/"+b, "/.") && !strings.Contains(b, ".lock/") &&
		!strings.ContainsFunc(b, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune("~^:?*[\\", r) })
}
