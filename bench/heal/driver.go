package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// order is what the browser is asked to do: see driver.mjs.
type order struct {
	ID      int            `json:"id"`
	Base    string         `json:"base"`
	Setup   []request      `json:"setup,omitempty"`
	Steps   []step         `json:"steps"`
	Change  *change        `json:"change,omitempty"`
	Replace map[int]string `json:"replace,omitempty"` // locators, by step
	// Sabotage breaks what a step's own locator finds, just before it.
	Sabotage *sabotage        `json:"sabotage,omitempty"`
	Oracle   bool             `json:"oracle,omitempty"` // locators know the truth
	Styles   map[int][]string `json:"styles,omitempty"` // other locators of which to say whether they find the same
	Trace    string           `json:"trace,omitempty"`
	// Patience is how long steps from the change on may take, in milliseconds; 0 for long:
	// where they are expected to pass.
	Patience int `json:"patience,omitempty"`
}

// sabotage is one way to break the application under a step: "remove" (the element is gone),
// "dead" (what is done to it has no effect), "request" (what is asked for is answered by an
// error) or "words" (it says something else).
type sabotage struct {
	Step int    `json:"step"`
	Kind string `json:"kind"`
}

// change is a mutation: from which step on, and what.
type change struct {
	Step int      `json:"step"`
	Ops  []string `json:"ops"`
	Seed int      `json:"seed"`
	Page bool     `json:"page"` // of the whole page, so anew before each step
}

// result is what the browser answers.
type result struct {
	ID      int              `json:"id"`
	Failed  int              `json:"failed"` // step, -1 for none
	Error   string           `json:"error"`
	Applied bool             `json:"applied"`
	Right   map[int]string   `json:"right"`  // of replaced steps: "right", "wrong", "none", "many"
	Styles  map[int][]string `json:"styles"` // those that do
	// Sabotaged says that there was something to break.
	Sabotaged bool   `json:"sabotaged"`
	Broken    string `json:"broken"` // the driver's own failure
}

// driver is the process with the browser. It may be asked by many at once.
type driver struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	write sync.Mutex

	mu      sync.Mutex
	next    int
	waiting map[int]chan result
	ended   error
}

// install brings the driver and its packages into a folder, by their lockfile.
func install(ctx context.Context, dir string) error {
	changed := false
	err := fs.WalkDir(driverFiles, "driver", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(dir, strings.TrimPrefix(name, "driver"))
		if d.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		text, err := driverFiles.ReadFile(name)
		if err != nil {
			return err
		}
		if old, err := os.ReadFile(to); strings.HasPrefix(filepath.Base(name), "package") && (err != nil || string(old) != string(text)) {
			changed = true
		}
		return os.WriteFile(to, text, 0o644)
	})
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules/playwright-core")); err == nil && !changed {
		return nil
	}
	fmt.Println("installing what the benchmark drives, by its lockfile, into", dir)
	c := exec.CommandContext(ctx, "npm", "ci", "--no-audit", "--no-fund", "--silent", "--ignore-scripts")
	c.Dir, c.Stderr = dir, os.Stderr
	c.Env = append(os.Environ(), "PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1")
	return c.Run()
}

func startDriver(dir, browser string) (*driver, error) {
	d := &driver{waiting: map[int]chan result{}}
	d.cmd = exec.Command("node", "driver.mjs")
	d.cmd.Dir, d.cmd.Stderr = dir, os.Stderr
	d.cmd.Env = append(os.Environ(), "BENCH_BROWSER="+browser)
	in, err := d.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	d.in = in
	if err := d.cmd.Start(); err != nil {
		return nil, err
	}
	go d.listen(out)
	return d, nil
}

func (d *driver) listen(out io.Reader) {
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		var r result
		if err == nil {
			err = json.Unmarshal(line, &r)
		}
		d.mu.Lock()
		if err != nil {
			d.ended = fmt.Errorf("the browser's driver ended: %w", err)
			for _, c := range d.waiting {
				close(c)
			}
			d.waiting = map[int]chan result{}
			d.mu.Unlock()
			return
		}
		c := d.waiting[r.ID]
		delete(d.waiting, r.ID)
		d.mu.Unlock()
		if c != nil {
			c <- r
		}
	}
}

// do carries an order out.
func (d *driver) do(o order) (result, error) {
	c := make(chan result, 1)
	d.mu.Lock()
	if d.ended != nil {
		d.mu.Unlock()
		return result{}, d.ended
	}
	d.next++
	o.ID = d.next
	d.waiting[o.ID] = c
	d.mu.Unlock()
	text, err := json.Marshal(o)
	if err != nil {
		return result{}, err
	}
	d.write.Lock()
	_, err = d.in.Write(append(text, '\n'))
	d.write.Unlock()
	if err != nil {
		return result{}, err
	}
	r, ok := <-c
	if !ok {
		return result{}, errors.New("the browser's driver ended before it answered")
	}
	if r.Broken != "" {
		return r, errors.New(r.Broken)
	}
	return r, nil
}

func (d *driver) close() {
	_ = d.in.Close() // then it ends by itself
	_ = d.cmd.Wait() // it has answered all that mattered
}
