package checkout

import "context"

// Bounds of what is read.
const (
	MaxFile   = 256 << 10 // bytes of a file
	MaxSought = 200       // bytes of a text that is searched for
	MaxListed = 2000      // files of a listing, and places of a search
)

// File is a regular file of a commit.
type File struct {
	Path string // from the root of the repository
	Size int64  // in bytes
}

// Place is a line of a file.
type Place struct {
	Path string // from the root of the repository
	Line int    // from 1
	Text string // without its line break
}

// Reads reads a repository at one commit, Source.Commit, without a working copy: what test code
// may have done to one is not seen. Paths lead from the root of the repository, with slashes, and
// never out of it; links are not followed, and neither they nor submodules count as files. Safe
// for concurrent use, also from several processes.
//
// Errors: fault.Invalid for a path that is none, fault.NotFound for a file or folder that is not
// there, and those of Checkouts where the commit has to be fetched first.
type Reads interface {
	// Files answers the files below a folder, "" for all, by their paths; more says that there
	// are others than the first MaxListed.
	Files(ctx context.Context, src Source, dir string) (all []File, more bool, err error)
	// Text answers a file. fault.Invalid for one that is larger than MaxFile, or not text in UTF-8.
	Text(ctx context.Context, src Source, path string) (string, error)
	// Search answers the lines below a folder, "" for all, in which a text stands as it is
	// written; more says that there are others than the first MaxListed.
	Search(ctx context.Context, src Source, dir, text string) (all []Place, more bool, err error)
}
