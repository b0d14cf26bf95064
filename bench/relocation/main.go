package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"
)

func main() {
	k := flag.Int("k", 10, "")
	l1 := flag.Float64("l1", 1, "")
	l2 := flag.Float64("l2", 1, "")
	l3 := flag.Float64("l3", 1, "")
	show := flag.Bool("show", false, "")
	flag.Parse()
	sites, err := readAll("/work/shared/data/relocation")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	t0 := time.Now()
	t := newTrainer(sites)
	t.l1, t.l2, t.l3 = *l1, *l2, *l3
	all := make([]int, len(sites))
	for i := range all {
		all[i] = i
	}
	var whole, removed []answer
	var mu sync.Mutex
	var wg sync.WaitGroup
	room := make(chan bool, 2)
	for _, part := range folds(all, *k) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			room <- true
			m := t.train(minus(all, part))
			w, r := t.ask(m, part)
			mu.Lock()
			whole, removed = append(whole, w...), append(removed, r...)
			mu.Unlock()
			<-room
		}()
	}
	wg.Wait()
	f := judge(sites, whole, removed)
	fmt.Printf("%+v %v\n", f, time.Since(t0))
	// pair only
	if *show {
		cmp := func(a, b answer) int {
			if a.score > b.score {
				return -1
			}
			return 1
		}
		slices.SortFunc(whole, cmp)
		slices.SortFunc(removed, cmp)
		txt := func(r raw) string {
			c := r["class"]
			return fmt.Sprintf("%s %q .%.30s #%s name=%s href=%.40s %s", r["tag"], r["text"], c, r["id"], r["name"], r["href"], r["xpath"][max(0, len(r["xpath"])-60):])
		}
		fmt.Println("--- wrong")
		for _, a := range whole {
			s := sites[a.site]
			if !s.same(a.best, s.gold[a.target]) {
				fmt.Printf("%s %.2f tol=%v\n  T %s\n  G %s\n  B %s\n", s.App, a.score, s.tolerated(a.best, s.gold[a.target]), txt(s.Targets[a.target]), txt(s.Candidates[s.gold[a.target]]), txt(s.Candidates[a.best]))
			}
		}
		fmt.Println("--- removed, top")
		for _, a := range removed[:25] {
			s := sites[a.site]
			fmt.Printf("%s %.2f\n  T %s\n  G %s\n  B %s\n", s.App, a.score, txt(s.Targets[a.target]), txt(s.Candidates[s.gold[a.target]]), txt(s.Candidates[a.best]))
		}
		fmt.Println("--- right, not healed")
		for _, a := range whole {
			s := sites[a.site]
			if s.tolerated(a.best, s.gold[a.target]) && a.score <= f.threshold {
				fmt.Printf("%s %.2f\n  T %s\n  G %s\n", s.App, a.score, txt(s.Targets[a.target]), txt(s.Candidates[s.gold[a.target]]))
			}
		}
	}
}
