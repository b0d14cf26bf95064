// Package operator is the commands of whoever runs the service on a machine: serve,
// project, and attempt, which the service itself starts.
package operator

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"text/tabwriter"
	"time"

	"tas-service/internal/project"
	"tas-service/internal/sandbox"
	"tas-service/internal/server"
	"tas-service/internal/store"
	"tas-service/internal/worker"
)

// Serve runs the service.
type Serve struct {
	LogFormat string `enum:"text,json" default:"text" env:"TAS_LOG_FORMAT" help:"Form of the log: text or json."`
	LogLevel  string `enum:"debug,info,warn,error" default:"info" env:"TAS_LOG_LEVEL" help:"Least level that is logged."`
}

// Logger makes a log on standard error.
func Logger(format, level string) *slog.Logger {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		l = slog.LevelInfo
	}
	opts := &slog.HandlerOptions{Level: l}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(os.Stderr, opts))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, opts))
}

// Run serves until SIGTERM, which leaves running attempts to the next service, or
// SIGINT, which ends them too.
func (c *Serve) Run() error {
	cfg, err := server.FromEnv(os.Getenv)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var interrupted atomic.Bool
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		sig := <-signals
		interrupted.Store(sig == syscall.SIGINT)
		stop()
		<-signals
		os.Exit(1) // asked twice
	}()
	s, err := server.New(ctx, cfg, Logger(c.LogFormat, c.LogLevel))
	if err != nil {
		return err
	}
	return s.Run(ctx, interrupted.Load)
}

// Project are the commands for projects.
type Project struct {
	Create    ProjectCreate    `cmd:"" help:"Create a project and print its API key."`
	List      ProjectList      `cmd:"" help:"List the projects."`
	Set       ProjectSet       `cmd:"" help:"Change a project's settings."`
	RotateKey ProjectRotateKey `cmd:"" help:"Revoke a project's API key and print a new one."`
}

// data is where the service keeps its data.
type data struct {
	DataDir     string `env:"TAS_DATA_DIR" default:".tas" type:"path" help:"The service's data folder."`
	DatabaseURL string `env:"TAS_DATABASE_URL" help:"The service's PostgreSQL database; by default SQLite in the data folder."`
	MasterKey   string `env:"TAS_MASTER_KEY_FILE" type:"path" help:"The service's master key; by default in the data folder."`
}

func (d data) open(ctx context.Context) (*store.DB, error) {
	db, _, err := server.OpenStore(ctx, server.Config{DataDir: d.DataDir, DatabaseURL: d.DatabaseURL, MasterKey: d.MasterKey})
	return db, err
}

// settings are what can be set of a project.
type settings struct {
	Repo         *string           `placeholder:"URL" help:"Clone address of the tests repository."`
	Branch       *string           `help:"Its default branch; empty for the repository's own."`
	Dir          *string           `help:"Folder of the package with the tests; empty for the root."`
	RepoTokenEnv string            `placeholder:"NAME" help:"Environment variable that holds the token for a private repository."`
	Env          map[string]string `placeholder:"NAME=VALUE" help:"Application variables of every run."`
	Workers      *int              `help:"Playwright workers of a run; 0 for what the machine carries."`
	MinIsolation *string           `help:"Weakest isolation that runs accept: bubblewrap, landlock, other-user or none; empty for any."`
	RunLimit     *time.Duration    `help:"Longest time of a run, such as 45m."`
	DiskQuotaMB  *int64            `name:"disk-quota-mb" help:"Most that a run may write, in MiB."`
}

func (s settings) apply(p *project.Project) error {
	set(&p.Repository.URL, s.Repo)
	set(&p.Repository.Branch, s.Branch)
	set(&p.Repository.Dir, s.Dir)
	set(&p.Workers, s.Workers)
	set(&p.MinIsolation, s.MinIsolation)
	set(&p.RunLimit, s.RunLimit)
	if s.DiskQuotaMB != nil {
		p.DiskQuota = *s.DiskQuotaMB << 20
	}
	if s.RepoTokenEnv != "" {
		token, ok := os.LookupEnv(s.RepoTokenEnv)
		if !ok {
			return fmt.Errorf("the environment variable %s is not set", s.RepoTokenEnv)
		}
		p.Repository.Token = token
	}
	if s.Env != nil {
		p.Env = s.Env
	}
	if l := sandbox.Level(p.MinIsolation); l != "" && !known(l) {
		return fmt.Errorf("%q is no isolation level: use bubblewrap, landlock, other-user or none", l)
	}
	return p.Check()
}

