package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tas-service/internal/checkout"
	"tas-service/internal/fault"
	"tas-service/internal/filelock"
)

var _ checkout.Writes = (*Mirrors)(nil)

// writing holds the mirror's lock for what follows; the mirror is made where it is missing.
func (m *Mirrors) writing(ctx context.Context, src checkout.Source) (git command, done func(), err error) {
	if err := m.makeRoot(); err != nil {
		return command{}, nil, err
	}
	unlock, err := filelock.Lock(ctx, m.mirror(src)+".lock")
	if err != nil {
		return command{}, nil, fault.Wrap(err, fault.Unavailable, "The mirror of the tests repository is locked.")
	}
	if err := m.makeMirror(ctx, src); err != nil {
		unlock()
		return command{}, nil, err
	}
	return m.command(src), unlock, nil
}

// Head asks the repository itself.
func (m *Mirrors) Head(ctx context.Context, src checkout.Source, branch string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, localTimeout)
	defer cancel()
	return head(ctx, src, branch)
}

func head(ctx context.Context, src checkout.Source, branch string) (string, error) {
	ref := "refs/heads/" + branch
	if branch == "" {
		ref = "HEAD"
	}
	out, err := (command{token: src.Token, url: src.URL}).run(ctx, "ls-remote", "--end-of-options", src.URL, ref)
	if err != nil {
		return "", explain(err, src, branch)
	}
	// The argument is a pattern, which also fits refs/heads/x/refs/heads/branch.
	for line := range strings.Lines(out) {
		if hash, name, _ := strings.Cut(strings.TrimSpace(line), "\t"); name == ref {
			return hash, nil
		}
	}
	return "", nil
}

