package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"tas-service/internal/checkout"
	"tas-service/internal/fault"
	"tas-service/internal/filelock"
)

// patchedMark lies in what the mirror keeps of a working copy to which a patch was applied,
// out of reach of what runs there: the copy never becomes a spare.
const patchedMark = "tas-patched"

// Apply tries the patch in an index of its own first, where no file is written, and lets it
// into the copy only if all that it makes there are plain files.
func (m *Mirrors) Apply(ctx context.Context, src checkout.Source, dir, patch string) error {
	switch {
	case strings.TrimSpace(patch) == "":
		return nil
	case len(patch) > checkout.MaxPatch:
		return fault.New(fault.Invalid, "The change is larger than %d MiB.", checkout.MaxPatch>>20).WithCode("patch-refused")
	}
	unlock, err := filelock.Lock(ctx, m.mirror(src)+".lock")
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "The mirror of the tests repository is locked.")
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(ctx, localTimeout)
	defer cancel()
	git, kept, ok := m.worktree(src, dir)
	if !ok {
		return fault.New(fault.Internal, "%s is no working copy of this repository", dir)
	}
	scratch, file, err := m.scratch(patch)
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch) //nolint:errcheck // what is left is found by its name, and holds nothing after this
	tried := git
	tried.env = append([]string{"GIT_INDEX_FILE=" + filepath.Join(scratch, "index")}, git.env...)
	if err := tried.stage(ctx, "HEAD", file); err != nil {
		return err
	}
	if err := tried.plain(ctx); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(kept, patchedMark), nil, 0o600); err != nil {
		return fault.Wrap(err, fault.Unavailable, "The worker cannot write to its folder.")
	}
	if _, err := git.run(ctx, "apply", "--whitespace=nowarn", "--", file); err != nil {
		return refused(err, "HEAD", file)
	}
	return nil
}

// plain answers nil where the index differs from HEAD by plain files alone, and none that
// tells git what to do.
func (c command) plain(ctx context.Context) error {
	out, err := c.run(ctx, "diff-index", "--cached", "--raw", "-z", "--no-renames", "HEAD", "--")
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "The change cannot be read: %s", saidBy(err))
	}
	fields := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		about := strings.Fields(fields[i]) // :mode mode hash hash status
		if len(about) < 2 {
			continue
		}
		for _, mode := range []string{strings.TrimPrefix(about[0], ":"), about[1]} {
			if mode != "000000" && mode != "100644" && mode != "100755" {
				return fault.New(fault.Invalid, "The change makes %.200q something else than a plain file, or was made to what is none.", fields[i+1]).WithCode("patch-refused")
			}
		}
	}
	return nil
}

// scratch makes a folder with the patch as a file in it.
func (m *Mirrors) scratch(patch string) (dir, file string, err error) {
	dir, err = os.MkdirTemp(m.Root, "commit-")
	if err != nil {
		return "", "", fault.Wrap(err, fault.Unavailable, "The service cannot write to its folder.")
	}
	file = filepath.Join(dir, "patch")
	if err := os.WriteFile(file, []byte(patch), 0o600); err != nil {
		os.RemoveAll(dir) //nolint:errcheck // the disk is in trouble already
		return "", "", fault.Wrap(err, fault.Unavailable, "The service cannot write to its folder.")
	}
	return dir, file, nil
}

// stage fills the index with a commit and a patch to it.
func (c command) stage(ctx context.Context, commit, file string) error {
	if _, err := c.run(ctx, "read-tree", "--end-of-options", commit+"^{tree}"); err != nil {
		return fault.Wrap(err, fault.Unavailable, "The commit %.10s cannot be read: %s", commit, saidBy(err))
	}
	if _, err := c.run(ctx, "apply", "--cached", "--whitespace=nowarn", "--", file); err != nil {
		return refused(err, commit, file)
	}
	return nil
}

func refused(err error, commit, file string) error {
	return fault.Wrap(err, fault.Invalid, "The change does not fit commit %.10s: %s", commit, strings.ReplaceAll(saidBy(err), file, "patch")).
		WithCode("patch-refused").WithFix("Make it anew from the branch as it is now.")
}
