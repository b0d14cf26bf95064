package git_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tas-service/internal/checkout"
	"tas-service/internal/checkout/git"
)

// files answers what is in a working copy: path, mode and text.
func files(t *testing.T, dir string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		switch {
		case err != nil:
			return err
		case rel == ".git" && d.IsDir():
			return filepath.SkipDir
		case rel == ".git":
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := ""
		switch {
		case d.IsDir():
			out = append(out, rel+"/ "+info.Mode().String())
			return nil
		case d.Type().IsRegular() && info.Sys().(*syscall.Stat_t).Nlink > 1:
			text = "which has another name as well"
		case info.Mode()&fs.ModeSymlink != 0:
			text, err = os.Readlink(path)
		default:
			var raw []byte
			raw, err = os.ReadFile(path)
			text = string(raw)
		}
		out = append(out, rel+" "+info.Mode().String()+" "+text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestSpareIsAsFresh has test code do to a working copy what it may, and finds nothing of
// it in the next one, which is made of it.
func TestSpareIsAsFresh(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(t *testing.T, dir string){
		"nothing": func(*testing.T, string) {},
		"changed, of the same size and with the same time": func(t *testing.T, dir string) {
			path := filepath.Join(dir, "a.spec.ts")
			info, err := os.Stat(path)
			must(t, err)
			write(t, path, "expect(0)\n")
			must(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
		},
		"written through another name": func(t *testing.T, dir string) {
			must(t, os.Link(filepath.Join(dir, "a.spec.ts"), filepath.Join(dir, "x")))
			write(t, filepath.Join(dir, "x"), "expect(0)\n")
		},
		"removed": func(t *testing.T, dir string) { must(t, os.RemoveAll(filepath.Join(dir, "pages"))) },
		"mode":    func(t *testing.T, dir string) { must(t, os.Chmod(filepath.Join(dir, "a.spec.ts"), 0o777)) },
		"added":   func(t *testing.T, dir string) { write(t, filepath.Join(dir, "pages", "evil.spec.ts"), "x") },
		"ignored": func(t *testing.T, dir string) { write(t, filepath.Join(dir, "out", "evil.spec.ts"), "x") },
		"ignore all": func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, ".gitignore"), "*\n")
			write(t, filepath.Join(dir, "evil"), "x")
		},
		"attributes": func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, ".gitattributes"), "* text eol=crlf filter=evil\n")
		},
		"its .git": func(t *testing.T, dir string) {
			must(t, os.Remove(filepath.Join(dir, ".git")))
			sh(t, dir, "init", "-q")
			sh(t, dir, "config", "core.worktree", "/")
			sh(t, dir, "config", "core.fsmonitor", "touch "+filepath.Join(dir, "evil"))
		},
		"a repository inside": func(t *testing.T, dir string) {
			must(t, os.Mkdir(filepath.Join(dir, "inner"), 0o755))
			sh(t, filepath.Join(dir, "inner"), "init", "-q")
			write(t, filepath.Join(dir, "inner", "evil"), "x")
		},
		"a folder that leads out": func(t *testing.T, dir string) {
			out := t.TempDir()
			write(t, filepath.Join(out, "home.ts"), "theirs")
			must(t, os.RemoveAll(filepath.Join(dir, "pages")))
			must(t, os.Symlink(out, filepath.Join(dir, "pages")))
			t.Cleanup(func() {
				if text, err := os.ReadFile(filepath.Join(out, "home.ts")); string(text) != "theirs" {
					t.Errorf("what it leads to has %q, %v", text, err)
				}
			})
		},
		"a file instead of a folder": func(t *testing.T, dir string) {
			must(t, os.RemoveAll(filepath.Join(dir, "pages")))
			write(t, filepath.Join(dir, "pages"), "x")
		},
		"a .git in a folder of the repository": func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "pages", ".git", "config"), "[core]\n\tfsmonitor = evil\n")
		},
		"a file .git in a folder of the repository": func(t *testing.T, dir string) { write(t, filepath.Join(dir, "pages", ".git"), "gitdir: /\n") },
		"in a submodule's folder":                   func(t *testing.T, dir string) { write(t, filepath.Join(dir, "sub", "evil"), "x") },
		"a repository as the submodule": func(t *testing.T, dir string) {
			sh(t, filepath.Join(dir, "sub"), "init", "-q")
			write(t, filepath.Join(dir, "sub", "evil"), "x")
		},
		"empty folders": func(t *testing.T, dir string) {
			must(t, os.MkdirAll(filepath.Join(dir, "e", "f"), 0o755))
			must(t, os.MkdirAll(filepath.Join(dir, "pages", "g"), 0o755))
		},
		"rights of a file":   func(t *testing.T, dir string) { must(t, os.Chmod(filepath.Join(dir, "a.spec.ts"), 0o400)) },
		"rights of a folder": func(t *testing.T, dir string) { must(t, os.Chmod(filepath.Join(dir, "pages"), 0o500)) },
		"rights of the copy": func(t *testing.T, dir string) { must(t, os.Chmod(dir, 0o1777)) },
		"another name of a file": func(t *testing.T, dir string) {
			must(t, os.Link(filepath.Join(dir, "a.spec.ts"), filepath.Join(filepath.Dir(dir), "kept")))
		},
		"unreadable": func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "closed", "evil"), "x")
			must(t, os.Chmod(filepath.Join(dir, "closed"), 0))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, m := context.Background(), &git.Mirrors{Root: t.TempDir()}
			url := repository(t, map[string]string{"a.spec.ts": "expect(1)\n", "pages/home.ts": "home\n", "pages/old.ts": "old\n", ".gitignore": "out/\n"})
			repo := strings.TrimPrefix(url, "file://")
			sh(t, repo, "update-index", "--add", "--cacheinfo", "160000,"+sh(t, repo, "rev-parse", "HEAD")+",sub")
			sh(t, repo, "commit", "-q", "-m", "a submodule")
			must(t, os.Mkdir(filepath.Join(repo, "sub"), 0o755))
			src := checkout.Source{Key: "p", URL: url, Branch: "main"}
			dirs := t.TempDir()
			first, second, fresh := filepath.Join(dirs, "1"), filepath.Join(dirs, "2"), filepath.Join(dirs, "fresh")
			if _, err := m.Make(ctx, src, first); err != nil {
				t.Fatal(err)
			}
			harm(t, first)
			must(t, m.Discard(ctx, src, first))
			if _, err := os.Lstat(first); !os.IsNotExist(err) {
				t.Fatalf("the discarded copy is there: %v", err)
			}
			if spares, err := os.ReadDir(filepath.Join(m.Root, "p.spare")); name != "unreadable" && (err != nil || len(spares) != 1) {
				t.Errorf("no spare was kept, so this shows nothing: %v, %v", spares, err)
			}
			sh(t, repo, "rm", "-q", "pages/old.ts")
			write(t, filepath.Join(repo, "b.spec.ts"), "expect(2)\n")
			sh(t, repo, "add", "-A")
			sh(t, repo, "commit", "-q", "-m", "y")
			copied, err := m.Make(ctx, src, second)
			if err != nil || copied.Commit != sh(t, repo, "rev-parse", "main") {
				t.Fatalf("%+v, %v", copied, err)
			}
			sh(t, "/", "clone", "-q", repo, fresh)
			if got, want := files(t, second), files(t, fresh); !slices.Equal(got, want) {
				t.Errorf("the copy has\n%q\nwant\n%q", got, want)
			}
			if said := sh(t, second, "status", "--porcelain", "--ignored"); said != "" || sh(t, second, "rev-parse", "HEAD") != copied.Commit {
				t.Errorf("git in the copy: %s", said)
			}
		})
	}
}

