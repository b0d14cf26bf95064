// Command bugs measures how well failures are grouped into bugs: on labelled failures that
// real Playwright gave, of every pair of failures whether the two are put together as their
// labels say. Precision is how many of the pairs that were put together belong together,
// recall how many of those that belong together were. A quarter of the labels, by their
// hash, was not looked at while the signatures were made: its figures are the honest ones.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"tas-service/internal/bug"
)

// labelled is one failure, and the bug that it is of.
type labelled struct {
	Bug     string `json:"bug"`
	Test    string `json:"test"`
	File    string `json:"file"`
	Message string `json:"message"`
	Stack   string `json:"stack"`
	Snippet string `json:"snippet"`
}

func main() {
	_, here, _, _ := runtime.Caller(0)
	path := flag.String("corpus", filepath.Join(filepath.Dir(here), "failures.json"), "labelled failures")
	show := flag.Bool("show", false, "show what was put together wrongly, and apart wrongly, of those that may be looked at")
	flag.Parse()
	if err := measure(*path, *show); err != nil {
		fmt.Fprintln(os.Stderr, "bugs:", err)
		os.Exit(1)
	}
}

// pairs counts pairs of failures.
type pairs struct{ together, belong, right int }

func (p pairs) precision() float64 { return ratio(p.right, p.together) }
func (p pairs) recall() float64    { return ratio(p.right, p.belong) }

func ratio(a, b int) float64 {
	if b == 0 {
		return 1
	}
	return float64(a) / float64(b)
}

func measure(path string, show bool) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var all []labelled
	if err := json.Unmarshal(text, &all); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	var seen, held []labelled
	labels := map[string]bool{}
	for _, f := range all {
		labels[f.Bug] = true
		if heldOut(f.Bug) {
			held = append(held, f)
		} else {
			seen = append(seen, f)
		}
	}
	fmt.Printf("%d failures of %d bugs\n%-28s %9s %9s %9s\n", len(all), len(labels), "", "failures", "precision", "recall")
	figures := map[string]any{"benchmark": "bugs", "failures": len(all), "bugs": len(labels)}
	for _, part := range []struct {
		name string
		of   []labelled
	}{{"looked at", seen}, {"held out", held}, {"all", all}} {
		p := count(part.of)
		fmt.Printf("%-28s %9d %9.3f %9.3f\n", part.name, len(part.of), p.precision(), p.recall())
		figures[part.name] = map[string]any{"failures": len(part.of), "precision": p.precision(), "recall": p.recall()}
	}
	if show {
		explain(seen)
	}
	line, err := json.Marshal(figures)
	fmt.Println("RESULT " + string(line))
	return err
}

// heldOut sets a quarter of the labels aside for good.
func heldOut(label string) bool {
	h := fnv.New32a()
	h.Write([]byte(label)) //nolint:errcheck // it never fails
	return h.Sum32()%4 == 3
}

func signature(f labelled) bug.Signature {
	return bug.SignatureOf(bug.Failure{Message: f.Message, Stack: f.Stack, Snippet: f.Snippet, File: f.File, Title: f.Test})
}

func count(fs []labelled) (p pairs) {
	keys := make([]string, len(fs))
	for i, f := range fs {
		keys[i] = signature(f).Key()
	}
	for i := range fs {
		for j := range i {
			together, belong := keys[i] == keys[j], fs[i].Bug == fs[j].Bug
			if together {
				p.together++
			}
			if belong {
				p.belong++
			}
			if together && belong {
				p.right++
			}
		}
	}
	return p
}

// explain prints groups with several labels, and labels in several groups.
func explain(fs []labelled) {
	byKey, byLabel := map[string]map[string]string{}, map[string]map[string]string{}
	put := func(m map[string]map[string]string, a, b, text string) {
		if m[a] == nil {
			m[a] = map[string]string{}
		}
		m[a][b] = text
	}
	for _, f := range fs {
		s := signature(f)
		put(byKey, s.Key(), f.Bug, s.String())
		put(byLabel, f.Bug, s.Key(), s.String())
	}
	print := func(title string, m map[string]map[string]string) {
		fmt.Println(title)
		for _, a := range sorted(m) {
			if len(m[a]) > 1 {
				fmt.Println("  " + a)
				for _, b := range sorted(m[a]) {
					fmt.Printf("    %-40s %s\n", b, m[a][b])
				}
			}
		}
	}
	print("Put together, and do not belong together:", byKey)
	print("Belong together, and were put apart:", byLabel)
}

func sorted[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
