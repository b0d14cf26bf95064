package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"tas-service/demo/stage"
)

const tests = 200

// course is the suite, and the place where its workers meet before the first test.
type course struct {
	root   string
	shards int
	url    string
	stages int

	durations struct{ before, now []time.Duration } // by test; before is what was recorded
	stale     []time.Duration                       // what stale history says

	mu      sync.Mutex
	wait    int // workers that the first test waits for
	slow    bool
	arrived int
	open    chan struct{}
	at      time.Time
}

func newCourse(root string, shards int, seconds float64) (*course, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c := &course{root: root, shards: shards, url: "http://" + l.Addr().String(), open: make(chan struct{})}
	go http.Serve(l, http.HandlerFunc(c.ready)) //nolint:errcheck,gosec // ends with the program
	// Durations of real suites are skewed: log-normal, of which the longest test is some
	// tenth of a shard's share. The same every time.
	random := rand.New(rand.NewPCG(7, 11)) //nolint:gosec // no secret
	draw := func() []time.Duration {
		raw, sum := make([]float64, tests), 0.0
		for i := range raw {
			raw[i] = math.Exp(random.NormFloat64())
			sum += raw[i]
		}
		out := make([]time.Duration, tests)
		for i := range raw {
			out[i] = time.Duration(raw[i] / sum * float64(shards) * seconds * float64(time.Second)).Round(time.Millisecond)
		}
		return out
	}
	c.durations.now = draw()
	// A third of the tests changed since: each took what another one takes now.
	c.stale = append([]time.Duration(nil), c.durations.now...)
	other := draw()
	for i := range c.stale {
		if random.IntN(3) == 0 {
			c.stale[i] = other[i]
		}
	}
	return c, nil
}

func (c *course) close() {}

// bound is the shortest that any schedule can take.
func (c *course) bound() time.Duration {
	var sum, longest time.Duration
	for _, d := range c.durations.now {
		sum, longest = sum+d, max(longest, d)
	}
	return max(longest, sum/time.Duration(c.shards))
}

// begin makes ready for a contestant: its workers will wait for each other.
func (c *course) begin(s scenario) {
	c.durations.before = c.durations.now
	if s.stale {
		c.durations.before = c.stale
	}
	c.meet(c.shards, s.slow)
}

func (c *course) meet(workers int, slow bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wait, c.slow, c.arrived, c.open, c.at = workers, slow, 0, make(chan struct{}), time.Time{}
}

// ready holds a worker until all are there, and answers its pace.
func (c *course) ready(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	c.arrived++
	pace := 1
	if c.slow && c.arrived == 2 {
		pace = 2
	}
	if c.arrived == c.wait {
		c.at = time.Now()
		close(c.open)
	}
	open := c.open
	c.mu.Unlock()
	select {
	case <-open:
	case <-time.After(2 * time.Minute):
	case <-r.Context().Done():
	}
	fmt.Fprintf(w, `{"pace": %d}`, pace)
}

// released answers when all workers were there.
func (c *course) released() time.Time {
	<-c.gate()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *course) gate() chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open
}

func title(i int) string { return fmt.Sprintf("test %03d", i) }

// files is the suite, whose tests wait as long as the list says.
func (c *course) files(durations []time.Duration) map[string]string {
	ms := make([]string, len(durations))
	for i, d := range durations {
		ms[i] = fmt.Sprint(d.Milliseconds())
	}
	return map[string]string{
		"playwright.config.ts": `import { defineConfig } from '@playwright/test';
export default defineConfig({ testDir: './tests', fullyParallel: true, workers: 1, reporter: 'list' });
`,
		"durations.json": "[" + strings.Join(ms, ", ") + "]\n",
		"tests/wait.spec.ts": `import { test as base } from '@playwright/test';
import * as fs from 'fs';
import * as path from 'path';
const durations: number[] = JSON.parse(fs.readFileSync(path.join(__dirname, '..', 'durations.json'), 'utf8'));
const test = base.extend<{}, { pace: number }>({
  pace: [async ({}, use) => { await use((await (await fetch(process.env.COURSE_URL!)).json()).pace); }, { scope: 'worker', timeout: 0 }],
});
test.describe.configure({ timeout: 0 });
durations.forEach((ms, i) => test('test ' + String(i).padStart(3, '0'), async ({ pace }) => {
  await new Promise(resolve => setTimeout(resolve, ms * pace));
}));
`,
	}
}

// stage makes a repository with these durations, in a folder of its own.
func (c *course) stage(durations []time.Duration) (stage.Stage, error) {
	c.stages++
	name := fmt.Sprintf("bench-shards-%d", c.stages)
	if err := os.RemoveAll(filepath.Join(c.root, ".tas", name)); err != nil {
		return stage.Stage{}, err
	}
	st := stage.At(c.root, name)
	return st, stage.RepositoryOf(c.root, st.Repo(), c.files(durations))
}
