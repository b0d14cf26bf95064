package operator

import (
	"context"
	"fmt"
	"os"
	"time"

	"tas-service/internal/account"
	"tas-service/internal/server"
)

// Admin are the commands for who may sign in.
type Admin struct {
	Link AdminLink `cmd:"" help:"Print a link that makes a new administrator, or sets a new password."`
}

// AdminLink prints a link that works once.
type AdminLink struct {
	data
	Email string `placeholder:"E-MAIL" help:"Somebody who has an account: the link sets a new password for them."`
}

// Run prints the link, once.
func (c *AdminLink) Run() error {
	cfg, err := server.FromEnv(os.Getenv)
	if err != nil {
		return err
	}
	ctx := context.Background()
	db, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // the work is done
	path, err := (&account.People{Records: db, Clock: time.Now}).OperatorLink(ctx, c.Email)
	if err != nil {
		return err
	}
	what := "makes a new administrator of the installation"
	if c.Email != "" {
		what = "sets a new password for " + c.Email
	}
	fmt.Printf("%s\n\nThe link works once, for %d days, and %s. Whoever has it needs nothing else.\n", cfg.AppAddress()+path, int(account.LinkFor.Hours()/24), what)
	return nil
}
