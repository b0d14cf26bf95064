// Command checkout measures what a working copy costs: a fresh git clone, as a pipeline
// makes it, against the service's second checkout, which begins from a mirror and from the
// working copy of an earlier run; a commit was pushed in between. The repository is made
// up, from a seed: 6,000 files and 300 commits, served by git's own HTTP server on
// loopback, so that a real network only makes the clone dearer.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tas-service/internal/checkout"
	"tas-service/internal/checkout/git"
)

func main() {
	files := flag.Int("files", 6000, "files in the repository")
	commits := flag.Int("commits", 300, "commits, each of which changes 40 files")
	rounds := flag.Int("rounds", 7, "rounds, each with one of everything")
	flag.Parse()
	if err := bench(*files, *commits, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "bench-checkout:", err)
		os.Exit(1)
	}
}

func bench(files, commits, rounds int) error {
	dir, err := os.MkdirTemp("", "tas-bench-checkout-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	repo := filepath.Join(dir, "shop.git")
	fmt.Printf("making a repository of %d files and %d commits\n", files, commits)
	if err := makeUp(repo, files, commits+rounds); err != nil {
		return err
	}
	list, err := exec.Command("git", "--git-dir", repo, "rev-list", "--reverse", "main").Output()
	if err != nil {
		return err
	}
	history := strings.Fields(string(list))
	// push has the branch point at the commit of a round: 40 files differ from the one before.
	push := func(round int) error {
		return run("--git-dir", repo, "update-ref", "refs/heads/main", history[commits-1+round])
	}
	if err := push(0); err != nil {
		return err
	}
	path, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		return err
	}
	server := httptest.NewServer(&cgi.Handler{Path: filepath.Join(strings.TrimSpace(string(path)), "git-http-backend"),
		Env: []string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"}})
	defer server.Close()
	ctx, url := context.Background(), server.URL+"/shop.git"
	mirrors := &git.Mirrors{Root: filepath.Join(dir, "mirrors")}
	src := checkout.Source{Key: "p", URL: url, Branch: "main"}
	first := time.Now()
	if _, err := mirrors.Make(ctx, src, filepath.Join(dir, "first")); err != nil {
		return err
	}
	if err := mirrors.Discard(ctx, src, filepath.Join(dir, "first")); err != nil {
		return err
	}
	fmt.Printf("the first checkout, which makes the mirror: %.2f s\n\n", time.Since(first).Seconds())
	// The first discarded copy is the spare of the first round, each round's that of the next.
	ways := []struct {
		name string
		do   func(to string) error
		undo func(to string) error // not timed
	}{
		{"git clone", func(to string) error { return run("clone", "--quiet", url, to) }, os.RemoveAll},
		{"git clone --depth 1", func(to string) error { return run("clone", "--quiet", "--depth", "1", url, to) }, os.RemoveAll},
		{"second checkout", func(to string) error { _, err := mirrors.Make(ctx, src, to); return err }, func(to string) error { return mirrors.Discard(ctx, src, to) }},
	}
	took := make([][]float64, len(ways))
	for round := range rounds {
		if err := push(round + 1); err != nil {
			return err
		}
		for i, way := range ways {
			to := filepath.Join(dir, fmt.Sprintf("copy-%d-%d", round, i))
			began := time.Now()
			if err := way.do(to); err != nil {
				return fmt.Errorf("%s: %w", way.name, err)
			}
			took[i] = append(took[i], time.Since(began).Seconds())
			if err := way.undo(to); err != nil {
				return err
			}
		}
	}
	last := len(ways) - 1
	fmt.Printf("%-22s %8s %8s %8s   %s\n", "", "least", "median", "most", "median ratio to the second checkout, pairwise")
	result := map[string]float64{}
	for i, way := range ways {
		ratios := make([]float64, rounds)
		for r := range ratios {
			ratios[r] = took[i][r] / took[last][r]
		}
		slices.Sort(ratios)
		sorted := slices.Sorted(slices.Values(took[i]))
		fmt.Printf("%-22s %7.2fs %7.2fs %7.2fs   %.1f\n", way.name, sorted[0], sorted[rounds/2], sorted[rounds-1], ratios[rounds/2])
		result[way.name] = ratios[rounds/2]
	}
	line, err := json.Marshal(result)
	fmt.Printf("RESULT %s\n", line)
	return err
}

// makeUp writes a repository through git fast-import: source files of 2 to 12 KB, of which
// each commit rewrites some lines in 40.
func makeUp(repo string, files, commits int) error {
	if err := run("init", "--quiet", "--bare", "--initial-branch=main", repo); err != nil {
		return err
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("await page expect locator click fill basket order price name total async test describe const return import from toHaveText getByRole button heading user route fixture")
	line := func() string {
		var b strings.Builder
		for range 5 + rnd.IntN(8) {
			fmt.Fprintf(&b, "%s%d ", words[rnd.IntN(len(words))], rnd.IntN(5000))
		}
		return b.String()
	}
	texts := make([][]string, files)
	for i := range texts {
		for range 20 + rnd.IntN(100) {
			texts[i] = append(texts[i], line())
		}
	}
	cmd := exec.Command("git", "--git-dir", repo, "fast-import", "--quiet")
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	write := func(i int) {
		text := strings.Join(texts[i], "\n") + "\n"
		fmt.Fprintf(in, "M 100644 inline src/d%02d/e%02d/file%05d.ts\ndata %d\n%s\n", i%40, i/40%20, i, len(text), text) //nolint:errcheck // git says at the end what it did not get
	}
	for c := range commits {
		fmt.Fprintf(in, "commit refs/heads/main\ncommitter Bench <bench@example.com> %d +0000\ndata 6\nChange\n", 1_700_000_000+c*3600) //nolint:errcheck // as above
		if c == 0 {
			for i := range texts {
				write(i)
			}
			continue
		}
		for range 40 {
			i := rnd.IntN(files)
			for range 5 {
				texts[i][rnd.IntN(len(texts[i]))] = line()
			}
			write(i)
		}
	}
	if err := in.Close(); err != nil {
		return err
	}
	if err := cmd.Wait(); err != nil {
		return err
	}
	return run("--git-dir", repo, "repack", "-a", "-d", "--quiet")
}

func run(args ...string) error {
	out, err := exec.Command("git", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("git %s: %w: %s", args[0], err, out)
	}
	return nil
}
