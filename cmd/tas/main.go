// Command tas is the whole of the Test Automation Service: `tas serve` is the service,
// `tas attempt` a worker that it starts, the rest is for people.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/alecthomas/kong"

	"tas-service/internal/cli"
	"tas-service/internal/fault"
	"tas-service/internal/operator"
	"tas-service/internal/sandbox/confine"
)

var version = "dev"

type commands struct {
	cli.Commands
	Serve   operator.Serve   `cmd:"" help:"Run the service."`
	Project operator.Project `cmd:"" help:"Create and change projects on this machine."`
	Admin   operator.Admin   `cmd:"" help:"Let people into the web app."`
	Attempt operator.Attempt `cmd:"" hidden:"" help:"Execute one attempt at a run; the service starts this."`
	Version kong.VersionFlag `help:"Print the version."`
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == confine.Command {
		fail(confine.Become(os.Args[2:]))
	}
	var c commands
	parser := kong.Must(&c, kong.Name("tas"), kong.Description("Runs a project's end-to-end tests, reports the results and gates pipelines on the verdict."),
		kong.Vars{"version": version})
	args := os.Args[1:]
	if len(args) == 0 {
		args = []string{"--help"}
	}
	ctx, err := parser.Parse(args)
	if err != nil {
		fail(cli.Usage(err))
	}
	if err := ctx.Run(); err != nil {
		fail(err)
	}
}

func fail(err error) {
	if e, ok := errors.AsType[*cli.Exit](err); ok {
		if e.Message != "" {
			fmt.Fprintln(os.Stderr, "tas: "+e.Message)
		}
		os.Exit(e.Code)
	}
	message := err.Error()
	if f := fault.As(err); f != nil {
		message = f.Public()
		for _, d := range f.Details {
			message += "\n  " + d.Path + ": " + d.Message
		}
	}
	fmt.Fprintln(os.Stderr, "tas: "+message)
	os.Exit(1)
}
