package worker

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"tas-service/internal/filelock"
	"tas-service/internal/sandbox"
)

// installTimeout bounds one npm ci.
const installTimeout = 15 * time.Minute

// keepInstalls is how long an install that no run used is kept.
const keepInstalls = 7 * 24 * time.Hour

// install answers the folder with the dependencies of the checked-out package: installed
// once for each lockfile (and what else decides the result), shared by later runs, which
// see it read-only.
func (w *worker) install(ctx context.Context) (modules string, err error) {
	pkg, err := os.OpenRoot(w.path("repo"))
	if err != nil {
		return "", diskTrouble(err)
	}
	defer pkg.Close() //nolint:errcheck // read only
	if dir := w.job.Repository.Dir; dir != "" {
		sub, err := pkg.OpenRoot(dir)
		if err != nil {
			return "", failure("no-package", "The tests repository has no folder %q on branch %q.", dir, w.job.Repository.Branch)
		}
		defer sub.Close() //nolint:errcheck // read only
		pkg = sub
	}
	key, err := w.installKey(pkg)
	if err != nil {
		return "", err
	}
	root := filepath.Join(w.Work, "installs", w.job.ProjectID)
	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", diskTrouble(err)
	}
	final := filepath.Join(root, key)
	unlock, err := filelock.Lock(ctx, final+".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	modules = filepath.Join(final, "node_modules")
	if _, err := os.Stat(modules); err == nil {
		now := time.Now()
		return modules, os.Chtimes(final, now, now)
	}
	forgetOld(root)
	if err := w.npmCI(ctx); err != nil {
		return "", err
	}
	// Install scripts may have left anything in its place, also a link to anywhere.
	if info, err := pkg.Lstat("node_modules"); err != nil || !info.IsDir() {
		return "", failure("install-failed", "npm ci installed nothing: there is no folder node_modules afterwards.").
			WithFix("Add @playwright/test to the devDependencies of the package.")
	}
	// Tools keep caches there; each run gets a writable one of its own in this place.
	if err := pkg.MkdirAll("node_modules/.cache", 0o755); err != nil {
		return "", diskTrouble(err)
	}
	made := filepath.Join(w.packageDir(), "node_modules")
	if os.Geteuid() == 0 { // shared by runs from here on: no longer its user's to change
		if err := sandbox.HandOver(made, 0); err != nil {
			return "", diskTrouble(err)
		}
	}
	if err := os.MkdirAll(final, 0o755); err != nil {
		return "", diskTrouble(err)
	}
	if err := os.Rename(made, modules); err != nil {
		return "", diskTrouble(err)
	}
	return modules, nil
}

func (w *worker) packageDir() string { return filepath.Join(w.path("repo"), w.job.Repository.Dir) }

