package worker

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// guard watches what test code takes of the machine and ends it when it takes too much.
type guard struct {
	mu     sync.Mutex
	err    error
	cancel context.CancelFunc
	ended  chan struct{}
}

// Intervals and bounds of watching.
const (
	countEvery = 500 * time.Millisecond
	sizeEvery  = 2 * time.Second
	leaveFree  = 256 << 20 // bytes that must stay free on the worker's disk
)

// startGuard watches until stop; kill ends what is watched.
func (w *worker) startGuard(ctx context.Context, kill context.CancelFunc, processes int) *guard {
	inner, cancel := context.WithCancel(ctx)
	g := &guard{cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(g.ended)
		var lastSize time.Time
		tick := time.NewTicker(countEvery)
		defer tick.Stop()
		for {
			select {
			case <-inner.Done():
				return
			case <-tick.C:
			}
			err := tooMany(processes)
			if err == nil && time.Since(lastSize) >= sizeEvery {
				err = w.tooLarge()
				lastSize = time.Now()
			}
			if err != nil {
				g.mu.Lock()
				g.err = err
				g.mu.Unlock()
				kill()
				return
			}
		}
	}()
	return g
}

func (g *guard) stop() {
	g.cancel()
	<-g.ended
}

// tripped answers why the guard ended the program, or nil.
func (g *guard) tripped() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

func tooMany(most int) error {
	if n := len(descendants(os.Getpid())); n > most {
		return failure("too-many-processes", "The tests ran %d processes at once, more than the %d that a run may have.", n, most).
			WithFix("Look for a test or a web server that starts processes without end.")
	}
	return nil
}

func (w *worker) tooLarge() error {
	var st unix.Statfs_t
	if err := unix.Statfs(w.dir, &st); err == nil && int64(st.Bavail)*int64(st.Bsize) < leaveFree { //nolint:unconvert // differs by system
		return failure("disk-full", "The worker's disk is full.").WithFix("Free space on the worker's machine.")
	}
	size := sizeOf(w.dir, w.job.DiskQuota)
	for _, kept := range []string{"cache", "npm"} {
		size += sizeOf(filepath.Join(w.Work, kept, w.job.ProjectID), w.job.DiskQuota)
	}
	if size > w.job.DiskQuota {
		return failure("disk-quota", "The tests wrote more than the %s that a run may write.", bytesText(w.job.DiskQuota)).
			WithFix("Write less (traces, videos, downloads), or raise the project's disk quota.")
	}
	return nil
}

// sizeOf answers how many bytes a folder takes on the disk; past most it stops counting.
func sizeOf(dir string, most int64) int64 {
	size := int64(0)
	filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error { //nolint:errcheck // it answers none
		if err != nil {
			return nil //nolint:nilerr // files come and go while we look
		}
		if info, err := d.Info(); err == nil && d.Type().IsRegular() {
			// Blocks, not length: a file with holes takes what it takes.
			if st, ok := info.Sys().(*syscall.Stat_t); ok {
				size += int64(st.Blocks) * 512
			}
		}
		if size > most {
			return fs.SkipAll
		}
		return nil
	})
	return size
}

func bytesText(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	default:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
}

// descendants answers the processes that a process started, directly or not; none where
// the system has no /proc.
func descendants(of int) []int {
	dirs, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	children := map[int][]int{}
	for _, d := range dirs {
		pid, err := strconv.Atoi(d.Name())
		if err != nil {
			continue
		}
		text, err := os.ReadFile("/proc/" + d.Name() + "/stat")
		if err != nil {
			continue
		}
		// The name in brackets is the program's own choice and may itself hold brackets.
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if len(fields) < 2 || fields[0] == "Z" {
			continue
		}
		parent, err := strconv.Atoi(fields[1])
		if err == nil {
			children[parent] = append(children[parent], pid)
		}
	}
	var out []int
	for queue := []int{of}; len(queue) > 0; queue = queue[1:] {
		out = append(out, children[queue[0]]...)
		queue = append(queue, children[queue[0]]...)
	}
	return out
}

// killDescendants ends what test code left behind where no process namespace did.
func killDescendants() {
	for range 3 {
		left := descendants(os.Getpid())
		if len(left) == 0 {
			return
		}
		for _, pid := range left {
			syscall.Kill(pid, syscall.SIGKILL) //nolint:errcheck // it may just have ended
		}
		time.Sleep(50 * time.Millisecond)
	}
}
