// Package server wires the service together: configuration in, running service out. It
// constructs and connects; what to do is decided elsewhere.
package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"
	"github.com/klauspost/compress/gzhttp"

	"tas-service/internal/account"
	"tas-service/internal/account/oidc"
	"tas-service/internal/action"
	"tas-service/internal/artifact"
	"tas-service/internal/artifact/blobstore"
	"tas-service/internal/bug"
	"tas-service/internal/catalog"
	"tas-service/internal/checkout/git"
	"tas-service/internal/dispatch"
	"tas-service/internal/event"
	"tas-service/internal/evidence"
	"tas-service/internal/executor"
	"tas-service/internal/executor/process"
	"tas-service/internal/filelock"
	"tas-service/internal/project"
	"tas-service/internal/pull"
	"tas-service/internal/reconcile"
	"tas-service/internal/run"
	"tas-service/internal/sandbox"
	v1 "tas-service/internal/server/api/v1"
	v2 "tas-service/internal/server/api/v2"
	"tas-service/internal/server/attemptapi"
	"tas-service/internal/server/content"
	"tas-service/internal/server/hook"
	"tas-service/internal/server/route"
	"tas-service/internal/server/web"
	"tas-service/internal/store"
)

// Server is a running service: New, Run, and it is over when Run returns.
type Server struct {
	cfg       Config
	log       *slog.Logger
	db        *store.DB
	blobs     *blobstore.Store
	executor  executor.Executor
	dispatch  *dispatch.Dispatcher
	hub       *event.Hub
	election  *reconcile.Election
	auth      *account.Authenticator
	people    *account.People
	loop      *reconcile.Loop
	sweep     *reconcile.Loop
	actions   *action.Service
	outside   *reconcile.Loop // has actions carried out
	announce  *reconcile.Loop
	announcer *run.Announcer
	pulls     *pull.Service
	shelf     *evidence.Shelf
	refresh   *reconcile.Loop
	sessions  *reconcile.Loop // moves sessions on
	gathering *reconcile.Loop // reads the evidence of passing runs
	listener  net.Listener
	http      *http.Server
	unlock    func()
	stopping  context.Context
	stop      context.CancelFunc
}

// reconcileEvery is how often the reconcilers look without being woken.
const reconcileEvery = 2 * time.Second

// Times of the lease by which one of several services on a database leads.
const (
	leaseFor   = 5 * time.Second
	leaseEvery = 1500 * time.Millisecond
)

// sweepEvery is how often old artifacts are looked for.
const sweepEvery = 10 * time.Minute

