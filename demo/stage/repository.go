// Package stage sets up what the demo and the benchmarks stand on: the tests repository,
// the project, a running service.
package stage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"tas-service/runner"
)

// leftOut are folders of the tests that are made by running them.
var leftOut = map[string]bool{"node_modules": true, "test-results": true, "playwright-report": true, "blob-report": true, ".auth": true, "vendor": true}

// Repository makes the shop's tests, which lie in the source tree at root, a git
// repository of their own at dir, or commits what has changed in them since then.
func Repository(root, dir string) error { return RepositoryOf(root, dir, nil) }

// RepositoryOf makes a repository with the same dependencies; where files are given, they
// take the place of the shop's tests.
func RepositoryOf(root, dir string, files map[string]string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != ".git" {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	if err := copyTree(filepath.Join(root, "demo", "tests"), dir); err != nil {
		return err
	}
	if files != nil {
		if err := os.RemoveAll(filepath.Join(dir, "tests")); err != nil {
			return err
		}
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	if err := Vendor(dir); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, ".git")); errors.Is(err, fs.ErrNotExist) {
		if err := git(dir, "init", "--quiet", "--initial-branch=main"); err != nil {
			return err
		}
	}
	if err := git(dir, "add", "--all", "--force"); err != nil {
		return err
	}
	if git(dir, "diff", "--cached", "--quiet") == nil {
		return nil
	}
	return git(dir, "commit", "--quiet", "--message", "Take over the shop's tests")
}

// Vendor puts tas-runner where the package.json of the tests in dir looks for it.
func Vendor(dir string) error {
	version, err := runner.Version()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, "vendor"), 0o755); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, "vendor", "tas-runner-"+version+".tgz"))
	if err != nil {
		return err
	}
	return errors.Join(runner.WriteTarball(f), f.Close())
}

func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if leftOut[d.Name()] {
				return filepath.SkipDir
			}
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), text, 0o644)
	})
}

func git(dir string, args ...string) error {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=Demo", "GIT_AUTHOR_EMAIL=demo@example.com", "GIT_COMMITTER_NAME=Demo", "GIT_COMMITTER_EMAIL=demo@example.com")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(string(out)))
	}
	return nil
}
