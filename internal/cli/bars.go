package cli

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"tas-service/client"
)

// bars is progress for a person at a terminal: one line for the run and one for each of
// its shards.
type bars struct {
	c        *console
	progress *mpb.Progress
	run      *mpb.Bar
	shards   []*mpb.Bar
	now      atomic.Pointer[client.Status] // drawn by mpb's goroutine
	news     news
}

// barWidth is that of a bar between its words.
const barWidth = 30

func newBars(c *console, out *os.File) *bars {
	b := &bars{c: c, news: news{}, progress: mpb.New(mpb.WithOutput(out), mpb.WithWidth(barWidth), mpb.WithRefreshRate(120*time.Millisecond))}
	b.now.Store(&client.Status{Phase: "starting"})
	b.run = b.add(-1)
	return b
}

// add makes the line of a shard, by its place among the shards, or of the run (-1).
func (b *bars) add(place int) *mpb.Bar {
	left := func(decor.Statistics) string {
		st := b.now.Load()
		if place < 0 {
			return fmt.Sprintf("%-8s %-10s", "run", clean(st.Phase))
		}
		if place >= len(st.Shards) {
			return ""
		}
		s := st.Shards[place]
		return fmt.Sprintf("shard %-2d %-10s", s.Index+1, clean(s.Phase))
	}
	right := func(decor.Statistics) string {
		st := b.now.Load()
		if place < 0 {
			text := fmt.Sprintf("%d/%d  %s", st.ExecutedCount, st.TotalCount, counts(*st))
			if st.Failed+st.Bug > 0 {
				return b.c.paint(red, text)
			}
			return text
		}
		if place >= len(st.Shards) {
			return ""
		}
		s := st.Shards[place]
		text := fmt.Sprintf("%d/%d", s.ExecutedCount, s.TotalCount)
		if s.Lost {
			text += "  " + b.c.paint(red, "lost")
		}
		return text
	}
	style := mpb.BarStyle().Lbound("▕").Filler("█").Tip("█").Padding("░").Rbound("▏")
	return b.progress.New(0, style, mpb.BarPriority(place+1),
		mpb.PrependDecorators(decor.Any(left)), mpb.AppendDecorators(decor.Any(right)))
}

func (b *bars) show(st client.Status) {
	for _, line := range b.news.of(st) {
		b.say(b.c.paint(yellow, line))
	}
	b.now.Store(&st)
	for len(b.shards) < len(st.Shards) {
		b.shards = append(b.shards, b.add(len(b.shards)))
	}
	set(b.run, st.ExecutedCount, st.TotalCount)
	for i, s := range st.Shards {
		set(b.shards[i], s.ExecutedCount, s.TotalCount)
	}
}

// set moves a bar without completing it: more tests may come.
func set(bar *mpb.Bar, current, total int) {
	bar.SetTotal(int64(max(1, total)), false)
	bar.SetCurrent(int64(current))
}

// say writes a line above the bars.
func (b *bars) say(line string) {
	b.progress.Write([]byte(strings.TrimRight(line, "\n") + "\n")) //nolint:errcheck // a line of progress
}

// end leaves the last state on the screen.
func (b *bars) end() {
	for _, bar := range append(b.shards, b.run) {
		bar.Abort(false)
	}
	b.progress.Wait()
}
