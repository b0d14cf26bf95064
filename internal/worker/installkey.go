package worker

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sort"
	"strings"
)

// installKey hashes all that decides what npm ci installs. Where the repository's own code
// takes part in it, own says what of it does: then no hash of a few files can vouch for
// the result, and one branch's install could serve another's run.
func (w *worker) installKey(pkg *os.Root) (key, own string, err error) {
	has := func(name string) bool { _, err := pkg.Lstat(name); return err == nil }
	if !has("package.json") {
		return "", "", failure("no-package", "The tests repository has no package.json in %q.", "/"+w.job.Repository.Dir).
			WithFix("Set the folder of the tests' package in the project's settings.")
	}
	lock := "package-lock.json"
	if has("npm-shrinkwrap.json") {
		lock = "npm-shrinkwrap.json"
	}
	if !has(lock) {
		for _, other := range []string{"pnpm-lock.yaml", "yarn.lock", "bun.lock"} {
			if has(other) {
				return "", "", failure("no-lockfile", "The tests repository has %s, and this version installs with npm only.", other).
					WithFix("Commit a package-lock.json beside it (npm install --package-lock-only).")
			}
		}
		return "", "", failure("no-lockfile", "The tests repository has no package-lock.json.").
			WithFix("Run npm install there and commit the lockfile, so that every run installs the same.")
	}
	h := sha256.New()
	fmt.Fprintf(h, "v2\x00%s\x00", fileMark(w.node))
	for _, name := range []string{"package.json", lock, ".npmrc"} {
		text, err := readLimited(pkg, name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", "", failure("install-failed", "%s cannot be read: %v.", name, err)
		}
		fmt.Fprintf(h, "%s\x00%d\x00%s", name, len(text), text)
		switch name {
		case lock:
			if err := hashLocal(h, pkg, text); err != nil {
				return "", "", err
			}
			own = cmp.Or(own, linkedPackages(text))
		case "package.json":
			own = ownScripts(text)
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:32], own, nil
}

// ownScripts names what of a package.json runs code of the repository during npm ci.
func ownScripts(text []byte) string {
	var p struct {
		Scripts    map[string]string `json:"scripts"`
		Workspaces any               `json:"workspaces"`
	}
	if json.Unmarshal(text, &p) != nil {
		return "" // npm will say what is wrong with it
	}
	for _, name := range []string{"preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare"} {
		if p.Scripts[name] != "" {
			return "the script " + name
		}
	}
	if p.Workspaces != nil {
		return "workspaces"
	}
	return ""
}

// linkedPackages says when dependencies are folders of the repository itself.
func linkedPackages(lock []byte) string {
	var parsed struct {
		Packages map[string]struct {
			Link bool `json:"link"`
		} `json:"packages"`
	}
	if json.Unmarshal(lock, &parsed) != nil {
		return ""
	}
	for _, p := range parsed.Packages {
		if p.Link {
			return "dependencies that are folders of the repository"
		}
	}
	return ""
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

// fileMark tells one version of a program from another without starting it.
func fileMark(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return path
	}
	return fmt.Sprintf("%s %d %d", path, info.Size(), info.ModTime().UnixNano())
}
