package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"tas-service/client"
	"tas-service/demo/stage"
)

// healSuite changes the shop, runs the suite again with autoHeal, and shows what healing makes
// of what fails.
func healSuite(ctx context.Context, c *client.Client, s *stage.Service, shop *stand, drift []string) error {
	if err := shop.turn(drift); err != nil {
		return err
	}
	fmt.Printf("\n  The shop changes now: %s. The suite is run again with autoHeal.\n\n", strings.Join(drift, ", "))
	started, err := c.RunSuite(ctx, client.StartOptions{AutoHeal: &client.AutoHeal{}})
	if err != nil {
		return err
	}
	view := newView(os.Stdout)
	st, err := follow(ctx, c, started.RunID, view, s)
	view.end()
	if err != nil || st.Verdict == "pass" {
		return err
	}
	fmt.Printf("  %s. Healing:\n", counts(st))
	began, said := time.Now(), map[string]string{}
	for {
		if st.HealBatchID == nil {
			if st, err = c.Status(ctx, started.RunID, time.Second); err != nil {
				return err
			}
			if st.HealBatchID == nil && time.Since(began) > time.Minute {
				return fmt.Errorf("no healing was started; the run's warnings tell why: %v", st.Warnings)
			}
			time.Sleep(200 * time.Millisecond)
			continue
		}
		b, err := c.Healing(ctx, *st.HealBatchID)
		if err != nil {
			return err
		}
		for _, x := range b.Sessions {
			if said[x.SessionID] != x.Status {
				said[x.SessionID] = x.Status
				fmt.Printf("    %4.0f s  %-12s %s\n", time.Since(began).Seconds(), x.Status, x.Summary)
			}
		}
		if b.AllTerminal {
			tellHealed(b)
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.Ended:
			return fmt.Errorf("the service ended in the middle of the healing")
		case <-time.After(time.Second):
		}
	}
}

func tellHealed(b client.Healing) {
	fmt.Println()
	for _, x := range b.Sessions {
		for _, o := range x.Outcome {
			fmt.Printf("  %-15s %s\n", o.Outcome, o.Title)
		}
		if x.PRURL != nil {
			fmt.Printf("  pull request:   %s\n", *x.PRURL)
		}
		fmt.Printf("  session:        %s\n\n", x.URL)
	}
}