// TestSpareAfterACrash makes whole copies whatever a killed process left of spares.
func TestSpareAfterACrash(t *testing.T) {
	t.Parallel()
	ctx, m := context.Background(), &git.Mirrors{Root: t.TempDir()}
	src := checkout.Source{Key: "p", URL: repository(t, map[string]string{"a.ts": "a\n"}), Branch: "main"}
	spares, n := filepath.Join(m.Root, "p.spare"), 0
	only := func() string {
		t.Helper()
		all, err := os.ReadDir(spares)
		if err != nil || len(all) != 1 {
			t.Fatalf("%v, %v", all, err)
		}
		return filepath.Join(spares, all[0].Name())
	}
	turn := func(what string, left func()) {
		t.Helper()
		n++
		dir := filepath.Join(t.TempDir(), "copy")
		if _, err := m.Make(ctx, src, dir); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if got := files(t, dir); len(got) != 2 || !strings.HasSuffix(got[1], " a\n") {
			t.Errorf("%s: %q", what, got)
		}
		must(t, m.Discard(ctx, src, dir))
		left()
	}
	turn("at first", func() { must(t, os.RemoveAll(filepath.Join(m.Root, "p.git", "worktrees"))) })
	turn("forgotten by the mirror", func() { must(t, os.Rename(only(), only()+"-moved")) })
	turn("moved", func() {
		locks, err := filepath.Glob(filepath.Join(m.Root, "p.git", "worktrees", "*"))
		must(t, err)
		for _, l := range locks {
			write(t, filepath.Join(l, "index.lock"), "")
		}
	})
	turn("locked", func() { write(t, filepath.Join(only(), "a.ts"), "b\n") })
	turn("touched", func() { must(t, os.RemoveAll(filepath.Join(m.Root, "p.git"))) })
	turn("without the mirror", func() {})
}

