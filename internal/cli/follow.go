package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tas-service/client"
)

// pollWait is how long the service may hold back a status until something changes.
const pollWait = 30 * time.Second

// runnerTooOld is the warning of a run that stays without a verdict for ever: its tests
// repository has a runner that cannot merge shards.
const runnerTooOld = "runner-too-old"

// view shows how a run goes on. It is called from one goroutine.
type view interface {
	show(client.Status)
	say(line string) // clean text for a person, in between
	end()
}

// follow polls a run until it is terminal and answers its last known status, with an Exit
// where it is not. A service that restarts or cannot be reached for a while is tried again
// until ctx ends; a refusal ends it at once.
func follow(ctx context.Context, c *client.Client, runID string, v view) (client.Status, error) {
	last := client.Status{RunID: runID, Verdict: "pending"}
	wait := time.Duration(0) // the first answer at once, to have something to show
	lost := newBackoff()
	for {
		st, err := c.Status(ctx, runID, wait)
		switch {
		case err == nil:
			if lost.tries > 0 {
				v.say("The service answers again.")
				lost = newBackoff()
			}
			last, wait = st, pollWait
			v.show(st)
			if st.IsTerminal {
				return st, nil
			}
			if w := warned(st, runnerTooOld); w != nil {
				return st, tooOld(w)
			}
		case ctx.Err() != nil:
			return last, stopped(ctx, runID)
		case !mayPass(err):
			return last, err
		default:
			if lost.tries == 0 {
				v.say("The service does not answer; trying again. " + firstSentence(explain(err).Message))
			}
			if !lost.sleep(ctx, err) {
				if e := stopped(ctx, runID); e.Code == exitInterrupted {
					return last, e
				}
				return last, &Exit{Code: exitUnreachable, Message: explain(err).Message + "\nThe run " + clean(runID) + " may well go on: `tas status --wait " + clean(runID) + "` looks again."}
			}
		}
	}
}

// mayPass: once a run is known, any failure to get through counts as passing, also one of
// name resolution, which is how a restart looks between containers. Only the service's
// refusal is final.
func mayPass(err error) bool {
	if p, ok := errors.AsType[*client.Problem](err); ok {
		return p.Temporary()
	}
	return true
}

// stopped answers why polling ended before the run did.
func stopped(ctx context.Context, runID string) *Exit {
	again := "The run goes on: `tas status --wait " + clean(runID) + "` looks again."
	if errors.Is(context.Cause(ctx), errInterrupted) {
		return &Exit{Code: exitInterrupted, Message: "Stopped waiting for run " + clean(runID) + ". " + again}
	}
	return &Exit{Code: exitNoVerdict, Message: fmt.Sprintf("Run %s has no verdict within the time given by --timeout. %s", clean(runID), again)}
}

func tooOld(w *client.Warning) *Exit {
	return &Exit{Code: exitNoVerdict, Message: "This run never gets a verdict (" + runnerTooOld + "): " + clean(w.Message)}
}

func warned(st client.Status, code string) *client.Warning {
	for i, w := range st.Warnings {
		if w.Code == code {
			return &st.Warnings[i]
		}
	}
	return nil
}
