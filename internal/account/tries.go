package account

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"net/netip"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"tas-service/internal/fault"
)

// How often somebody may try to sign in: a few times at once, then slowly. An address may
// be shared by an office, so it has more.
const (
	triesOfEmail   = 10
	emailEvery     = 30 * time.Second
	triesOfAddress = 50
	addressEvery   = 3 * time.Second
)

// maxTried bounds the memory of the limits.
const maxTried = 10_000

// Limited is the cause of a fault.RateLimited, and says how long to wait.
type Limited struct{ After time.Duration }

// Error answers how long to wait.
func (l *Limited) Error() string { return "try again in " + l.After.String() }

// Tries bounds how often passwords are tried, for each e-mail and each network address.
// Each service counts for itself. Safe for concurrent use; nil lets all through.
type Tries struct {
	now func() time.Time
	mu  sync.Mutex
	of  map[string]*rate.Limiter
}

// NewTries starts counting.
func NewTries(now func() time.Time) *Tries { return &Tries{now: now, of: map[string]*rate.Limiter{}} }

// take answers nil when somebody may try now, and fault.RateLimited otherwise.
func (t *Tries) take(email, address string) error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.of) >= maxTried {
		t.forget()
	}
	now := t.now()
	// The address first: who has used it up must not use up somebody else's e-mail too.
	for _, l := range []struct {
		key   string
		every time.Duration
		burst int
	}{{"from " + network(address), addressEvery, triesOfAddress}, {"as " + HashKey(email), emailEvery, triesOfEmail}} {
		b := t.of[l.key]
		if b == nil {
			b = rate.NewLimiter(rate.Every(l.every), l.burst)
			t.of[l.key] = b
		}
		if r := b.ReserveN(now, 1); r.DelayFrom(now) > 0 {
			wait := r.DelayFrom(now)
			r.CancelAt(now)
			return fault.Wrap(&Limited{After: wait}, fault.RateLimited, "There were too many tries to sign in.").WithFix("Try again in %s.", inWords(wait))
		}
	}
	return nil
}

// network is what one caller has of addresses: of IPv6 never less than a /64.
func network(address string) string {
	at, err := netip.ParseAddr(address)
	if err != nil || at.Unmap().Is4() {
		return address
	}
	p, err := at.WithZone("").Prefix(64)
	if err != nil {
		return address
	}
	return p.String()
}

// forget drops the half that has used up least: who makes up new e-mails to be forgotten
// for is forgotten for those.
func (t *Tries) forget() {
	now := t.now()
	left := func(key string) float64 { return t.of[key].TokensAt(now) / float64(t.of[key].Burst()) }
	keys := slices.SortedFunc(maps.Keys(t.of), func(a, b string) int { return cmp.Compare(left(b), left(a)) })
	for _, key := range keys[:len(keys)/2] {
		delete(t.of, key)
	}
}

func inWords(d time.Duration) string {
	if n := int(math.Ceil(d.Seconds())); n != 1 {
		return fmt.Sprintf("%d seconds", n)
	}
	return "a second"
}