// New opens everything and listens; the answered server serves once Run is called.
func New(ctx context.Context, cfg Config, log *slog.Logger) (_ *Server, err error) {
	if err := cfg.Fill(); err != nil {
		return nil, err
	}
	s := &Server{log: log}
	s.stopping, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	// Before the database is opened: opening brings its tables up to date.
	if s.unlock, err = lockFolder(cfg.DataDir); err != nil {
		return nil, err
	}
	db, keys, err := OpenStore(ctx, cfg)
	if err != nil {
		return nil, err
	}
	s.db = db
	if s.blobs, err = openArtifacts(ctx, cfg); err != nil {
		return nil, err
	}
	if s.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", cfg.Addr); err != nil {
		return nil, fmt.Errorf("listen on %s: %w (set TAS_ADDR to another address)", cfg.Addr, err)
	}
	cfg.urls(s.listener.Addr())
	s.cfg = cfg
	s.executor, err = process.New(process.Config{Program: append(append([]string(nil), cfg.Program...), "attempt"),
		Dir: filepath.Join(cfg.DataDir, "executor"), Work: filepath.Join(cfg.DataDir, "work"), Env: workerEnv(cfg)})
	if err != nil {
		return nil, err
	}
	at, err := place(cfg.DataDir)
	if err != nil {
		return nil, err
	}
	hub := event.NewHub()
	s.hub = hub
	links := artifact.Links{Keys: keys, ContentURL: cfg.ContentURL, TTL: cfg.LinkTTL, Now: time.Now}
	metrics := newMetrics(db)
	s.loop = &reconcile.Loop{Name: "dispatch", Every: reconcileEvery, Log: log, Failed: metrics.stepFailed}
	s.dispatch = &dispatch.Dispatcher{Store: db, Projects: db, Environments: db, Executor: s.executor, Blobs: s.blobs, Hub: hub, Log: log,
		Limits: dispatch.Limits{Attempts: cfg.MaxAttempts, PerProject: cfg.PerProject}, Timing: timing(cfg),
		Place: at, Server: cmp.Or(cfg.WorkerURL, "http://"+s.listener.Addr().String()), Clock: time.Now, Wake: s.loop.Wake, Ended: func(r run.Run) { s.runEnded(r, metrics) }}
	s.loop.Step = s.dispatch.Step
	s.election = &reconcile.Election{Lease: db, Name: "reconcile", Holder: uuid.NewString(), For: leaseFor, Every: leaseEvery, Log: log, Changed: s.loop.Wake}
	s.dispatch.Leading = s.election.Leading
	retention := &run.Retention{Store: db, Blobs: s.blobs, Keep: cfg.Keep, Clock: time.Now}
	s.sweep = &reconcile.Loop{Name: "retention", Every: sweepEvery, Log: log, Failed: metrics.stepFailed, Step: func(ctx context.Context) error {
		if !s.election.Leading() {
			return nil
		}
		return errors.Join(retention.Step(ctx), s.actions.Sweep(ctx), s.shelf.Sweep(ctx, time.Now().Add(-evidence.KeepFor)))
	}}
	tests := &catalog.Service{Store: db, Sets: db, Held: db, History: db, Sums: db, Clock: time.Now}
	bugs := &bug.Service{Store: db, Clock: time.Now, Changed: func(runID, projectID string) {
		for _, topic := range run.Topics(runID, projectID) {
			hub.Publish(topic)
		}
	}}
	s.dispatch.Bugs = bugs
	runs := &run.Service{Store: db, Projects: db, Environments: db, Collections: tests, Links: links, Patterns: &run.JavaScript{}, Watcher: hub, Publish: hub.Publish, Clock: time.Now, Wake: s.loop.Wake,
		PageURL: web.RunURL(cfg.AppURL)}
	s.auth = account.NewAuthenticator(db)
	s.people = &account.People{Records: db, Hasher: account.NewHasher(runtime.GOMAXPROCS(0)), Tries: account.NewTries(time.Now), Clock: time.Now, Failed: metrics.signInFailed}
	notes, err := s.wireOutside(metrics)
	if err != nil {
		return nil, err
	}

	pulls, refresher, err := s.wirePulls(runs, metrics)
	if err != nil {
		return nil, err
	}

	healing, err := s.wireHealing(runs, bugs, notes, metrics)
	if err != nil {
		return nil, err
	}

	route.InstallErrors()
	limits := route.NewLimits(cfg.RateLimit)
	mux := http.NewServeMux()
	one := (&v1.API{Runs: runs, Tests: tests, Projects: db, Auth: s.auth, Bugs: bugs, BugURL: web.BugURL(cfg.AppURL), Healing: healing, SessionURL: web.SessionURL(cfg.AppURL), Limits: limits}).Mount(mux)
	two := (&v2.API{Runs: runs, Auth: s.auth, Limits: limits}).Mount(mux)
	(&attemptapi.API{Dispatcher: s.dispatch}).Mount(mux)
	(&content.Pages{Blobs: s.blobs, Links: links, Separate: cfg.ContentURL != cfg.AppURL}).Mount(mux)
	(&hook.Hooks{Inbox: pulls}).Mount(mux)
	settings := &project.Settings{Records: db, Notes: s.people, Checker: checker{cfg.mirrors()}, Rotated: s.auth.Forget, Connected: refresher.Ask}
	pages := &web.App{People: s.people, Settings: settings, Pulls: pulls, Refresher: refresher, Actions: s.actions, Notify: notes, Healing: healing, Levels: levels(), KeepDays: int(cfg.Keep.Hours() / 24), Runs: runs, Bugs: bugs, Tests: tests, Projects: db, Blobs: s.blobs, Separate: cfg.ContentURL != cfg.AppURL, Documents: []*huma.OpenAPI{one.OpenAPI(), two.OpenAPI()}, Store: db, Keys: keys, AppURL: cfg.AppURL, BaseURL: cfg.BaseURL, Now: time.Now, Log: log}
	if cfg.OIDCIssuer != "" {
		pages.SignUp = cfg.OIDCSignUp
		pages.Provider = oidc.New(oidc.Config{Issuer: cfg.OIDCIssuer, ClientID: cfg.OIDCClient, ClientSecret: cfg.OIDCSecret, Callback: cfg.AppURL + web.Callback})
	}
	if err := pages.Mount(mux); err != nil {
		return nil, err
	}
	s.mountHealth(mux, metrics)
	if err := errors.Join(mountRunner(mux), mountCLI(mux)); err != nil {
		return nil, err
	}
	base := route.Base{BaseURL: cfg.BaseURL, Proxies: cfg.Proxies, Log: log, Observe: metrics.request}
	guarded, err := pages.Protect(base.Wrap(mux))
	if err != nil {
		return nil, err
	}
	handler, err := compressed(keepOrigins(cfg, guarded))
	if err != nil {
		return nil, err
	}
	s.http = &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		BaseContext: func(net.Listener) context.Context { return s.stopping }}
	return s, nil
}

