package cli

import (
	"fmt"
	"strings"
	"time"

	"tas-service/client"
)

// counts names what there is of each outcome.
func counts(st client.Status) string {
	parts := []string{fmt.Sprintf("%d passed", st.Passed)}
	for _, p := range []struct {
		n    int
		name string
	}{{st.Failed, "failed"}, {st.Flaky, "flaky"}, {st.Skipped, "skipped"}, {st.Recovered, "recovered"}, {st.Bug, "bug"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.name))
		}
	}
	return strings.Join(parts, ", ")
}

// firstSentence answers a message up to its first line break.
func firstSentence(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// duration answers milliseconds as people read them.
func duration(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.0fs", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm %02ds", int(d.Minutes()), int(d.Seconds())%60)
	default:
		return fmt.Sprintf("%dh %02dm", int(d.Hours()), int(d.Minutes())%60)
	}
}

// plain is progress for a log: a line for each change of phase and each lost shard, and one
// now and then between. It writes no control characters.
type plain struct {
	out   func(format string, args ...any)
	now   func() time.Time
	phase string
	at    time.Time
	done  int
	news  news
}

// lineEvery is how often progress without a change of phase is worth a line.
const lineEvery = 10 * time.Second

func newPlain(printf func(format string, args ...any)) *plain {
	return &plain{out: printf, now: time.Now, done: -1, news: news{}}
}

func (p *plain) show(st client.Status) {
	for _, line := range p.news.of(st) {
		p.say(line)
	}
	now := p.now()
	if st.Phase == p.phase && (now.Sub(p.at) < lineEvery || st.ExecutedCount == p.done) {
		return
	}
	p.phase, p.at, p.done = st.Phase, now, st.ExecutedCount
	line := clean(st.Phase)
	if st.TotalCount > 0 {
		line = fmt.Sprintf("%-10s %d/%d  %s", line, st.ExecutedCount, st.TotalCount, counts(st))
	}
	if len(st.Shards) > 0 && st.Phase == "running" {
		var parts []string
		for _, s := range st.Shards {
			part := fmt.Sprintf("%d %s %d/%d", s.Index+1, clean(s.Phase), s.ExecutedCount, s.TotalCount)
			if s.Lost {
				part += " lost"
			}
			parts = append(parts, part)
		}
		line += "  shards: " + strings.Join(parts, ", ")
	}
	p.say(line)
}

func (p *plain) say(line string) { p.out("%s\n", line) }
func (p *plain) end()            {}

// news are things that were told.
type news map[string]bool

// of answers what a person should hear of at once, and only once: warnings and lost shards.
func (n news) of(st client.Status) []string {
	var lines []string
	add := func(key, line string) {
		if !n[key] {
			n[key] = true
			lines = append(lines, line)
		}
	}
	for _, w := range st.Warnings {
		if w.Code != runnerTooOld || st.IsTerminal { // that one ends the command with its words
			add("warning "+w.Code+w.Message, "warning ("+clean(w.Code)+"): "+clean(w.Message))
		}
	}
	for _, s := range st.Shards {
		if s.Lost {
			add(fmt.Sprintf("lost %d", s.Index), fmt.Sprintf("shard %d is lost: its worker died, other shards take its tests", s.Index+1))
		}
	}
	return lines
}
