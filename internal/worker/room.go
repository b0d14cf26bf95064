package worker

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"tas-service/internal/sandbox"
)

// openFiles bounds the descriptors of test code: a browser takes many.
const openFiles = 16384

// The folders of an attempt and where test code sees them under a box with its own view:
// always at the same place, so that caches keyed by path serve later runs.
var rooms = []struct{ name, inside string }{
	{"repo", "/tas/repo"}, {"out", "/tas/out"}, {"home", "/tas/home"}, {"tmp", "/tas/tmp"}, {"browsers", "/tas/browsers"},
}

// projectDir answers a folder that one project's programs keep things in, run after run,
// and that other projects' cannot open.
func (w *worker) projectDir(name string) (string, error) {
	dir := filepath.Join(w.Work, name, w.job.ProjectID)
	if err := errors.Join(os.MkdirAll(filepath.Dir(dir), 0o711), os.MkdirAll(dir, 0o700)); err != nil {
		return "", diskTrouble(err)
	}
	return dir, nil
}

// binds answers what test code may write.
func (w *worker) binds() []sandbox.Bind {
	var out []sandbox.Bind
	for _, r := range rooms {
		out = append(out, sandbox.Bind{Host: w.path(r.name), Inside: w.box.Inside(w.path(r.name), r.inside)})
	}
	if w.box.Level() == sandbox.Bubblewrap {
		out = append(out, sandbox.Bind{Host: w.path("tmp"), Inside: "/tmp"}, sandbox.Bind{Host: w.path("tmp"), Inside: "/var/tmp"})
	}
	return out
}

// inside answers where test code sees one of the attempt's folders.
func (w *worker) inside(name string) string {
	for _, r := range rooms {
		if r.name == name {
			return w.box.Inside(w.path(name), r.inside)
		}
	}
	return ""
}

func (w *worker) insidePackage() string {
	return filepath.Join(w.inside("repo"), w.job.Repository.Dir)
}

// tools answers what test code needs of the machine beyond its system folders: Node, npm
// and the browsers, where they lie elsewhere; and the .git file of the working copy, so
// that test code cannot point it somewhere.
func (w *worker) tools() []sandbox.Bind {
	var out []sandbox.Bind
	seen := map[string]bool{}
	add := func(path string) {
		if path != "" && !strings.HasPrefix(path, "/usr/") && !seen[path] {
			seen[path] = true
			out = append(out, sandbox.Bind{Host: path, Inside: path})
		}
	}
	// …/bin/node stands beside …/lib/node_modules/npm. Not all of the prefix: it may be
	// somebody's ~/.local.
	add(filepath.Dir(w.node))
	if lib := filepath.Join(filepath.Dir(filepath.Dir(w.node)), "lib", "node_modules"); exists(lib) {
		add(lib)
	}
	browsers := systemBrowsers()
	names := make([]string, 0, len(browsers))
	for name := range browsers {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		add(filepath.Dir(browsers[name]))
	}
	if w.Browsers != "" && exists(w.Browsers) {
		add(w.Browsers)
	}
	for _, name := range []string{"NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"} {
		if path := os.Getenv(name); path != "" && !strings.HasPrefix(path, "/etc/ssl/") && exists(path) {
			add(path)
		}
	}
	if w.box.Level() == sandbox.Bubblewrap {
		out = append(out, sandbox.Bind{Host: w.path("repo", ".git"), Inside: filepath.Join(w.inside("repo"), ".git")})
	}
	return out
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// passed are variables of the worker that say how this machine reaches the world and
// hold no secret. Proxies may hold one, so they pass only when the operator names them.
var passed = []string{"TZ", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"}

// environment answers the whole environment of test code: nothing of the service's.
func (w *worker) environment(app map[string]string, more ...string) []string {
	env := []string{
		"PATH=" + filepath.Dir(w.node) + ":/usr/local/bin:/usr/bin:/bin", "HOME=" + w.inside("home"), "TMPDIR=" + w.inside("tmp"),
		"LANG=C.UTF-8", "CI=1", "FORCE_COLOR=0", "PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1", "USER=tas", "LOGNAME=tas", "SHELL=/bin/sh",
	}
	for _, name := range append(append([]string(nil), passed...), w.SandboxEnv...) {
		if v, ok := os.LookupEnv(name); ok && !strings.HasPrefix(name, "TAS_") {
			env = append(env, name+"="+v)
		}
	}
	names := make([]string, 0, len(app))
	for name := range app {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		env = append(env, name+"="+app[name])
	}
	return append(env, more...)
}

// processBound answers how many processes a run may have: a browser takes up to 80.
func (w *worker) processBound(workers int) int {
	if w.MaxProcesses > 0 {
		return w.MaxProcesses
	}
	return 150 + 80*workers
}

// Bounds of what one project's programs keep from run to run.
const (
	keepCaches = 7 * 24 * time.Hour // unused
	maxCache   = 2 << 30            // bytes; larger, it begins anew
)

// cacheDir answers the folder for Playwright's compiled tests: of this branch alone, since
// whoever can push to one branch must not decide what another's runs execute.
func (w *worker) cacheDir() (string, error) {
	root, err := w.projectDir("cache")
	if err != nil {
		return "", err
	}
	// The project's user must get through to the branch's folder, which is its own.
	if err := os.Chmod(root, 0o711); err != nil {
		return "", diskTrouble(err)
	}
	forgetOld(root, keepCaches)
	branch := sha256.Sum256([]byte(w.source.Branch))
	dir := filepath.Join(root, hex.EncodeToString(branch[:8]))
	if err := w.freshen(dir); err != nil {
		return "", err
	}
	return dir, nil
}

// freshen makes a folder that programs write to from run to run, anew when it has grown
// too large.
func (w *worker) freshen(dir string) error {
	if sizeOf(dir, maxCache) > maxCache {
		if err := os.RemoveAll(dir); err != nil {
			return diskTrouble(err)
		}
	}
	now := time.Now()
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chtimes(dir, now, now)); err != nil {
		return diskTrouble(err)
	}
	return nil
}