// compressed sends answers of the API and pages in fewer bytes to who takes gzip. What
// test code left behind goes out as it is: most of it is compressed already.
func compressed(next http.Handler) (http.Handler, error) {
	wrap, err := gzhttp.NewWrapper(gzhttp.MinSize(1400))
	if err != nil {
		return nil, fmt.Errorf("set compression up: %w", err)
	}
	small := wrap(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A stream of events must not wait until there is enough to compress.
		if first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/"); slices.Contains(uncompressed, first) || strings.HasSuffix(r.URL.Path, "/events") {
			next.ServeHTTP(w, r)
			return
		}
		small.ServeHTTP(w, r)
	}), nil
}

// uncompressed are the beginnings of addresses whose answers go out as they are.
var uncompressed = []string{"content", "attempt", "runner", "cli"}

// timing answers when the dispatcher loses patience.
func timing(cfg Config) dispatch.Timing {
	t := dispatch.DefaultTiming
	if cfg.LostAfter > 0 {
		t.LostAfter = cfg.LostAfter
		t.Heartbeat = min(t.Heartbeat, cfg.LostAfter/4)
	}
	return t
}

// lockFolder sees to it that one service works in a data folder.
func lockFolder(dir string) (unlock func(), err error) {
	if err := makeDataDir(dir); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "serve.lock")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock of the data folder: %w", err)
	}
	f.Close() //nolint:errcheck // only made sure that it exists
	unlock, ok := filelock.TryLock(path)
	if !ok {
		return nil, fmt.Errorf("another service already works in %s: stop it, or set TAS_DATA_DIR to another folder", dir)
	}
	return unlock, nil
}

