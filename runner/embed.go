// Package runner carries tas-runner, the npm package that lives in this folder, inside
// the binary: workers start it from their own disk, whatever a tests repository has
// installed.
package runner

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

//go:embed dist package.json README.md
var files embed.FS

// Extract writes the package below root, once for each version of its content, and
// answers its folder. Several processes may do so at once.
func Extract(root string) (dir string, err error) {
	h := sha256.New()
	err = walk(func(name string, text []byte) error {
		h.Write([]byte(name + "\x00"))
		h.Write(text)
		return nil
	})
	if err != nil {
		return "", err
	}
	dir = filepath.Join(root, hex.EncodeToString(h.Sum(nil))[:16])
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", err
	}
	made, err := os.MkdirTemp(root, "new-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(made) //nolint:errcheck // gone when it was renamed
	if err := os.Chmod(made, 0o755); err != nil {
		return "", err
	}
	err = walk(func(name string, text []byte) error {
		path := filepath.Join(made, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return os.WriteFile(path, text, 0o644)
	})
	if err != nil {
		return "", err
	}
	if err := os.Rename(made, dir); err != nil {
		if _, there := os.Stat(dir); there != nil {
			return "", err
		}
	}
	return dir, nil
}

// Files calls fn for each file of the package, in order of their names.
func Files(fn func(name string, text []byte) error) error { return walk(fn) }

func walk(fn func(name string, text []byte) error) error {
	return fs.WalkDir(files, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), ".") {
			return err
		}
		text, err := files.ReadFile(p)
		if err != nil {
			return err
		}
		return fn(p, text)
	})
}
