package main

import (
	"encoding/json"
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

// makeRepository makes the tests a git repository of their own, or commits what has
// changed in them since the last time.
func makeRepository(at places) error {
	if err := os.MkdirAll(at.repo, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(at.repo)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != ".git" {
			if err := os.RemoveAll(filepath.Join(at.repo, e.Name())); err != nil {
				return err
			}
		}
	}
	if err := copyTree(filepath.Join(at.root, "demo", "tests"), at.repo); err != nil {
		return err
	}
	if err := prepareTests(at.repo); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(at.repo, ".git")); errors.Is(err, fs.ErrNotExist) {
		if err := git(at.repo, "init", "--quiet", "--initial-branch=main"); err != nil {
			return err
		}
	}
	if err := git(at.repo, "add", "--all", "--force"); err != nil {
		return err
	}
	if git(at.repo, "diff", "--cached", "--quiet") == nil {
		return nil
	}
	return git(at.repo, "commit", "--quiet", "--message", "Take over the shop's tests")
}

// prepareTests puts tas-runner where the tests' package.json looks for it.
func prepareTests(dir string) error {
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

// demoProject is the demo's project in the service.
type demoProject struct {
	ID  string `json:"id"`
	Key string `json:"key"`
}

// ensureProject creates the project at the first time and points it at the shop. The key
// of a demo is kept in the demo's folder; a real one belongs into a secret store.
func ensureProject(at places, shopURL string) (demoProject, error) {
	note := filepath.Join(at.dir, "project.json")
	args := []string{"--data-dir", at.data, "--repo", "file://" + at.repo, "--env", "SHOP_URL=" + shopURL}
	var p demoProject
	if text, err := os.ReadFile(note); err == nil && json.Unmarshal(text, &p) == nil {
		if _, err := at.project(append([]string{"set", p.ID}, args...)...); err == nil {
			return p, nil
		}
	}
	out, err := at.project(append([]string{"create", "Morrow & Leaf"}, args...)...)
	if err != nil {
		return p, err
	}
	for line := range strings.Lines(out) {
		switch f := strings.Fields(line); {
		case len(f) == 2 && f[0] == "project":
			p.ID = f[1]
		case len(f) == 2 && f[0] == "key":
			p.Key = f[1]
		}
	}
	text, err := json.Marshal(p)
	if err != nil {
		return p, err
	}
	return p, os.WriteFile(note, text, 0o600)
}

func (p places) project(args ...string) (string, error) {
	cmd := exec.Command(p.tas(), append([]string{"project"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("tas project %s: %w: %s", args[0], err, strings.TrimSpace(string(out)))
	}
	return string(out), nil
}
