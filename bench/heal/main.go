// Command heal measures how well failing tests are healed, and how well real defects are left
// alone, by mutation: it changes three running applications under scripted flows, in ways after
// which a control is still there (it must be healed) and in ways after which it is not, or the
// application is broken (it must be reported). The browser, the applications and the evidence
// are real; which element is meant is known to the one who changes the page and to nobody else.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"tas-service/internal/evidence"
	"tas-service/internal/relocate"
)

type options struct {
	n, pairs, seed, parallel int
	apps, ops, flow          string
	cache, browser, kinds    string
	show                     bool
}

func main() {
	_, here, _, _ := runtime.Caller(0)
	var o options
	flag.IntVar(&o.n, "n", 1000, "mutants of each kind to judge")
	flag.IntVar(&o.pairs, "pairs", -1, "paired mutants to judge; a third of -n where it is not given")
	flag.IntVar(&o.seed, "seed", 1, "of all that is chosen")
	flag.IntVar(&o.parallel, "parallel", 3*runtime.NumCPU(), "mutants at once")
	flag.StringVar(&o.apps, "app", "shop,swagger,wiki", "applications, by comma")
	flag.StringVar(&o.ops, "op", "", "operators, by comma; all where it is empty")
	flag.StringVar(&o.flow, "flow", "", "only flows whose name has this")
	flag.StringVar(&o.kinds, "kind", "single,paired,not", "kinds of mutants, by comma")
	flag.StringVar(&o.cache, "cache", filepath.Join(filepath.Dir(here), "../../.tas/bench-heal"), "folder for the packages")
	flag.StringVar(&o.browser, "browser", "/usr/lib/chromium/chromium-headless-shell", "Chromium's executable")
	flag.BoolVar(&o.show, "show", false, "tell each mutant that did not go as it should")
	flag.Parse()
	if o.pairs < 0 {
		o.pairs = (o.n + 2) / 3
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "heal:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	begin := time.Now()
	if err := install(ctx, o.cache); err != nil {
		return fmt.Errorf("installing what the benchmark drives: %w", err)
	}
	temp, err := os.MkdirTemp("", "bench-heal-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp) //nolint:errcheck // the system clears it otherwise
	model, err := relocate.Shipped()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var apps []*app
	for _, name := range strings.Split(o.apps, ",") {
		a, err := openApp(ctx, name, o.cache)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		a.flows = slices.DeleteFunc(a.flows, func(f *flow) bool { return !strings.Contains(f.name, o.flow) })
		apps = append(apps, a)
	}
	d, err := startDriver(o.cache, o.browser)
	if err != nil {
		return err
	}
	defer d.close()
	b := &bench{driver: d, model: model, temp: temp, known: map[*flow][]evidence.Test{}, styles: map[*flow]map[int][]string{}, seen: map[noticing]bool{}}
	flows, steps := 0, 0
	var failures []error
	var learning sync.WaitGroup
	places := make(chan struct{}, max(1, o.parallel/2))
	for _, a := range apps {
		for _, f := range a.flows {
			flows, steps = flows+1, steps+len(f.steps)
			learning.Go(func() {
				places <- struct{}{}
				defer func() { <-places }()
				if err := b.learn(ctx, a, f); err != nil {
					b.mu.Lock()
					defer b.mu.Unlock()
					failures = append(failures, err)
				}
			})
		}
	}
	learning.Wait()
	if len(failures) > 0 {
		return errors.Join(failures...)
	}
	fmt.Printf("%d applications, %d flows, %d steps; learned in %.0f s\n", len(apps), flows, steps, time.Since(begin).Seconds())
	var all []verdict
	for _, k := range strings.Split(o.kinds, ",") {
		from, n := healing, o.n
		if k == "not" {
			from = breaking
		}
		if k == "paired" {
			n = o.pairs
		}
		ops := slices.DeleteFunc(slices.Clone(from), func(x operator) bool { return o.ops != "" && !slices.Contains(strings.Split(o.ops, ","), x.name) })
		if len(ops) == 0 {
			continue
		}
		judged, err := b.judge(ctx, b.mutants(apps, ops, k != "not", k == "paired", o.seed), n, o)
		all = append(all, judged...)
		if err != nil && len(all) == 0 {
			return err
		}
		if err != nil {
			fmt.Printf("\ncut short, so this is less than was asked for: %v\n", err)
			break
		}
	}
	report(all, time.Since(begin))
	return nil
}

// judge runs mutants until n count, always the same ones whoever is quicker.
func (b *bench) judge(ctx context.Context, next func() (mutant, bool), n int, o options) ([]verdict, error) {
	var mu sync.Mutex
	var out []verdict
	begin := time.Now()
	var failed error
	issued, errs, done, ended := 0, 0, map[int]verdict{}, false
	enough := func() bool { // all before the last one that counts are there
		counted := 0
		for i := 0; ; i++ {
			v, ok := done[i]
			if !ok {
				return ended && i >= issued
			}
			if v.class == "judged" {
				counted++
			}
			if counted == n {
				return true
			}
		}
	}
	var workers sync.WaitGroup
	for range o.parallel {
		workers.Go(func() {
			for {
				mu.Lock()
				if failed != nil || ctx.Err() != nil || ended || enough() {
					mu.Unlock()
					return
				}
				m, ok := next()
				if !ok {
					ended = true
					mu.Unlock()
					return
				}
				at := issued
				issued++
				mu.Unlock()
				v, err := b.run(ctx, m)
				if err != nil { // one more try: the machine may have been busy
					v, err = b.run(ctx, m)
				}
				mu.Lock()
				if err != nil {
					v = verdict{mutant: m, class: "failed", why: err.Error()}
					if errs++; errs > 10+issued/10 {
						failed = fmt.Errorf("too much goes wrong in the benchmark itself: %s: %w", &m, err)
					}
				}
				done[at] = v
				if len(done)%100 == 0 {
					fmt.Printf("%d mutants were run in %.0f s\n", len(done), time.Since(begin).Seconds())
				}
				if o.show && (err != nil || v.class == "judged" && (m.must && !v.healed || v.wrong || !m.must && v.before)) {
					fmt.Printf("%s: %s, before proof %v, after %v, wrong %v: %s\n", &m, v.outcome, v.before, v.after, v.wrong, v.why)
				}
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	counted := 0
	for i := range issued {
		v, ok := done[i]
		if !ok || counted == n {
			break
		}
		if v.class == "judged" {
			counted++
		}
		out = append(out, v)
	}
	if failed == nil {
		failed = ctx.Err()
	}
	return out, failed
}
