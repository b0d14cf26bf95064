package cli

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"

	"tas-service/client"
)

// Commands are the commands of whoever calls the service.
type Commands struct {
	Me          Me          `cmd:"" group:"Calling a service" help:"Check the API key and say whose it is."`
	Run         Run         `cmd:"" group:"Calling a service" help:"Run tests, follow them and gate on the verdict."`
	Status      Status      `cmd:"" group:"Calling a service" help:"Say how a run goes, or wait for its verdict."`
	Results     Results     `cmd:"" group:"Calling a service" help:"List a run's results."`
	Report      Report      `cmd:"" group:"Calling a service" help:"Print the address of a run's HTML report."`
	Tests       Tests       `cmd:"" group:"Calling a service" help:"List the tests that can be run."`
	Heal        Heal        `cmd:"" group:"Calling a service" help:"Heal the failing tests of a run, and open a pull request with the repair."`
	Collections Collections `cmd:"" group:"Calling a service" help:"List the collections that can be run."`
	Init        Init        `cmd:"" group:"A tests repository" help:"Turn a Playwright repository into one that TAS can run."`
	Completion  Completion  `cmd:"" group:"This program" help:"Print what makes a shell complete commands and flags."`
	Man         Man         `cmd:"" group:"This program" help:"Print the manual page."`
	Bugs        Bugs        `cmd:"" group:"Calling a service" help:"List the bugs that failures were filed under."`
	Verdict     Verdict     `cmd:"" group:"Calling a service" help:"Judge results of a finished run: bug, not-bug, flaky, passed, failed."`
}

// Follow are the flags of commands that wait for a run.
type Follow struct {
	Timeout  time.Duration `default:"2h" help:"Longest time to wait for the verdict."`
	Reporter []string      `sep:"none" placeholder:"NAME" help:"Report also as junit=FILE (JUnit XML), github (annotations and step summary) or plain (no progress bars); may be repeated."`
	JSON     bool          `name:"json" help:"Print one JSON document at the end, and nothing else on standard output."`
}

// Run starts a run.
type Run struct {
	Service
	All            bool              `xor:"what" help:"Run every test (the default)."`
	Test           []string          `xor:"what" placeholder:"ID" help:"Run the tests with these IDs, separated by commas or with the flag repeated; tas tests lists them."`
	Collection     *string           `xor:"what" placeholder:"NAME" help:"Run the tests of a collection, by its name or ID; tas collections lists them."`
	Grep           *string           `xor:"what" placeholder:"PATTERN" help:"Run the tests whose name matches a JavaScript regular expression, as playwright test --grep."`
	Branch         string            `placeholder:"NAME" help:"Branch of the tests repository; its default branch otherwise."`
	Env            map[string]string `mapsep:"none" placeholder:"NAME=VALUE" help:"Application variable of this run; may be repeated."`
	Shards         int               `placeholder:"N" help:"Split the run into 2 to 40 shards."`
	Workers        int               `placeholder:"N" help:"Playwright workers, in each shard: 1 to 8."`
	PR             int               `name:"pr" placeholder:"NUMBER" help:"Pull request that the run is for: its result is told there, as the status of its commit and in one comment."`
	Repo           string            `placeholder:"OWNER/REPO" help:"Repository that the pull request is in; needed where the project has several."`
	AutoHeal       bool              `help:"Heal what fails, and open a pull request with the repair."`
	Wait           bool              `default:"true" negatable:"" help:"Wait for the verdict (the default)."`
	IdempotencyKey string            `placeholder:"KEY" help:"Repeating the same command with the same key within 24 hours follows the first run instead of starting another; the ID of a pipeline's job, say."`
	Trigger        string            `enum:",api,ci" default:"" placeholder:"ci|api" help:"What starts the run. ci when the environment variable CI is set, api otherwise."`
	Patience       time.Duration     `default:"30s" help:"How long to try to reach a service that does not answer, before the run has started."`
	Follow
}

// errInterrupted is why a command's context ends at Ctrl-C.
var errInterrupted = errors.New("interrupted")

// untilInterrupted answers a context that ends at Ctrl-C or SIGTERM. A second Ctrl-C ends
// the program at once.
func untilInterrupted() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-signals:
			cancel(errInterrupted)
		case <-ctx.Done():
		}
		signal.Stop(signals)
	}()
	return ctx, func() { cancel(nil) }
}