// workerEnv is the whole environment of workers: how to find programs and the network,
// and what the operator set for them. Nothing that leads to the service's data.
func workerEnv(cfg Config) []string {
	var env []string
	names := append([]string{"PATH", "HOME", "LANG", "TZ", "TMPDIR", "SSH_AUTH_SOCK", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
		"NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO"}, cfg.SandboxEnv...)
	for _, name := range names {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return append(env, "TAS_BROWSERS_DIR="+cfg.BrowsersDir, "TAS_SANDBOX_ENV="+strings.Join(cfg.SandboxEnv, ","), "TAS_ISOLATION="+cfg.Isolation,
		"TAS_HANG_GRACE="+cfg.HangGrace.String(), "TAS_ORPHAN_AFTER="+cfg.OrphanAfter.String())
}

// mirrors answers the service's own mirrors of repositories: what is looked at, read and written of
// them without a working copy.
func (c Config) mirrors() *git.Mirrors {
	return &git.Mirrors{Root: filepath.Join(c.DataDir, "looks")}
}

// keepOrigins keeps strangers' content and the web app on different origins, where the
// installation has two.
func keepOrigins(cfg Config, next http.Handler) http.Handler {
	if cfg.ContentURL == cfg.AppURL {
		return next
	}
	_, contentHost, _ := strings.Cut(cfg.ContentURL, "://")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		isContent := strings.HasPrefix(r.URL.Path, "/content/")
		shared := strings.HasPrefix(r.URL.Path, "/public-api/") || strings.HasPrefix(r.URL.Path, "/attempt/") || strings.HasPrefix(r.URL.Path, "/hooks/") || r.URL.Path == "/healthz" || r.URL.Path == "/readyz" || r.URL.Path == "/metrics" || strings.HasPrefix(r.URL.Path, "/runner/") || strings.HasPrefix(r.URL.Path, "/cli/")
		switch {
		case isContent && r.Host != contentHost:
			http.Redirect(w, r, cfg.ContentURL+r.URL.RequestURI(), http.StatusTemporaryRedirect)
		case !isContent && !shared && r.Host == contentHost:
			http.Redirect(w, r, cfg.AppURL+r.URL.RequestURI(), http.StatusTemporaryRedirect)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// BaseURL answers where callers reach the service.
func (s *Server) BaseURL() string { return s.cfg.BaseURL }

// Pulls answers how projects take part in pull requests, for tests in the same process.
func (s *Server) Pulls() *pull.Service { return s.pulls }

// Store answers the open database, for commands and tests in the same process.
func (s *Server) Store() *store.DB { return s.db }

// shutdownIn is how long answers under way may take at the end.
const shutdownIn = 10 * time.Second

// endAttemptsIn is how long attempts may take to end with the service: longer than an
// executor gives them before it ends them itself.
const endAttemptsIn = 7 * time.Second

// Run serves until ctx is done. Attempts under way live on and find the next service at
// the same address, unless endAttempts says that they should end too.
func (s *Server) Run(ctx context.Context, endAttempts func() bool) error {
	defer s.close()
	var wait sync.WaitGroup
	defer wait.Wait()
	loops, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	wait.Go(func() { s.election.Run(loops) })
	wait.Go(func() { s.db.Relay(loops, s.hub, s.log) })
	wait.Go(func() { s.loop.Run(loops) })
	wait.Go(func() { s.sweep.Run(loops) })
	wait.Go(func() { s.announce.Run(loops) })
	wait.Go(func() { s.outside.Run(loops); s.actions.Wait() })
	wait.Go(func() { s.refresh.Run(loops) })
	wait.Go(func() { s.sessions.Run(loops) })
	wait.Go(func() { s.gathering.Run(loops) })
	wait.Go(func() {
		for {
			select {
			case <-loops.Done():
				return
			case <-s.executor.Changed():
				s.loop.Wake()
			}
		}
	})
	served := make(chan error, 1)
	go func() { served <- s.http.Serve(s.listener) }()
	s.log.Info("serving", "address", s.cfg.BaseURL, "data", s.cfg.DataDir)
	s.welcome(loops)
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	s.log.Info("stopping")
	if endAttempts != nil && endAttempts() {
		s.endAttempts(loops)
	}
	s.stop() // long polls answer now
	last, done := context.WithTimeout(context.WithoutCancel(ctx), shutdownIn)
	defer done()
	err := s.http.Shutdown(last)
	if served := <-served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// levels answers the names of the isolation levels, the strongest first.
func levels() []string {
	var out []string
	for _, l := range sandbox.Levels() {
		out = append(out, string(l))
	}
	return out
}

// welcome tells whoever started the service how to become the first administrator, as long
// as there is none. The link is a secret; it is told where the service's own log goes.
func (s *Server) welcome(ctx context.Context) {
	path, err := s.people.SetUp(ctx)
	switch {
	case err != nil:
		s.log.Error("the link for the first administrator cannot be made", "error", err)
	case path != "":
		s.log.Warn("nobody can sign in yet: open this link once to become the first administrator", "link", s.cfg.AppURL+path)
	}
}

func (s *Server) endAttempts(ctx context.Context) {
	s.dispatch.Drain() // each one that ends would make room for the next
	seen, err := s.executor.Observe(ctx)
	if err != nil {
		s.log.Error("attempts cannot be ended", "error", err)
		return
	}
	for _, o := range seen {
		if err := s.executor.Cancel(ctx, o.ID); err != nil {
			s.log.Error("an attempt cannot be ended", "attempt", o.ID, "error", err)
		}
	}
	// They say their last word to this service, and tidy up, before it is gone.
	deadline := time.Now().Add(endAttemptsIn)
	for time.Now().Before(deadline) {
		seen, err := s.executor.Observe(ctx)
		if err != nil || !slices.ContainsFunc(seen, func(o executor.Observation) bool { return o.State == executor.Running }) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (s *Server) close() {
	s.stop()
	if s.listener != nil {
		s.listener.Close() //nolint:errcheck // closed by Serve already, as a rule
	}
	if s.blobs != nil {
		s.blobs.Close() //nolint:errcheck // nothing is under way
	}
	if s.db != nil {
		if err := s.db.Close(); err != nil {
			s.log.Error("the database cannot be closed", "error", err)
		}
	}
	if s.unlock != nil {
		s.unlock()
	}
}
