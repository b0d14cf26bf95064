package git

import (
	"context"
	"crypto/sha256"
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

// Timeouts of single steps; a copy as a whole is bounded by its caller's context.
const (
	fetchTimeout = 10 * time.Minute
	localTimeout = 2 * time.Minute
)

// Mirrors is a checkout.Checkouts with its mirrors below one folder.
type Mirrors struct{ Root string }

var _ checkout.Checkouts = (*Mirrors)(nil)

func (m *Mirrors) mirror(src checkout.Source) string { return filepath.Join(m.Root, src.Key+".git") }

func (m *Mirrors) command(src checkout.Source) command {
	return command{dir: m.mirror(src), token: src.Token, url: src.URL}
}

// Make fetches and adds a worktree at dir, from a spare one where there is one.
func (m *Mirrors) Make(ctx context.Context, src checkout.Source, dir string) (checkout.Copy, error) {
	if err := m.makeRoot(); err != nil {
		return checkout.Copy{}, err
	}
	// One process at a time works on a mirror: git's own locks fail instead of waiting.
	unlock, err := filelock.Lock(ctx, m.mirror(src)+".lock")
	if err != nil {
		return checkout.Copy{}, fault.Wrap(err, fault.Unavailable, "The mirror of the tests repository is locked.")
	}
	defer unlock()
	branch, commit, err := m.fetch(ctx, src)
	if errors.Is(err, errMirror) && ctx.Err() == nil {
		// A worker that was killed may have left it half written. It only is a cache.
		if err := os.RemoveAll(m.mirror(src)); err != nil {
			return checkout.Copy{}, fault.Wrap(err, fault.Unavailable, "The mirror of the tests repository cannot be removed.")
		}
		branch, commit, err = m.fetch(ctx, src)
	}
	if err != nil {
		return checkout.Copy{}, err
	}
	local, cancel := context.WithTimeout(ctx, localTimeout)
	defer cancel()
	if m.fromSpare(local, src, commit, dir) {
		return checkout.Copy{Dir: dir, Branch: branch, Commit: commit}, nil
	}
	if _, err := m.command(src).run(local, "worktree", "add", "--quiet", "--force", "--detach", "--", dir, commit); err != nil {
		return checkout.Copy{}, fault.Wrap(err, fault.Unavailable, "The working copy of the tests repository could not be made: %s", saidBy(err)).
			WithFix("Check the disk space of the worker's machine.")
	}
	return checkout.Copy{Dir: dir, Branch: branch, Commit: commit}, nil
}

func (m *Mirrors) makeRoot() error {
	if err := os.MkdirAll(m.Root, 0o700); err != nil {
		return fault.Wrap(err, fault.Unavailable, "The worker cannot write to its folder.")
	}
	return nil
}

// fetch makes the mirror when it is missing, fetches the branch and answers its commit.
func (m *Mirrors) fetch(ctx context.Context, src checkout.Source) (branch, commit string, err error) {
	git := m.command(src)
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	if err := m.makeMirror(ctx, src); err != nil {
		return "", "", err
	}
	has := func() bool { return git.has(ctx, src.Commit) }
	if src.Commit != "" && !isHash(src.Commit) {
		return "", "", fault.New(fault.Internal, "%.80q is no commit", src.Commit)
	}
	if branch = src.Branch; src.Commit != "" && branch != "" && has() {
		return branch, src.Commit, nil
	}
	if branch == "" {
		if branch, err = m.defaultBranch(ctx, src); err != nil {
			return "", "", err
		}
	}
	// Not the branch's own name: a branch a that is gone would forbid one called a/b.
	ref := fmt.Sprintf("refs/tas/%x", sha256.Sum256([]byte(branch)))
	// Depth 1 would lose the renames between runs; blobs are needed anyway.
	_, err = git.run(ctx, "fetch", "--quiet", "--no-tags", "--force", "--no-write-fetch-head", "--no-recurse-submodules",
		"--end-of-options", src.URL, "refs/heads/"+branch+":"+ref)
	if err != nil {
		return "", "", explain(err, src, branch)
	}
	if src.Commit != "" {
		if !has() {
			// The branch was moved away from it since.
			if _, err := git.run(ctx, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--end-of-options", src.URL, src.Commit); err != nil {
				return "", "", explain(err, src, branch)
			}
		}
		return branch, src.Commit, nil
	}
	out, err := git.run(ctx, "rev-parse", "--verify", "--end-of-options", ref+"^{commit}")
	if err != nil {
		return "", "", fault.Wrap(err, fault.External, "The branch %q does not point at a commit.", branch).WithCode("branch-not-found")
	}
	return branch, strings.TrimSpace(out), nil
}

func (m *Mirrors) makeMirror(ctx context.Context, src checkout.Source) error {
	dir := m.mirror(src)
	if _, err := os.Stat(filepath.Join(dir, "HEAD")); err == nil {
		return nil
	}
	if _, err := (command{}).run(ctx, "init", "--quiet", "--bare", "--initial-branch=main", "--", dir); err != nil {
		return fault.Wrap(err, fault.Unavailable, "The mirror of the tests repository could not be made: %s", saidBy(err))
	}
	return nil
}

// has reports whether a commit is in the mirror.
func (c command) has(ctx context.Context, commit string) bool {
	_, err := c.run(ctx, "cat-file", "-e", "--end-of-options", commit+"^{commit}")
	return err == nil
}

func (m *Mirrors) defaultBranch(ctx context.Context, src checkout.Source) (string, error) {
	out, err := m.command(src).run(ctx, "ls-remote", "--symref", "--end-of-options", src.URL, "HEAD")
	if err != nil {
		return "", explain(err, checkout.Source{URL: src.URL}, "")
	}
	for line := range strings.Lines(out) {
		if name, ok := strings.CutPrefix(line, "ref: refs/heads/"); ok {
			name, _, _ = strings.Cut(name, "\t")
			return name, nil
		}
	}
	return "", fault.New(fault.External, "The tests repository has no default branch; it may be empty.").
		WithCode("branch-not-found").WithFix("Push a commit to it, or name a branch.")
}

// errMirror marks failures whose reason may lie in the mirror: none that the repository's
// side or the network gave.
var errMirror = errors.New("the mirror may be damaged")

// explain turns git's words into what a person can act on.
func explain(err error, src checkout.Source, branch string) error {
	said := saidBy(err)
	low := strings.ToLower(said)
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(low, p) {
				return true
			}
		}
		return false
	}
	clone := func(format string, args ...any) *fault.Error {
		return fault.Wrap(err, fault.External, format, args...).WithCode("clone-failed")
	}
	switch {
	case fault.As(err) != nil:
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return fault.Wrap(err, fault.Unavailable, "The tests repository did not answer in time.").WithCode("clone-failed")
	case has("couldn't find remote ref"):
		return fault.Wrap(err, fault.External, "The branch %q does not exist in the tests repository.", branch).
			WithCode("branch-not-found").WithFix("Check its spelling and that it was pushed.")
	case has("authentication failed", "could not read username", "error: 401", "error: 403", "permission denied", "terminal prompts disabled"):
		return clone("The tests repository refused the service's access: %s", said).
			WithFix("Check that the project's repository token is right, has not expired and may read the repository.")
	case has("error: 301", "error: 302", "error: 307", "error: 308", "redirect"):
		return clone("The tests repository has moved: %s", said).WithFix("Enter its new address in the project's settings.")
	case has("not found", "does not exist", "does not appear to be a git repository", "no such file"):
		return clone("There is no git repository at %s.", redact(src.URL)).
			WithFix("Check the address in the project's settings; a private repository needs a token.")
	case has("could not resolve host", "connection refused", "timed out", "couldn't connect", "network is unreachable", "early eof", "error: 502", "error: 503", "error: 504"):
		return fault.Wrap(err, fault.Unavailable, "The tests repository cannot be reached: %s", said).WithCode("clone-failed").
			WithFix("Check the network between the worker and the repository's host.")
	default:
		f := clone("The tests repository could not be fetched: %s", said)
		f.Err = errors.Join(err, errMirror)
		return f
	}
}