// Run starts what the flags say and, unless told otherwise, stays until the verdict.
func (r *Run) Run() error {
	c := newConsole(r.JSON)
	return c.ended(r.run(c))
}

func (r *Run) run(c *console) error {
	reporters, err := r.prepare(c)
	if err != nil {
		return err
	}
	if !r.Wait && len(reporters) > 0 {
		return usage("--reporter needs the verdict: leave out --no-wait, or report later with `tas status --wait --reporter …`.")
	}
	start, err := r.start()
	if err != nil {
		return err
	}
	api, err := r.dial()
	if err != nil {
		return err
	}
	ctx, stop := untilInterrupted()
	defer stop()
	// The deadline counts from here, and a start that is under way is not part of it.
	begun, err := patiently(ctx, r.Patience, func(err error) {
		c.warnf("The service does not answer; trying again for %s. %s\n", r.Patience, firstSentence(explain(err).Message))
	}, func() (client.Started, error) { return start(ctx, api) })
	if err != nil && errors.Is(context.Cause(ctx), errInterrupted) {
		return &Exit{Code: exitInterrupted, Message: "Interrupted before the service answered: the run may have been started. Look at the list of runs, or repeat the command with --idempotency-key " + clean(r.IdempotencyKey) + " to follow it."}
	}
	if err != nil {
		return err
	}
	if !r.Wait {
		c.printf("Run %s\n%s\n", clean(begun.RunID), clean(begun.TestRunURL))
		return c.answer(startedDocument{Started: begun, Verdict: "pending"})
	}
	c.printf("Run %s\n%s\n", clean(begun.RunID), clean(begun.TestRunURL))
	return r.await(ctx, c, api, begun.RunID, reporters)
}

// startedDocument is the document of a run that nobody waits for.
type startedDocument struct {
	client.Started
	IsTerminal bool   `json:"isTerminal"`
	Verdict    string `json:"verdict"`
	ExitCode   int    `json:"exitCode"`
}

// testID keeps what is joined to a pattern free of anything but IDs.
var testID = regexp.MustCompile(`^[0-9A-Fa-f-]{36}$`)

// everything is the pattern of a run of all tests by version 2 of grep: each name has at
// least one character.
const everything = "."

