package test

import (
	"bufio"
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tas-service/test/harness"
)

const module = "tas-service/internal/"

// entry is one line of the map in ARCHITECTURE.md.
type entry struct {
	kind    string
	imports []string
}

func readMap(t *testing.T) map[string]entry {
	t.Helper()
	f, err := os.Open(filepath.Join(harness.Root(), "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := map[string]entry{}
	inside := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		switch line := lines.Text(); {
		case line == "```map":
			inside = true
		case line == "```":
			inside = false
		case inside:
			left, right, ok := strings.Cut(line, "->")
			head := strings.Fields(left)
			if !ok || len(head) != 2 {
				t.Fatalf("a line of the map cannot be read: %q", line)
			}
			out[head[1]] = entry{kind: head[0], imports: strings.Fields(right)}
		}
	}
	return out
}

// packageInfo is what go list tells of a package.
type packageInfo struct {
	ImportPath string
	Imports    []string
}

func internalPackages(t *testing.T) []packageInfo {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./internal/...")
	cmd.Dir = harness.Root()
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []packageInfo
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p packageInfo
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// forbidden is what an idea may not touch: the network, SQL, processes.
var forbidden = []string{"net", "net/http", "database/sql", "os/exec", "syscall"}

// TestMap holds the imports to the map in ARCHITECTURE.md, and the map to the rule.
func TestMap(t *testing.T) {
	t.Parallel()
	plan := readMap(t)
	seen := map[string]bool{}
	for _, p := range internalPackages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		seen[name] = true
		e, ok := plan[name]
		if !ok {
			t.Errorf("%s is not on the map: say what it is and what it may import", name)
			continue
		}
		var ours []string
		for _, i := range p.Imports {
			if short, ok := strings.CutPrefix(i, module); ok {
				ours = append(ours, short)
				if !slices.Contains(e.imports, short) {
					t.Errorf("%s imports %s, which the map does not allow", name, short)
				}
				holdRule(t, plan, name, short)
			}
			if e.kind == "idea" && slices.Contains(forbidden, i) && !allowedTouch[name+" "+i] {
				t.Errorf("%s is an idea and imports %s", name, i)
			}
		}
		for _, i := range e.imports {
			if !slices.Contains(ours, i) {
				t.Errorf("the map lets %s import %s, which it does not: strike it", name, i)
			}
		}
	}
	for name := range maps.Keys(plan) {
		if !seen[name] {
			t.Errorf("the map lists %s, which does not exist: strike it", name)
		}
	}
}

// allowedTouch are the exceptions, each with its reason.
var allowedTouch = map[string]bool{
	"sandbox os/exec": true, // a Box answers a prepared command; it starts none
}

// holdRule holds one import to the three sentences.
func holdRule(t *testing.T, plan map[string]entry, from, to string) {
	t.Helper()
	importer, imported := plan[from].kind, plan[to].kind
	switch {
	case imported == "tool" || to == "fault":
	case importer == "caller":
		t.Errorf("%s calls the service through client/ as anybody does, and imports %s", from, to)
	case importer == "wiring":
	case importer == "tests" && plan[filepath.Dir(from)].kind == "store" && (to == filepath.Dir(from) || slices.Contains(plan[filepath.Dir(from)].imports, to)):
		// The store's tests know what the store knows.
	case imported == "machinery" || imported == "store" || imported == "wiring":
		t.Errorf("%s (%s) imports %s (%s): only wiring may", from, importer, to, imported)
	case imported == "tests":
		t.Errorf("%s imports %s, which is for tests", from, to)
	case (importer == "machinery" || importer == "tests") && to != filepath.Dir(from):
		t.Errorf("%s belongs to %s and imports %s", from, filepath.Dir(from), to)
	case importer == "surface" && imported == "surface" && to != "server/route" && to != filepath.Dir(from):
		t.Errorf("the surfaces %s and %s know each other", from, to)
	case importer != "surface" && imported == "surface":
		t.Errorf("%s imports the surface %s", from, to)
	}
}

// maxLines is the budget of a hand-written Go file.
const maxLines = 500

// TestBudgets holds every Go file to its budget and every package to a comment.
func TestBudgets(t *testing.T) {
	t.Parallel()
	root := harness.Root()
	documented := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && path != root) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		if n := strings.Count(string(text), "\n"); n > maxLines {
			t.Errorf("%s has %d lines, more than %d", rel, n, maxLines)
		}
		if strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			return err
		}
		dir := filepath.Dir(rel)
		documented[dir] = documented[dir] || file.Doc != nil
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir, ok := range documented {
		if !ok {
			t.Errorf("the package in %s has no comment", dir)
		}
	}
}
