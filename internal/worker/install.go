package worker

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"tas-service/internal/filelock"
	"tas-service/internal/sandbox"
)

// installTimeout bounds one npm ci.
const installTimeout = 15 * time.Minute

// keepInstalls is how long an install that no run used is kept.
const keepInstalls = 7 * 24 * time.Hour

// install sees to the dependencies of the checked-out package. It answers the folder that
// holds them, installed once for each lockfile (and what else decides the result) and
// shared by later runs, which see it read-only; or "" where the package's own scripts take
// part in the install: then it is made in each run, in place.
func (w *worker) install(ctx context.Context) (modules string, err error) {
	pkg, err := w.openPackage()
	if err != nil {
		return "", err
	}
	defer pkg.Close() //nolint:errcheck // read only
	key, own, err := w.installKey(pkg)
	if err != nil {
		return "", err
	}
	if own != "" {
		w.warn("install-not-shared", "The dependencies are installed anew in each run, because the package has "+own+".")
		return "", w.npmCI(ctx)
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
	if info, err := os.Lstat(modules); err == nil && info.IsDir() {
		now := time.Now()
		return modules, os.Chtimes(final, now, now)
	}
	forgetOld(root, keepInstalls)
	if err := w.npmCI(ctx); err != nil {
		return "", err
	}
	return modules, w.keep(final)
}

// keep moves the dependencies that npm ci made to where later runs find them. Install
// scripts may have left anything behind, also links to anywhere; none of them runs any
// more, so what is seen here stays as it is.
func (w *worker) keep(final string) error {
	pkg, err := w.openPackage()
	if err != nil {
		return err
	}
	defer pkg.Close() //nolint:errcheck // nothing is written through it after this
	// Tools keep caches there; each run gets a writable one of its own in this place.
	if err := pkg.MkdirAll("node_modules/.cache", 0o755); err != nil {
		return diskTrouble(err)
	}
	made := filepath.Join(w.packageDir(), "node_modules")
	if os.Geteuid() == 0 { // shared by runs from here on: no longer its user's to change
		if err := sandbox.HandOver(made, 0); err != nil {
			return diskTrouble(err)
		}
	}
	if err := os.MkdirAll(final, 0o755); err != nil {
		return diskTrouble(err)
	}
	if err := os.Rename(made, filepath.Join(final, "node_modules")); err != nil {
		return diskTrouble(err)
	}
	return nil
}

// openPackage opens the package's folder in the working copy. No part of its path may be
// a link: the repository, or an install script, could make it lead out.
func (w *worker) openPackage() (*os.Root, error) {
	at, err := os.OpenRoot(w.path("repo"))
	if err != nil {
		return nil, diskTrouble(err)
	}
	for part := range strings.SplitSeq(filepath.ToSlash(filepath.Clean(w.job.Repository.Dir)), "/") {
		if part == "" || part == "." {
			continue
		}
		info, err := at.Lstat(part)
		if err == nil && !info.IsDir() {
			err = errors.New("not a folder")
		}
		var next *os.Root
		if err == nil {
			next, err = at.OpenRoot(part)
		}
		at.Close() //nolint:errcheck // read only
		if err != nil {
			return nil, failure("no-package", "The tests repository has no folder %q on branch %q (a link does not count).", w.job.Repository.Dir, w.job.Repository.Branch)
		}
		at = next
	}
	return at, nil
}

func (w *worker) packageDir() string { return filepath.Join(w.path("repo"), w.job.Repository.Dir) }

// npmCI installs into the working copy. Install scripts are strangers' programs too.
func (w *worker) npmCI(ctx context.Context) error {
	npm, err := findNPM(w.node)
	if err != nil {
		return err
	}
	cache, err := w.projectDir("npm")
	if err == nil {
		err = w.freshen(cache)
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, installTimeout)
	defer cancel()
	binds := w.binds()
	binds = append(binds, sandbox.Bind{Host: cache, Inside: w.box.Inside(cache, "/tas/npm")})
	var out lastOutput
	cmd, err := w.box.Command(ctx, sandbox.Spec{
		Args:     append(npm, "ci", "--no-audit", "--no-fund", "--no-progress", "--prefer-offline"),
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
	err = runToEnd(cmd)
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
	pkg, err := w.openPackage()
	if err != nil {
		return err
	}
	defer pkg.Close() //nolint:errcheck // read only
	if info, err := pkg.Lstat("node_modules"); err != nil || !info.IsDir() {
		return failure("install-failed", "npm ci installed nothing: there is no folder node_modules afterwards.").
			WithFix("Add @playwright/test to the devDependencies of the package.")
	}
	return nil
}

// runToEnd runs a prepared program. It is killed with the thread that started it, so
// that thread stays as long as the program.
func runToEnd(cmd *exec.Cmd) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := sandbox.Start(cmd)
		if err == nil {
			err = cmd.Wait()
		}
		done <- err
	}()
	return <-done
}

// forgetOld removes folders below root that no run has used for long.
func forgetOld(root string, unused time.Duration) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && e.IsDir() && time.Since(info.ModTime()) > unused {
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