// installKey hashes all that decides what npm ci installs.
func (w *worker) installKey(pkg *os.Root) (string, error) {
	has := func(name string) bool { _, err := pkg.Lstat(name); return err == nil }
	if !has("package.json") {
		return "", failure("no-package", "The tests repository has no package.json in %q.", "/"+w.job.Repository.Dir).
			WithFix("Set the folder of the tests' package in the project's settings.")
	}
	lock := "package-lock.json"
	if has("npm-shrinkwrap.json") {
		lock = "npm-shrinkwrap.json"
	}
	if !has(lock) {
		for _, other := range []string{"pnpm-lock.yaml", "yarn.lock", "bun.lock"} {
			if has(other) {
				return "", failure("no-lockfile", "The tests repository has %s, and this version installs with npm only.", other).
					WithFix("Commit a package-lock.json beside it (npm install --package-lock-only).")
			}
		}
		return "", failure("no-lockfile", "The tests repository has no package-lock.json.").
			WithFix("Run npm install there and commit the lockfile, so that every run installs the same.")
	}
	h := sha256.New()
	fmt.Fprintf(h, "v1\x00%s\x00", nodeVersion(w.node))
	for _, name := range []string{"package.json", lock, ".npmrc"} {
		text, err := readLimited(pkg, name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", failure("install-failed", "%s cannot be read: %v.", name, err)
		}
		fmt.Fprintf(h, "%s\x00%d\x00%s", name, len(text), text)
		if name == lock {
			if err := hashLocal(h, pkg, text); err != nil {
				return "", err
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:32], nil
}

// hashLocal adds the contents of packages that lie in the repository itself as files.
func hashLocal(h io.Writer, pkg *os.Root, lock []byte) error {
	var parsed struct {
		Packages map[string]struct {
			Resolved string `json:"resolved"`
		} `json:"packages"`
	}
	if err := json.Unmarshal(lock, &parsed); err != nil {
		return failure("install-failed", "The lockfile is no valid JSON: %v.", err).WithFix("Run npm install and commit the lockfile again.")
	}
	var local []string
	for _, p := range parsed.Packages {
		if file, ok := strings.CutPrefix(p.Resolved, "file:"); ok {
			local = append(local, file)
		}
	}
	sort.Strings(local)
	for _, file := range local {
		f, err := pkg.Open(file)
		if err != nil {
			continue // npm will say what is wrong with it
		}
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			fmt.Fprintf(h, "\x00%s\x00", file)
			io.Copy(h, f) //nolint:errcheck // a worse key only installs once more
		}
		f.Close() //nolint:errcheck // read only
	}
	return nil
}

func readLimited(pkg *os.Root, name string) ([]byte, error) {
	f, err := pkg.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // read only
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.New("it is no regular file")
	}
	return io.ReadAll(io.LimitReader(f, 64<<20))
}

func nodeVersion(node string) string {
	out, err := exec.Command(node, "--version").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// npmCI installs into the working copy. Install scripts are strangers' programs too.
func (w *worker) npmCI(ctx context.Context) error {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return failure("no-node", "npm is not installed on the worker's machine.").WithFix("Install it beside Node.js.")
	}
	cache, err := w.projectDir("npm")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, installTimeout)
	defer cancel()
	binds := w.binds()
	binds = append(binds, sandbox.Bind{Host: cache, Inside: w.box.Inside(cache, "/tas/npm")})
	var out lastOutput
	cmd, err := w.box.Command(ctx, sandbox.Spec{
		Args:     []string{npm, "ci", "--no-audit", "--no-fund", "--no-progress", "--prefer-offline"},
		Env:      w.environment(nil, "npm_config_cache="+w.box.Inside(cache, "/tas/npm"), "npm_config_update_notifier=false"),
		Dir:      w.insidePackage(),
		ReadOnly: w.tools(), Writable: binds, Stdout: &out, Stderr: &out,
		Limits: sandbox.Limits{FileSize: w.job.DiskQuota, OpenFiles: openFiles}, User: sandbox.UserOf(w.job.ProjectID),
	})
	if err != nil {
		return err
	}
	guard := w.startGuard(ctx, cancel, 200)
	defer guard.stop()
	err = cmd.Run()
	killDescendants() // nothing of an install script goes on while its result is used
	if err != nil {
		switch {
		case guard.tripped() != nil:
			return guard.tripped()
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			return failure("install-failed", "npm ci took longer than %s.", installTimeout)
		}
		return failure("install-failed", "The dependencies of the tests repository do not install (npm ci, %v):\n%s", err, out.String()).
			WithFix("Run npm ci in a fresh clone of the branch and commit what it takes.")
	}
	return nil
}

// forgetOld removes installs that no run has used for long.
func forgetOld(root string) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && e.IsDir() && time.Since(info.ModTime()) > keepInstalls {
			os.RemoveAll(filepath.Join(root, e.Name())) //nolint:errcheck // tried again the next time
		}
	}
}

// lastOutput keeps the end of what a program prints.
type lastOutput struct{ buf bytes.Buffer }

const keepOutput = 8 << 10

func (o *lastOutput) Write(p []byte) (int, error) {
	o.buf.Write(p)
	if n := o.buf.Len(); n > 4*keepOutput {
		o.buf.Next(n - keepOutput)
	}
	return len(p), nil
}

func (o *lastOutput) String() string {
	s := o.buf.String()
	return strings.TrimSpace(s[max(0, len(s)-keepOutput):])
}
