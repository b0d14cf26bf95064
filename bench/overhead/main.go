// Command overhead measures what a run through the service costs over bare
// `npx playwright test` of the same suite on the same commit with the same number of
// workers: the wall time from POST to terminal, and the time to the first test's begin.
// Runs are paired and alternate, so that the machine's noise meets both sides alike.
//
// With -suite demo (the default) it is the demo's suite; with -suite long a generated one
// of about five minutes. Beside it, with -defaults, what a user sees who sets nothing:
// bare Playwright's own number of workers against the service's.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"time"

	"tas-service/client"
	"tas-service/demo/shop"
	"tas-service/demo/stage"
)

func main() {
	suite := flag.String("suite", "demo", "demo or long")
	pairs := flag.Int("pairs", 3, "pairs that are counted, after one that is not")
	workers := flag.Int("workers", 2, "Playwright workers on both sides")
	warm := flag.Bool("warm", true, "run one pair first that is not counted")
	defaults := flag.Bool("defaults", true, "also compare both sides' own numbers of workers")
	flag.Parse()
	if err := run(*suite, *pairs, *workers, *warm, *defaults); err != nil {
		fmt.Fprintln(os.Stderr, "overhead:", err)
		os.Exit(1)
	}
}

// sample is one run on one side, in seconds.
type sample struct{ wall, first float64 }

// bench is the two sides.
type bench struct {
	stage   stage.Stage
	bare    *bare
	client  *client.Client
	shopURL string
}

func run(suite string, pairs, workers int, warm, defaults bool) error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	handler, err := shop.New(shop.Config{})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go http.Serve(l, handler) //nolint:errcheck,gosec // ends with the program
	b := &bench{stage: stage.At(root, "bench-"+suite), shopURL: "http://" + l.Addr().String()}
	if suite == "long" {
		err = stage.RepositoryOf(root, b.stage.Repo(), longSuite())
	} else {
		err = stage.Repository(root, b.stage.Repo())
	}
	if err != nil {
		return err
	}
	if b.bare, err = newBare(root, b.stage, b.shopURL); err != nil {
		return err
	}
	addr, err := stage.FreeAddress()
	if err != nil {
		return err
	}
	p, err := b.stage.Project("Bench", map[string]string{"SHOP_URL": b.shopURL}, "--workers", fmt.Sprint(workers))
	if err != nil {
		return err
	}
	service, err := b.stage.Start(context.Background(), addr)
	if err != nil {
		return err
	}
	defer service.Stop()
	b.client = &client.Client{BaseURL: "http://" + addr, APIKey: p.Key}

	same, err := b.pairs(fmt.Sprintf("both with %d workers", workers), pairs, workers, warm)
	if err != nil {
		return err
	}
	result := map[string]any{"benchmark": "overhead", "suite": suite, "workers": workers, "pairs": pairs,
		"wallRatio": median(same, func(p pair) float64 { return p.tas.wall / p.bare.wall }), "wallRatios": each(same, func(p pair) float64 { return p.tas.wall / p.bare.wall }),
		"firstTestRatio": median(same, func(p pair) float64 { return p.tas.first / p.bare.first }), "firstTestRatios": each(same, func(p pair) float64 { return p.tas.first / p.bare.first }),
		"bareSeconds": median(same, func(p pair) float64 { return p.bare.wall }), "tasSeconds": median(same, func(p pair) float64 { return p.tas.wall }),
		"bareFirstSeconds": median(same, func(p pair) float64 { return p.bare.first }), "tasFirstSeconds": median(same, func(p pair) float64 { return p.tas.first })}
	if defaults {
		if _, err := b.stage.Project("Bench", map[string]string{"SHOP_URL": b.shopURL}, "--workers", "0"); err != nil {
			return err
		}
		own, err := b.pairs("each with its own number of workers", pairs, 0, warm)
		if err != nil {
			return err
		}
		result["defaultsWallRatio"] = median(own, func(p pair) float64 { return p.tas.wall / p.bare.wall })
		result["defaultsWallRatios"] = each(own, func(p pair) float64 { return p.tas.wall / p.bare.wall })
	}
	text, err := json.Marshal(result)
	if err != nil {
		return err
	}
	fmt.Println("RESULT " + string(text))
	return nil
}

// pair is one run on each side.
type pair struct{ bare, tas sample }

// pairs runs both sides in turn; a first pair warms both up and is not counted.
func (b *bench) pairs(what string, n, workers int, warm bool) ([]pair, error) {
	fmt.Printf("\n%s\n  %-6s %10s %10s %8s   %10s %10s %8s\n", what, "pair", "bare s", "tas s", "ratio", "bare 1st", "tas 1st", "ratio")
	var out []pair
	first := 1
	if warm {
		first = 0
	}
	for i := first; i <= n; i++ {
		var p pair
		var err error
		if i%2 == 0 {
			p.bare, err = b.bare.run(workers)
		}
		if err == nil {
			p.tas, err = b.tas()
		}
		if err == nil && i%2 == 1 {
			p.bare, err = b.bare.run(workers)
		}
		if err != nil {
			return nil, err
		}
		name := fmt.Sprint(i)
		if i == 0 {
			name = "warm"
		} else {
			out = append(out, p)
		}
		fmt.Printf("  %-6s %10.2f %10.2f %8.3f   %10.2f %10.2f %8.3f\n", name, p.bare.wall, p.tas.wall, p.tas.wall/p.bare.wall, p.bare.first, p.tas.first, p.tas.first/p.bare.first)
	}
	return out, nil
}

// tas is one run through the service, as a caller sees it.
func (b *bench) tas() (sample, error) {
	ctx := context.Background()
	began := time.Now()
	started, err := b.client.RunSuite(ctx, client.StartOptions{})
	if err != nil {
		return sample{}, err
	}
	for {
		st, err := b.client.Status(ctx, started.RunID, 30*time.Second)
		if err != nil {
			return sample{}, err
		}
		if !st.IsTerminal {
			continue
		}
		wall := time.Since(began).Seconds()
		if st.Verdict != "pass" {
			return sample{}, fmt.Errorf("the run did not pass: %+v", st)
		}
		rs, err := b.client.Results(ctx, started.RunID)
		if err != nil {
			return sample{}, err
		}
		first := time.Now()
		for _, r := range rs {
			for _, a := range r.Attempts {
				if a.StartedAt.Before(first) {
					first = a.StartedAt
				}
			}
		}
		return sample{wall: wall, first: first.Sub(began).Seconds()}, nil
	}
}

func each(ps []pair, f func(pair) float64) []float64 {
	var out []float64
	for _, p := range ps {
		out = append(out, round(f(p)))
	}
	return out
}

func median(ps []pair, f func(pair) float64) float64 {
	v := each(ps, f)
	slices.Sort(v)
	if len(v)%2 == 1 {
		return v[len(v)/2]
	}
	return round((v[len(v)/2-1] + v[len(v)/2]) / 2)
}

func round(x float64) float64 { return float64(int(x*1000+0.5)) / 1000 }
