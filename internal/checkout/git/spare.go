package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/google/uuid"

	"tas-service/internal/checkout"
)

// A discarded working copy becomes a spare: the next one is made from it by writing only
// the files that differ, which on a large repository is most of the time that a checkout
// takes. Test code had the folder, so nothing in it is believed. The index by which git sees
// what was touched lies in the mirror, out of its reach; git compares each file's size,
// inode and times of change with it, and a program cannot set the latter.

// maxSpares bounds the spares of one repository: as many as are commonly made at once.
const maxSpares = 4

func (m *Mirrors) spares(src checkout.Source) string { return filepath.Join(m.Root, src.Key+".spare") }

// worktree answers git for a working copy by what the mirror keeps of it, never by the
// copy's own file .git; false where the mirror keeps nothing.
func (m *Mirrors) worktree(src checkout.Source, dir string) (git command, kept string, ok bool) {
	all, _ := filepath.Glob(filepath.Join(m.mirror(src), "worktrees", "*", "gitdir"))
	for _, path := range all {
		if text, err := os.ReadFile(path); err == nil && strings.TrimSpace(string(text)) == filepath.Join(dir, ".git") {
			kept = filepath.Dir(path)
			return command{dir: dir, env: []string{"GIT_DIR=" + kept, "GIT_WORK_TREE=" + dir}}, kept, true
		}
	}
	return command{}, "", false
}

// sparing cleans a copy and keeps it; false where that was not to be done.
func (m *Mirrors) sparing(ctx context.Context, src checkout.Source, dir string) bool {
	ctx, cancel := context.WithTimeout(ctx, localTimeout)
	defer cancel()
	git, kept, ok := m.worktree(src, dir)
	if !ok {
		return false
	}
	if _, err := os.Lstat(filepath.Join(kept, patchedMark)); !errors.Is(err, fs.ErrNotExist) {
		return false // what a patch changed is beyond what restore compares: the way in which files are written, for one
	}
	if has, err := os.ReadDir(m.spares(src)); err == nil && len(has) >= maxSpares {
		return false
	}
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() || os.MkdirAll(m.spares(src), 0o700) != nil {
		return false
	}
	// git never looks into what is called .git.
	if os.RemoveAll(filepath.Join(dir, ".git")) != nil {
		return false
	}
	if _, err := git.run(ctx, "clean", "-xdff", "--quiet"); err != nil {
		return false
	}
	return relocate(dir, filepath.Join(m.spares(src), uuid.NewString()), kept) == nil
}

// relocate moves a working copy and tells the mirror; between the two it belongs to nobody
// and is removed by whoever finds it.
func relocate(from, to, kept string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(kept, "gitdir"), []byte(filepath.Join(to, ".git")+"\n"), 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, ".git"), []byte("gitdir: "+kept+"\n"), 0o600)
}

// fromSpare makes a copy from a spare; false where there is none that will do. The mirror
// is locked.
func (m *Mirrors) fromSpare(ctx context.Context, src checkout.Source, commit, dir string) bool {
	all, err := os.ReadDir(m.spares(src))
	if err != nil {
		return false
	}
	for _, e := range all {
		spare := filepath.Join(m.spares(src), e.Name())
		if git, kept, ok := m.worktree(src, spare); ok && git.restore(ctx, commit) && relocate(spare, dir, kept) == nil {
			return true
		}
		if os.RemoveAll(spare) != nil || os.RemoveAll(dir) != nil || ctx.Err() != nil {
			return false
		}
	}
	return false
}

// restore brings a working copy to a commit and reports whether it is exactly that.
func (c command) restore(ctx context.Context, commit string) bool {
	// A file is not written anew where only the way changed in which it would be.
	rules, err := c.run(ctx, "diff-tree", "-r", "--name-only", "HEAD", commit, "--", ":(top,glob)**/.gitattributes")
	if err != nil || rules != "" {
		return false
	}
	if _, err := c.run(ctx, "checkout", "--quiet", "--force", "--detach", commit, "--"); err != nil || !c.whole(ctx) {
		return false
	}
	left, err := c.run(ctx, "status", "--porcelain", "--ignored", "--untracked-files=all", "--no-renames")
	return err == nil && left == ""
}

// whole reports whether a working copy has the files and folders of its index and no other
// ones, each under one name, and gives them the rights that new ones have. Git tells less:
// it never looks into what is called .git, nor into the folders of submodules.
func (c command) whole(ctx context.Context) bool {
	listed, err := c.run(ctx, "ls-files", "--stage", "-z")
	if err != nil {
		return false
	}
	modes, folders := map[string]string{}, map[string]bool{".": true}
	for entry := range strings.SplitSeq(strings.TrimSuffix(listed, "\x00"), "\x00") {
		about, name, ok := strings.Cut(entry, "\t")
		if !ok || strings.HasPrefix(about, "160000 ") {
			return false // a submodule, or nothing at all
		}
		modes[name] = about[:6]
		for at := path.Dir(name); !folders[at]; at = path.Dir(at) {
			folders[at] = true
		}
	}
	rights, err := newRights(filepath.Dir(c.dir))
	if err != nil {
		return false
	}
	seen := 0
	err = filepath.WalkDir(c.dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(c.dir, at)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if name == ".git" && d.Type().IsRegular() {
			return nil // the service's own
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		own, ok := info.Sys().(*syscall.Stat_t)
		if !ok || int(own.Uid) != os.Geteuid() {
			return errNotWhole
		}
		want := rights
		switch mode := modes[name]; {
		case d.IsDir() && folders[name]:
			// Tests may have put one with rights of its own in its place.
			if info.Mode()&(fs.ModeSetuid|fs.ModeSticky) != 0 {
				return errNotWhole
			}
		case d.Type()&fs.ModeSymlink != 0 && mode == "120000":
			seen++
			return nil
		case d.Type().IsRegular() && own.Nlink == 1 && (mode == "100644" || mode == "100755") && info.Mode()&(fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky) == 0:
			if seen++; mode == "100644" {
				want &^= 0o111
			}
		default:
			return errNotWhole
		}
		if info.Mode().Perm() != want {
			return os.Chmod(at, want)
		}
		return nil
	})
	return err == nil && seen == len(modes)
}

var errNotWhole = errors.New("the working copy is not as it should be")

// newRights answers the rights that a new folder has, which are those of a new program, too.
func newRights(in string) (fs.FileMode, error) {
	probe := filepath.Join(in, ".probe-"+uuid.NewString())
	if err := os.Mkdir(probe, 0o777); err != nil {
		return 0, err
	}
	info, err := os.Lstat(probe)
	if err := errors.Join(err, os.Remove(probe)); err != nil {
		return 0, err
	}
	return info.Mode().Perm(), nil
}
