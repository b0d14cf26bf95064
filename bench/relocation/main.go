// Command relocation measures how well elements are found again in later versions of pages, on
// labelled pairs, and how often an element that was removed is "found" all the same. With -cross
// each site is answered by a model that was trained on the others: the figures to believe where
// the shipped weights were trained on these very sites. With -train it writes the weights.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"tas-service/bench/bounds"
	"tas-service/internal/relocate"
)

func main() {
	_, here, _, _ := runtime.Caller(0)
	data := flag.String("data", filepath.Join(filepath.Dir(here), "../../../shared/data/relocation"), "folder of *.jsonl files, a site a line")
	cross := flag.Bool("cross", false, "ask about each site a model trained on the other ones")
	train := flag.String("train", "", "train on all sites and write the weights to this file")
	show := flag.Bool("show", false, "show what was answered wrongly")
	flag.Parse()
	if err := run(*data, *train, *cross, *show); err != nil {
		fmt.Fprintln(os.Stderr, "relocation:", err)
		os.Exit(1)
	}
}

func run(data, train string, cross, show bool) error {
	if _, err := os.Stat(data); os.IsNotExist(err) {
		fmt.Printf("skipped: the folder %s is not there; name the labelled pairs with -data\n", data)
		return nil
	}
	sites, err := readAll(data)
	if err != nil {
		return err
	}
	if train != "" {
		return write(newTrainer(sites), train)
	}
	var whole, removed []answer
	if cross {
		whole, removed = newTrainer(sites).cross(runtime.GOMAXPROCS(0))
	} else {
		m, err := relocate.Shipped()
		if err != nil {
			return err
		}
		whole, removed = every(sites, func(s *site) ([]answer, []answer) { return ask(s, m) })
	}
	baseWhole, baseRemoved := every(sites, askSimilo)
	ours := judge(sites, whole, removed)
	how := "shipped weights"
	if cross {
		how = "each site left out"
	}
	fmt.Printf("%d pairs of %d sites, %s\n\n", ours.pairs, len(sites), how)
	table(judge(sites, baseWhole, baseRemoved), ours)
	limits(sites, whole, removed)
	if show {
		reveal(sites, whole, removed, ours.threshold)
	}
	p50, p99 := percentiles(whole)
	if big, err := largePage(); err == nil {
		fmt.Printf("one target on a page of 5,000 elements, both pages known: %.1f ms (median of 15; preparing a page: %.1f ms, once)\n", big.find, big.prepare)
	}
	text, err := json.Marshal(result{
		Pairs: ours.pairs, Top1: round(ours.share(ours.top1)), Tolerant: round(ours.share(ours.tolerant)),
		Healed: round(ours.share(ours.healed)), Wrong: round(ours.share(ours.wrong)), P50: round(p50), P99: round(p99),
	})
	if err != nil {
		return err
	}
	fmt.Println(string(text))
	return nil
}

// result is the last line.
type result struct {
	Pairs    int     `json:"pairs"`
	Top1     float64 `json:"top1"`
	Tolerant float64 `json:"top1Tolerant"`
	Healed   float64 `json:"healedAt1pctRemoved"`
	Wrong    float64 `json:"wrongAt1pct"`
	P50      float64 `json:"p50Ms"` // milliseconds for one target, both pages prepared for it
	P99      float64 `json:"p99Ms"`
}

func write(t *trainer, name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	pairs := 0
	for _, s := range t.sites {
		pairs += len(s.old)
	}
	if err := t.train(t.all()).Write(f, fmt.Sprintf("Written by bench/relocation -train, from %d labelled pairs of %d sites.", pairs, len(t.sites))); err != nil {
		_ = f.Close() // the first error says more
		return err
	}
	return f.Close()
}

// every asks about all sites.
func every(sites []*site, ask func(*site) ([]answer, []answer)) (whole, removed []answer) {
	for n, s := range sites {
		w, r := ask(s)
		for i := range w {
			w[i].site, r[i].site = n, n
		}
		whole, removed = append(whole, w...), append(removed, r...)
	}
	return whole, removed
}

