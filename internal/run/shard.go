package run

import (
	"context"
	"time"
)

// ShardPhase is where a shard is.
type ShardPhase string

// The phases of a shard. It takes tests from the run's common queue while it is running,
// so a shard that starts late may finish without any.
const (
	ShardQueued    ShardPhase = "queued"
	ShardPreparing ShardPhase = "preparing"
	ShardRunning   ShardPhase = "running"
	ShardFinished  ShardPhase = "finished"
)

// Shard is one of the workers that share a run's tests.
type Shard struct {
	Index      int
	Phase      ShardPhase
	Total      int           // tests that it was given so far
	Executed   int           // of these, how many have their result
	Predicted  time.Duration // for these
	StartedAt  *time.Time
	FinishedAt *time.Time
	Lost       bool // its workers died, the second too; others took its tests
}

// Shards answers the shards of a run, none for one in one piece.
func (s *Service) Shards(ctx context.Context, r Run) ([]Shard, error) {
	if !r.Sharded() {
		return nil, nil
	}
	return s.Store.Shards(ctx, r)
}
