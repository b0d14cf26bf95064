package route

import (
	"fmt"
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"tas-service/internal/fault"
)

// Limits bound how often each project calls, by a token bucket: a short burst is let
// through. Each service counts for itself. Safe for concurrent use; nil lets all through.
type Limits struct {
	perSecond int
	mu        sync.Mutex
	of        map[string]*rate.Limiter
}

// burstOf is how many seconds' worth of calls may come at once.
const burstOf = 4

// maxLimited bounds the memory of the limits; dropping them forgives a burst.
const maxLimited = 10_000

// NewLimits lets each project make so many calls a second.
func NewLimits(perSecond int) *Limits {
	return &Limits{perSecond: perSecond, of: map[string]*rate.Limiter{}}
}

// take answers nil when a project may call now, and fault.RateLimited with how long to wait
// otherwise.
func (l *Limits) take(projectID string) (wait time.Duration, err error) {
	if l == nil {
		return 0, nil
	}
	l.mu.Lock()
	b := l.of[projectID]
	if b == nil {
		if len(l.of) >= maxLimited {
			clear(l.of)
		}
		b = rate.NewLimiter(rate.Limit(l.perSecond), burstOf*l.perSecond)
		l.of[projectID] = b
	}
	l.mu.Unlock()
	r := b.Reserve()
	if wait = r.Delay(); wait == 0 {
		return 0, nil
	}
	r.Cancel()
	return wait, fault.New(fault.RateLimited, "The project calls more than %d times a second.", l.perSecond).
		WithFix("Try again in %s. To wait for a run, hold its status back with wait=30s instead of asking again and again.", seconds(wait))
}

// seconds answers a time in whole seconds, as Retry-After takes it.
func seconds(d time.Duration) string {
	n := int(math.Ceil(d.Seconds()))
	if n == 1 {
		return "1 second"
	}
	return fmt.Sprintf("%d seconds", n)
}