// start answers the call that starts what the flags ask for. Only version 2 of grep takes
// a branch and variables, so with either of them "all" is the pattern that every test
// matches, and a list of tests the pattern of their IDs; without, the plain calls are used,
// which refuse unknown IDs before anything runs.
func (r *Run) start() (func(context.Context, *client.Client) (client.Started, error), error) {
	o := client.StartOptions{Workers: r.Workers, ShardCount: r.Shards, Trigger: r.trigger()}
	switch {
	case r.Shards < 0 || r.Shards > 40:
		return nil, usage("--shards=%d: use 2 to 40, or leave it out for a run in one piece.", r.Shards)
	case r.Shards == 1: // a pipeline's variable may say so
		o.ShardCount = 0
	}
	if r.Workers < 0 || r.Workers > 8 {
		return nil, usage("--workers=%d: use 1 to 8, or leave it out for the project's setting.", r.Workers)
	}
	o.PRNumber, o.RepoName = r.PR, r.Repo
	if r.AutoHeal {
		o.AutoHeal = &client.AutoHeal{}
	}
	if r.IdempotencyKey == "" {
		r.IdempotencyKey = uuid.NewString() // so that a call without an answer can be repeated
	}
	o.IdempotencyKey = r.IdempotencyKey
	if strings.ContainsFunc(o.IdempotencyKey, func(c rune) bool { return c < ' ' || c >= 0x7f }) {
		return nil, usage("--idempotency-key may hold printable ASCII characters only; use a UUID, or the ID of the pipeline's job.")
	}
	tests := r.Test
	for i, id := range tests {
		if tests[i] = strings.TrimSpace(id); !testID.MatchString(tests[i]) {
			return nil, usage("--test %s is no test's ID. `tas tests --query TEXT` lists tests with their IDs; to select by name use --grep.", clean(id))
		}
	}
	if r.Test != nil && len(tests) == 0 {
		return nil, usage("--test is empty. Give IDs, or leave it out to run every test.")
	}
	g := client.Grep{Branch: r.Branch, EnvOverrides: maps.Clone(r.Env)}
	if r.Grep != nil {
		if g.Pattern = *r.Grep; strings.TrimSpace(g.Pattern) == "" { // a variable that is not set must not run everything
			return nil, usage("--grep is empty. Give a pattern, or leave it out to run every test.")
		}
	}
	elsewhere := g.Branch != "" || len(g.EnvOverrides) > 0
	switch {
	case r.Collection != nil && strings.TrimSpace(*r.Collection) == "":
		return nil, usage("--collection is empty. Give a name, or leave it out to run every test.")
	case r.Collection != nil && elsewhere:
		return nil, usage("A collection is run on the default branch, with the project's variables: leave out --branch and --env, or select by --grep.")
	case r.Collection != nil:
		return func(ctx context.Context, c *client.Client) (client.Started, error) {
			id, err := collectionID(ctx, c, *r.Collection)
			if err != nil {
				return client.Started{}, err
			}
			return c.RunCollection(ctx, id, o)
		}, nil
	case len(tests) > 0 && elsewhere:
		g.Pattern = strings.Join(tests, "|")
	case len(tests) > 0:
		return func(ctx context.Context, c *client.Client) (client.Started, error) { return c.RunTests(ctx, tests, o) }, nil
	case g.Pattern == "" && elsewhere:
		g.Pattern = everything
	case g.Pattern == "":
		return func(ctx context.Context, c *client.Client) (client.Started, error) { return c.RunSuite(ctx, o) }, nil
	}
	return func(ctx context.Context, c *client.Client) (client.Started, error) { return c.RunGrep(ctx, g, o) }, nil
}

// collectionID answers the ID of a collection that is named, or the ID itself.
func collectionID(ctx context.Context, c *client.Client, name string) (string, error) {
	all, err := c.Collections(ctx)
	if err != nil {
		return "", err
	}
	for _, x := range all {
		if x.Name == name || strings.EqualFold(x.ID, name) {
			return x.ID, nil
		}
	}
	return "", usage("There is no collection %s. `tas collections` lists those that there are.", clean(name))
}

// trigger tells pipelines from people: every build server sets CI.
func (r *Run) trigger() string {
	if r.Trigger != "" {
		return r.Trigger
	}
	switch strings.ToLower(os.Getenv("CI")) {
	case "", "0", "false", "no":
		return "api"
	}
	return "ci"
}

// prepare finds out what is wrong with the flags before anything is started.
func (f *Follow) prepare(c *console) ([]reporter, error) {
	if f.Timeout <= 0 {
		return nil, usage("--timeout=%s: give a time such as 45m or 2h.", f.Timeout)
	}
	return newReporters(f.Reporter, c)
}

// await follows a run to its verdict, reports it, and answers the Exit of it.
func (f *Follow) await(ctx context.Context, c *console, api *client.Client, runID string, reporters []reporter) error {
	within, cancel := context.WithTimeout(ctx, f.Timeout)
	defer cancel()
	var v view = newPlain(c.printf)
	if c.terminal != nil && !isPlain(reporters) {
		v = newBars(c, c.terminal)
	}
	st, err := follow(within, api, runID, v)
	v.end()
	var o outcome
	if err != nil {
		o = outcome{Status: st, exit: explain(err)}
		if st.Phase == "" && o.exit.Code <= exitUnreachable { // refused from the beginning
			return o.exit
		}
	} else {
		o = learn(ctx, api, st, wantAll(reporters))
	}
	return f.tell(c, &o, reporters)
}

// tell says what came of a run to everybody who wants to hear, and answers the Exit of it.
func (f *Follow) tell(c *console, o *outcome, reporters []reporter) error {
	o.report(c)
	for _, r := range reporters {
		if err := r.report(o); err != nil {
			o.unreported = true
			o.trouble = append(o.trouble, clean(err.Error()))
			c.warnf("%s\n", clean(err.Error()))
		}
	}
	if err := c.answer(o.document()); err != nil {
		return err
	}
	return o.end()
}
