package store

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"tas-service/internal/event"
)

// channel is PostgreSQL's, on which services tell each other what has changed.
const channel = "tas"

// Bounds of telling: what waits, and how soon a lost connection is tried again.
const (
	maxTopics  = 4096
	reconnect  = time.Second
	tellWithin = 5 * time.Second
)

// Relay carries what is published in hub to the other services on the database, and what
// they publish into hub, until ctx is done. It is a courtesy: who watches also looks by a
// clock, so a message that is lost costs a second and no result. SQLite has one service.
func (db *DB) Relay(ctx context.Context, hub *event.Hub, log *slog.Logger) {
	if db.listen == nil {
		return
	}
	topics := make(chan string, maxTopics)
	hub.Relay(func(topic string) {
		select {
		case topics <- topic:
		default: // far behind: the clock helps
		}
	})
	defer hub.Relay(nil)
	go db.tell(ctx, topics, log)
	for ctx.Err() == nil {
		err := db.hear(ctx, hub)
		if ctx.Err() != nil {
			return
		}
		log.Warn("changes of other services are not heard for now", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(reconnect):
		}
	}
}

func (db *DB) hear(ctx context.Context, hub *event.Hub) error {
	conn, err := pgx.ConnectConfig(ctx, db.listen)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is under way
	if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
		return err
	}
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		hub.Wake(n.Payload)
	}
}

// tell sends topics, each once of those that came while the last ones were on their way.
func (db *DB) tell(ctx context.Context, topics <-chan string, log *slog.Logger) {
	for {
		batch := map[string]bool{}
		select {
		case <-ctx.Done():
			return
		case topic := <-topics:
			batch[topic] = true
		}
		for more := true; more; {
			select {
			case topic := <-topics:
				batch[topic] = true
			default:
				more = false
			}
		}
		short, cancel := context.WithTimeout(ctx, tellWithin)
		for topic := range batch {
			if _, err := db.write.ExecContext(short, `SELECT pg_notify($1, $2)`, channel, topic); err != nil {
				if ctx.Err() == nil {
					log.Warn("other services are not told of changes for now", "error", err)
				}
				break
			}
		}
		cancel()
	}
}
