// Command shards measures how evenly a suite is spread over shards: Playwright's own
// --shard (by count), a static split by recorded durations (longest first), and a sharded
// run of the service, with the same suite, the same number of shards and one Playwright
// worker in each.
//
// The figure is the makespan over its lower bound (the larger of all tests' time divided
// by the shards, and the longest test): from the moment at which every shard has a worker
// ready to the last test's end. Tests wait instead of computing, since the machine has few
// cores; so what is compared is the scheduling, not the machine.
//
// A split that lost a shard at half time begins that shard anew at once, as a quick
// pipeline would. The order of the contestants changes from round to round.
package main

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

func main() {
	shards := flag.Int("shards", 6, "shards")
	rounds := flag.Int("rounds", 1, "rounds of each scenario; the median counts")
	seconds := flag.Float64("seconds", 25, "lower bound of the makespan")
	only := flag.String("only", "", "scenarios, by their letters: ac")
	flag.Parse()
	if err := run(*shards, *rounds, *seconds, *only); err != nil {
		fmt.Fprintln(os.Stderr, "shards:", err)
		os.Exit(1)
	}
}

// scenario is what goes wrong while the contestants run.
type scenario struct {
	letter, name string
	stale        bool // what was recorded are other durations than what is to come
	slow         bool // one worker waits twice as long
	kill         bool // one worker is killed at half time
	goal         float64
}

var scenarios = []scenario{
	{letter: "a", name: "exact history", goal: 1.05},
	{letter: "b", name: "stale history", stale: true, goal: 1.15},
	{letter: "c", name: "one worker slowed to half", slow: true, goal: 1.15},
	{letter: "d", name: "one worker killed at half time", kill: true, goal: 1.35},
}

// contestant runs the suite in shards once and answers when its last test ended, and how
// many tests passed.
type contestant struct {
	name string
	run  func(c *course, s scenario) (lastEnd time.Time, passed int, err error)
}

var contestants = []contestant{{"playwright --shard", byCount}, {"static, longest first", byDuration}, {"tas", byService}}

func run(shards, rounds int, seconds float64, only string) error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	c, err := newCourse(root, shards, seconds)
	if err != nil {
		return err
	}
	defer c.close()
	fmt.Printf("%d tests, %d shards with one worker each; makespan over its lower bound (%.1f s)\n\n%-34s", len(c.durations.now), shards, c.bound().Seconds(), "")
	for _, who := range contestants {
		fmt.Printf("%24s", who.name)
	}
	fmt.Println()
	result := map[string]any{"benchmark": "shards", "tests": len(c.durations.now), "shards": shards, "rounds": rounds, "boundSeconds": c.bound().Seconds()}
	for _, s := range scenarios {
		if only != "" && !strings.Contains(only, s.letter) {
			continue
		}
		ratios := map[string][]float64{}
		for round := range rounds {
			for i := range contestants {
				who := contestants[(i+round)%len(contestants)]
				c.begin(s)
				last, passed, err := who.run(c, s)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", s.name, who.name, err)
				}
				if passed != len(c.durations.now) {
					return fmt.Errorf("%s, %s: %d of %d tests passed", s.name, who.name, passed, len(c.durations.now))
				}
				ratios[who.name] = append(ratios[who.name], float64(last.Sub(c.released()))/float64(c.bound()))
			}
		}
		fmt.Printf("(%s) %-30s", s.letter, s.name)
		for _, who := range contestants {
			fmt.Printf("%24.3f", median(ratios[who.name]))
			result[s.letter+" "+who.name] = ratios[who.name]
		}
		fmt.Printf("   goal %.2f\n", s.goal)
	}
	text, err := json.Marshal(result)
	if err != nil {
		return err
	}
	fmt.Println("RESULT " + string(text))
	return nil
}

func median(v []float64) float64 {
	sorted := slices.SortedFunc(slices.Values(v), cmp.Compare[float64])
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}
