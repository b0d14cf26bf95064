package catalog

import (
	"context"
	"strings"
	"time"

	"tas-service/internal/account"
	"tas-service/internal/fault"
)

// Quarantine keeps a test's failures from failing runs, for a while: the test still runs
// and still reports. Somebody owns it, and it ends by itself.
type Quarantine struct {
	ProjectID string
	TestID    string
	Owner     string // who sees to the test
	Reason    string
	SetBy     string // as account.Actor names itself; Quarantine sees to it
	CreatedAt time.Time
	ExpiresAt time.Time
}

// Bounds of quarantine.
const (
	MaxQuarantine  = 90 * 24 * time.Hour
	maxOwner       = 200
	maxReason      = 1000
	quarantineFrom = 5  // tests that any project may have in quarantine
	quarantineOf   = 20 // beyond that, one of so many
)

// QuarantineCap answers how many of a project's tests may be in quarantine at once: five,
// or one of twenty where that is more. A suite whose failures mostly do not count is none.
func QuarantineCap(tests int) int { return max(quarantineFrom, tests/quarantineOf) }

// Quarantines keeps them.
type Quarantines interface {
	// Quarantines answers those of a project that are in force at a time, by their end.
	Quarantines(ctx context.Context, projectID string, at time.Time) ([]Quarantine, error)
	// SetQuarantine lets allow see how many other tests are in quarantine and how many tests
	// there are, and saves q when it answers nil.
	SetQuarantine(ctx context.Context, q Quarantine, allow func(others, tests int) error) error
	DropQuarantine(ctx context.Context, projectID, testID string) (had bool, err error)
}

// Quarantine puts a test into quarantine, or changes it: fault.Conflict when the project
// has as many as it may.
func (s *Service) Quarantine(ctx context.Context, actor account.Actor, q Quarantine) (Quarantine, error) {
	if err := actor.MayAs(account.RoleMember, q.ProjectID, "test"); err != nil {
		return q, err
	}
	now := s.Clock()
	q.SetBy = actor.By()
	q.Owner, q.Reason, q.CreatedAt, q.TestID = strings.TrimSpace(q.Owner), strings.TrimSpace(q.Reason), now, strings.ToLower(q.TestID)
	bad := fault.New(fault.Invalid, "The test cannot be quarantined so.").WithFix("Correct the fields named in errors.")
	if q.Owner == "" || len(q.Owner) > maxOwner {
		bad.At("body.owner", "who sees to it, at most %d bytes", maxOwner)
	}
	if q.Reason == "" || len(q.Reason) > maxReason {
		bad.At("body.reason", "why, at most %d bytes", maxReason)
	}
	if !q.ExpiresAt.After(now) || q.ExpiresAt.After(now.Add(MaxQuarantine)) {
		bad.At("body.expiresAt", "a time within the next %d days", int(MaxQuarantine.Hours()/24))
	}
	if len(bad.Details) > 0 {
		return q, bad
	}
	if err := s.known(ctx, q.ProjectID, q.TestID); err != nil {
		return q, err
	}
	return q, s.Held.SetQuarantine(ctx, q, func(others, tests int) error {
		if most := QuarantineCap(tests); others >= most {
			return fault.New(fault.Conflict, "The project has %d tests in quarantine, and with %d tests in all that is the most.", others, tests).
				WithFix("Repair or release another one first.")
		}
		return nil
	})
}

// Release ends a test's quarantine: fault.NotFound when it has none.
func (s *Service) Release(ctx context.Context, actor account.Actor, testID string) error {
	if err := actor.MayAs(account.RoleMember, actor.ProjectID, "test"); err != nil {
		return err
	}
	had, err := s.Held.DropQuarantine(ctx, actor.ProjectID, strings.ToLower(testID))
	if err == nil && !had {
		return fault.New(fault.NotFound, "This test is not in quarantine.").WithFix("GET /quarantine lists those that are.")
	}
	return err
}

// Quarantined answers the quarantines of a project that are in force, those that end first
// first.
func (s *Service) Quarantined(ctx context.Context, projectID string) ([]Quarantine, error) {
	return s.Held.Quarantines(ctx, projectID, s.Clock())
}

func (s *Service) known(ctx context.Context, projectID, testID string) error {
	unknown, err := s.Sets.UnknownTests(ctx, projectID, []string{testID})
	if err == nil && len(unknown) > 0 {
		return fault.New(fault.NotFound, "There is no such test in this project.").WithFix("GET /tests lists them.")
	}
	return err
}