// Commit builds the commit in an index of its own: no file of it is written anywhere.
func (m *Mirrors) Commit(ctx context.Context, src checkout.Source, c checkout.Change) (string, error) {
	if err := checkChange(c); err != nil {
		return "", err
	}
	git, done, err := m.writing(ctx, src)
	if err != nil {
		return "", err
	}
	defer done()
	if !git.has(ctx, c.Base) {
		src.Commit = c.Base
		if _, _, err := m.fetch(ctx, src); err != nil {
			return "", err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, localTimeout)
	defer cancel()
	scratch, patch, err := m.scratch(c.Patch)
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(scratch) //nolint:errcheck // what is left is found by its name, and holds nothing after this
	git.env = []string{"GIT_INDEX_FILE=" + filepath.Join(scratch, "index"),
		"GIT_AUTHOR_NAME=" + c.Author.Name, "GIT_AUTHOR_EMAIL=" + c.Author.Email, "GIT_AUTHOR_DATE=" + stamp(c.At),
		"GIT_COMMITTER_NAME=" + c.Committer.Name, "GIT_COMMITTER_EMAIL=" + c.Committer.Email, "GIT_COMMITTER_DATE=" + stamp(c.At)}
	if err := git.stage(ctx, c.Base, patch); err != nil {
		return "", err
	}
	tree, err := git.run(ctx, "write-tree")
	if err != nil {
		return "", fault.Wrap(err, fault.Unavailable, "The change cannot be kept: %s", saidBy(err)).WithFix("Check the disk space of the service's machine.")
	}
	before, err := git.run(ctx, "rev-parse", "--verify", "--end-of-options", c.Base+"^{tree}")
	if err != nil {
		return "", fault.Wrap(err, fault.Unavailable, "The commit %.10s cannot be read: %s", c.Base, saidBy(err))
	}
	if tree == before {
		return "", fault.New(fault.Invalid, "The change changes nothing.").WithCode("patch-refused")
	}
	args := []string{"commit-tree", "-p", c.Base, "-F", "-"}
	if c.SigningKey != "" {
		key := filepath.Join(scratch, "key")
		if err := os.WriteFile(key, []byte(strings.TrimRight(c.SigningKey, "\r\n")+"\n"), 0o600); err != nil {
			return "", fault.Wrap(err, fault.Unavailable, "The service cannot write to its folder.")
		}
		git.config = [][2]string{{"gpg.format", "ssh"}, {"user.signingKey", key}}
		args = append(args, "-S")
	}
	git.stdin = strings.TrimRight(c.Message, "\n") + "\n"
	out, err := git.run(ctx, append(args, strings.TrimSpace(tree))...)
	if err != nil {
		if c.SigningKey != "" {
			return "", fault.Wrap(err, fault.External, "The commit could not be signed.").WithCode("signing-failed").
				WithFix("Check that the signing key is a private SSH key without passphrase, and that ssh-keygen (openssh-client) is installed on the service's machine.")
		}
		return "", fault.Wrap(err, fault.Unavailable, "The commit could not be made: %s", saidBy(err))
	}
	commit := strings.TrimSpace(out)
	// A ref keeps it from being thrown away as unreachable.
	if _, err := git.run(ctx, "update-ref", "--end-of-options", "refs/tas/made/"+commit, commit); err != nil {
		return "", fault.Wrap(err, fault.Unavailable, "The commit could not be kept: %s", saidBy(err))
	}
	return commit, nil
}

func checkChange(c checkout.Change) error {
	switch {
	case !isHash(c.Base):
		return fault.New(fault.Internal, "%.80q is no commit to begin from", c.Base)
	case strings.TrimSpace(c.Patch) == "":
		return fault.New(fault.Invalid, "The change changes nothing.").WithCode("patch-refused")
	case len(c.Patch) > checkout.MaxPatch:
		return fault.New(fault.Invalid, "The change is larger than %d MiB.", checkout.MaxPatch>>20).WithCode("patch-refused")
	case strings.TrimSpace(c.Message) == "":
		return fault.New(fault.Invalid, "A commit needs a message.")
	}
	for _, p := range []checkout.Person{c.Author, c.Committer} {
		if strings.TrimSpace(p.Name) == "" || !strings.Contains(p.Email, "@") || strings.ContainsAny(p.Name+p.Email, "<>\n\r\x00") {
			return fault.New(fault.Invalid, "A commit's author and committer need a name and an e-mail address, without angle brackets.").
				WithFix("Correct them in the project's settings.")
		}
	}
	return nil
}

func stamp(t time.Time) string { return fmt.Sprintf("@%d +0000", t.Unix()) }

// Diff shows renames as such.
func (m *Mirrors) Diff(ctx context.Context, src checkout.Source, from, to string) (string, error) {
	if !isHash(from) || !isHash(to) {
		return "", fault.New(fault.Internal, "%.80q and %.80q are no two commits", from, to)
	}
	git, done, err := m.writing(ctx, src)
	if err != nil {
		return "", err
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, localTimeout)
	defer cancel()
	out, err := git.run(ctx, "diff-tree", "-r", "-p", "-M", "--no-ext-diff", "--no-textconv", "--no-color", "--full-index", "--binary", "--end-of-options", from, to)
	if err != nil {
		return "", fault.Wrap(err, fault.Unavailable, "The difference cannot be read: %s", saidBy(err))
	}
	return out, nil
}

// Push refuses what is not the service's own before it asks anybody.
func (m *Mirrors) Push(ctx context.Context, src checkout.Source, b checkout.Branch) error {
	if err := ours(b.Name); err != nil {
		return err
	}
	if !isHash(b.Commit) || b.Was != "" && !isHash(b.Was) {
		return fault.New(fault.Internal, "%.80q and %.80q are no commits to push", b.Commit, b.Was)
	}
	return m.move(ctx, src, b.Name, b.Commit, b.Was)
}

// Drop deletes a branch as Push moves one.
func (m *Mirrors) Drop(ctx context.Context, src checkout.Source, name, was string) error {
	if err := ours(name); err != nil {
		return err
	}
	if !isHash(was) {
		return fault.New(fault.Internal, "%.80q is no commit to drop a branch from", was)
	}
	return m.move(ctx, src, name, "", was)
}

// ours answers nil for a branch that the service may write.
func ours(name string) error {
	if !strings.HasPrefix(name, checkout.Prefix) || len(name) > 200 || !checkout.ValidBranch(name) {
		return fault.New(fault.Invalid, "The branch %.60q is not one of the service's own.", name).
			WithFix("The service writes to branches that begin with " + checkout.Prefix + " and to no others.")
	}
	return nil
}

// move has a branch point at a commit, or be gone, if it is where it was expected.
func (m *Mirrors) move(ctx context.Context, src checkout.Source, name, commit, was string) error {
	git, done, err := m.writing(ctx, src)
	if err != nil {
		return err
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	now, err := head(ctx, src, name)
	switch {
	case err != nil:
		return err
	case now == commit:
		return nil // also when the answer to an earlier push was lost
	case now == "" && was != "" && commit != "":
		return fault.New(fault.Conflict, "Somebody has removed the branch %s.", name).WithCode("branch-moved").
			WithFix("Push it again as it was, or have the change made anew.")
	case now != was && (now == "" || !git.made(ctx, now)):
		return moved(name)
	}
	was = now // of an earlier push whose answer, or whose record, was lost
	usual, err := m.defaultBranch(ctx, src)
	if f := fault.As(err); err != nil && (f == nil || f.Code != "branch-not-found") {
		return err
	}
	if usual == name {
		return fault.New(fault.Invalid, "%s is the repository's default branch, which the service never writes to.", name).
			WithFix("Make another branch the default one.")
	}
	_, err = git.run(ctx, "push", "--quiet", "--no-verify", "--no-follow-tags", "--recurse-submodules=no", "--force-with-lease=refs/heads/"+name+":"+was,
		"--end-of-options", src.URL, commit+":refs/heads/"+name)
	if err == nil {
		return nil
	}
	// What the answer says, or that there was none, matters less than where the branch is.
	if now, again := head(ctx, src, name); again == nil && now == commit {
		return nil
	} else if again == nil && now != was {
		return moved(name)
	}
	if f := fault.As(explain(err, src, name)); f != nil && !errors.Is(f, errMirror) {
		if f.Kind == fault.External {
			f.Code = "push-refused"
		}
		return f
	}
	return fault.Wrap(err, fault.External, "The repository refused the push to %s: %s", name, saidBy(err)).WithCode("push-refused").
		WithFix("Check that the service's account may push there and that no rule protects branches which begin with " + checkout.Prefix + ".")
}

// made reports whether a commit was made in this mirror.
func (c command) made(ctx context.Context, commit string) bool {
	_, err := c.run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", "refs/tas/made/"+commit)
	return err == nil
}

func moved(name string) error {
	return fault.New(fault.Conflict, "Somebody else has moved the branch %s.", name).WithCode("branch-moved").
		WithFix("Look at what was pushed there; remove the branch to have it made anew.")
}