func table(similo, ours figures) {
	fmt.Printf("%-46s %-24s %s\n", "", "Similo", "ours (95 % bounds)")
	for _, r := range []struct {
		name string
		of   func(figures) int
	}{
		{"right one first", func(f figures) int { return f.top1 }},
		{"right one first, or what contains it or is in it", func(f figures) int { return f.tolerant }},
		{"healed rightly, 1 % of removed ones healed", func(f figures) int { return f.healed }},
		{"healed wrongly then", func(f figures) int { return f.wrong }},
	} {
		a, b := bounds.Wilson(r.of(similo), similo.pairs)
		c, d := bounds.Wilson(r.of(ours), ours.pairs)
		fmt.Printf("%-50s %5.1f %% (%4.1f–%5.1f)    %5.1f %% (%4.1f–%5.1f)\n", r.name, 100*similo.share(r.of(similo)), 100*a, 100*b, 100*ours.share(r.of(ours)), 100*c, 100*d)
	}
	fmt.Println()
}

// limits tells what the product's own limits would do.
func limits(sites []*site, whole, removed []answer) {
	var right, wrong, gone, vetoed int
	for _, a := range whole {
		if a.vetoed && sites[a.site].tolerated(a.best, sites[a.site].gold[a.target]) {
			vetoed++
		}
		switch {
		case !a.heals:
		case sites[a.site].tolerated(a.best, sites[a.site].gold[a.target]):
			right++
		default:
			wrong++
		}
	}
	for _, a := range removed {
		if a.heals {
			gone++
		}
	}
	fmt.Printf("at the product's own limits: %d of %d healed rightly, %d wrongly; %d of %d removed ones healed; right ones vetoed: %d\n", right, len(whole), wrong, gone, len(removed), vetoed)
	fmt.Println("calibration (said: was right, of so many; whole and removed cases alike):")
	for _, bin := range [][2]float64{{0, 0.1}, {0.1, 0.3}, {0.3, 0.5}, {0.5, 0.7}, {0.7, 0.9}, {0.9, 0.97}, {0.97, 1.01}} {
		n, ok := 0, 0
		for i, part := range [][]answer{whole, removed} {
			for _, a := range part {
				if a.best < 0 || a.p < bin[0] || a.p >= bin[1] {
					continue
				}
				n++
				if i == 0 && sites[a.site].tolerated(a.best, sites[a.site].gold[a.target]) {
					ok++
				}
			}
		}
		if n > 0 {
			fmt.Printf("  %.2f–%.2f: %.2f of %d\n", bin[0], min(1, bin[1]), float64(ok)/float64(n), n)
		}
	}
}

func reveal(sites []*site, whole, removed []answer, threshold float64) {
	told := func(r raw) string {
		return fmt.Sprintf("%s %q class=%.40q id=%s href=%.40s %s", r["tag"], r["text"], r["class"], r["id"], r["href"], r["xpath"][max(0, len(r["xpath"])-60):])
	}
	for _, a := range whole {
		s := sites[a.site]
		if !s.same(a.best, s.gold[a.target]) || a.vetoed {
			fmt.Printf("%s: p %.3f vetoed %v tolerated %v\n  was   %s\n  is    %s\n  taken %s\n", s.App, a.p, a.vetoed, s.tolerated(a.best, s.gold[a.target]), told(s.Targets[a.target]), told(s.candidate(s.gold[a.target])), told(s.candidate(a.best)))
		}
	}
	for _, a := range removed {
		if s := sites[a.site]; a.best >= 0 && a.score >= threshold {
			fmt.Printf("%s, removed: p %.3f\n  was   %s\n  taken %s\n", s.App, a.p, told(s.Targets[a.target]), told(s.Candidates[a.best]))
		}
	}
}

// candidate answers a candidate's properties, none for none.
func (s *site) candidate(i int) raw {
	if i < 0 {
		return nil
	}
	return s.Candidates[i]
}

func percentiles(all []answer) (p50, p99 float64) {
	took := make([]time.Duration, len(all))
	for i, a := range all {
		took[i] = a.took
	}
	slices.Sort(took)
	at := func(p float64) float64 {
		if len(took) == 0 {
			return 0
		}
		return float64(took[min(len(took)-1, int(p*float64(len(took))))].Microseconds()) / 1000
	}
	return at(0.5), at(0.99)
}

func round(x float64) float64 { return math.Round(x*10000) / 10000 }