func saidBy(err error) string {
	var f *failure
	if errors.As(err, &f) {
		return f.said
	}
	return ""
}

func redact(url string) string {
	if i := strings.Index(url, "@"); i > 0 {
		if j := strings.Index(url, "://"); j > 0 && j < i {
			return url[:j+3] + "…" + url[i:]
		}
	}
	return url
}

// Renames asks git for files that were renamed between two commits.
func (m *Mirrors) Renames(ctx context.Context, src checkout.Source, from, to string) (map[string]string, error) {
	if from == "" || from == to {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, localTimeout)
	defer cancel()
	git := m.command(src)
	if _, err := git.run(ctx, "cat-file", "-e", from+"^{commit}"); err != nil {
		return nil, nil // forced away, or never fetched here: no evidence
	}
	out, err := git.run(ctx, "diff-tree", "-r", "-z", "-M", "--diff-filter=R", "--name-status", "--end-of-options", from, to)
	if err != nil {
		return nil, fmt.Errorf("ask for renames: %w", err)
	}
	renames := map[string]string{}
	fields := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	for i := 0; i+2 < len(fields); i += 3 {
		renames[fields[i+1]] = fields[i+2]
	}
	return renames, nil
}

// Discard takes the folder away; it may become the beginning of the next copy.
func (m *Mirrors) Discard(ctx context.Context, src checkout.Source, dir string) error {
	unlock, err := filelock.Lock(ctx, m.mirror(src)+".lock")
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	defer unlock()
	if m.sparing(ctx, src, dir) {
		return nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	_, err = m.command(src).run(ctx, "worktree", "prune")
	return err
}

// isHash reports whether a text is a full hash of a commit.
func isHash(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}
