// Command tas is the whole of the Test Automation Service: `tas serve` is the service,
// `tas attempt` a worker that it starts, the rest is for people.
package main

import (
	"fmt"
	"os"

	"github.com/alecthomas/kong"

	"tas-service/internal/fault"
	"tas-service/internal/operator"
	"tas-service/internal/sandbox/confine"
)

var version = "dev"

type commands struct {
	Serve   operator.Serve   `cmd:"" help:"Run the service."`
	Project operator.Project `cmd:"" help:"Create and change projects on this machine."`
	Attempt operator.Attempt `cmd:"" hidden:"" help:"Execute one attempt at a run; the service starts this."`
	Version kong.VersionFlag `help:"Print the version."`
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == confine.Command {
		fail(confine.Become(os.Args[2:]))
	}
	var c commands
	ctx := kong.Parse(&c, kong.Name("tas"), kong.Description("Runs a project's end-to-end tests, reports the results and gates pipelines on the verdict."),
		kong.UsageOnError(), kong.Vars{"version": version})
	if err := ctx.Run(); err != nil {
		fail(err)
	}
}

func fail(err error) {
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