// TestSparesAtOnce gives each of several a copy of its own, and keeps few.
func TestSparesAtOnce(t *testing.T) {
	t.Parallel()
	ctx, m := context.Background(), &git.Mirrors{Root: t.TempDir()}
	src := checkout.Source{Key: "p", URL: repository(t, map[string]string{"a.ts": "a\n"}), Branch: "main"}
	for range 3 {
		var wait sync.WaitGroup
		for range 7 {
			wait.Go(func() {
				dir := filepath.Join(t.TempDir(), "copy")
				if _, err := m.Make(ctx, src, dir); err != nil {
					t.Error(err)
					return
				}
				if text, err := os.ReadFile(filepath.Join(dir, "a.ts")); string(text) != "a\n" {
					t.Errorf("%q, %v", text, err)
				}
				write(t, filepath.Join(dir, "a.ts"), time.Now().String())
				if err := m.Discard(ctx, src, dir); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if spares, err := os.ReadDir(filepath.Join(m.Root, "p.spare")); err != nil || len(spares) == 0 || len(spares) > 4 {
			t.Errorf("%d spares, %v", len(spares), err)
		}
	}
}

// TestSpareOfOtherAttributes writes all files anew where the attributes that say how they
// are written changed.
func TestSpareOfOtherAttributes(t *testing.T) {
	t.Parallel()
	ctx, m := context.Background(), &git.Mirrors{Root: t.TempDir()}
	url := repository(t, map[string]string{"data/a.txt": "one\n", "b.ts": "b\n"})
	repo := strings.TrimPrefix(url, "file://")
	src := checkout.Source{Key: "p", URL: url, Branch: "main"}
	first, second := filepath.Join(t.TempDir(), "1"), filepath.Join(t.TempDir(), "2")
	if _, err := m.Make(ctx, src, first); err != nil {
		t.Fatal(err)
	}
	must(t, m.Discard(ctx, src, first))
	write(t, filepath.Join(repo, "data", ".gitattributes"), "*.txt text eol=crlf\n")
	sh(t, repo, "add", "-A")
	sh(t, repo, "commit", "-q", "-m", "y")
	if _, err := m.Make(ctx, src, second); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(second, "data", "a.txt")); string(text) != "one\r\n" {
		t.Errorf("%q, %v", text, err)
	}
}