func known(l sandbox.Level) bool {
	for _, k := range sandbox.Levels() {
		if k == l {
			return true
		}
	}
	return false
}

func set[T any](into, value *T) {
	if value != nil {
		*into = *value
	}
}

// ProjectCreate creates a project.
type ProjectCreate struct {
	data
	Name string `arg:"" help:"Name of the project."`
	settings
}

// Run prints the new project's ID and key, once.
func (c *ProjectCreate) Run() error {
	p := project.Project{Name: c.Name}
	if err := c.apply(&p); err != nil {
		return err
	}
	ctx := context.Background()
	db, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // the work is done
	p, key, err := db.CreateProject(ctx, p)
	if err != nil {
		return err
	}
	fmt.Printf("project %s\nkey     %s\n\nThe key is shown this once. Keep it secret; tools read it from SERVICE_API_KEY.\n", p.ID, key)
	return nil
}

// ProjectList lists projects.
type ProjectList struct{ data }

// Run prints one line for each project.
func (c *ProjectList) Run() error {
	ctx := context.Background()
	db, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // only read
	ps, err := db.Projects(ctx)
	if err != nil {
		return err
	}
	if len(ps) == 0 {
		fmt.Println("There is no project yet. Create one: tas project create NAME --repo URL")
		return nil
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tNAME\tTESTS REPOSITORY")
	for _, p := range ps {
		fmt.Fprintf(w, "%s\t%s\t%s\n", p.ID, p.Name, cmp.Or(p.Repository.URL, "none"))
	}
	return w.Flush()
}

// ProjectSet changes settings.
type ProjectSet struct {
	data
	ID string `arg:"" help:"ID of the project."`
	settings
}

// Run changes what was given and leaves the rest.
func (c *ProjectSet) Run() error {
	ctx := context.Background()
	db, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // the work is done
	return db.UpdateProject(ctx, c.ID, c.apply)
}

// ProjectRotateKey rotates a key.
type ProjectRotateKey struct {
	data
	ID string `arg:"" help:"ID of the project."`
}

// Run prints the new key, once.
func (c *ProjectRotateKey) Run() error {
	ctx := context.Background()
	db, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // the work is done
	key, err := db.RotateKey(ctx, c.ID)
	if err != nil {
		return err
	}
	fmt.Printf("key     %s\n\nThe old key stops working within seconds.\n", key)
	return nil
}

// Attempt executes one attempt; the service starts it.
type Attempt struct {
	Server    string        `required:"" help:"Base address of the service."`
	Work      string        `required:"" type:"path" help:"Folder for mirrors, installs and runs."`
	ID        string        `help:"ID of the attempt, for whoever looks at the processes."`
	Browsers  string        `env:"TAS_BROWSERS_DIR" type:"path" help:"Folder that playwright install filled."`
	Isolation string        `env:"TAS_ISOLATION" help:"Exactly this isolation level."`
	HangGrace time.Duration `env:"TAS_HANG_GRACE" default:"30s"`
	Orphan    time.Duration `env:"TAS_ORPHAN_AFTER" default:"2m"`
}

// hangFactor: Playwright ends a test at its timeout by itself; hooks have the same again.
const hangFactor = 3

// Run reads the attempt's token from standard input and executes it.
func (c *Attempt) Run() error {
	token, err := bufio.NewReader(io.LimitReader(os.Stdin, 4096)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) || strings.TrimSpace(token) == "" {
		return errors.New("the attempt's token is expected on standard input")
	}
	if err := worker.Adopt(); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	names := strings.FieldsFunc(os.Getenv("TAS_SANDBOX_ENV"), func(r rune) bool { return r == ',' })
	return worker.Run(ctx, worker.Config{Server: c.Server, Token: strings.TrimSpace(token), Work: c.Work, Browsers: c.Browsers, SandboxEnv: names,
		Isolation: sandbox.Level(c.Isolation), Patience: c.Orphan, HangFactor: hangFactor, HangGrace: c.HangGrace, Log: Logger("text", "info")})
}
