package server

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"tas-service/internal/evidence"
	"tas-service/internal/notify/mail"
)

// Config is everything that an operator can set. Every field works when it is empty.
type Config struct {
	Addr          string         // TAS_ADDR: where to listen; default 127.0.0.1:8700
	BaseURL       string         // TAS_BASE_URL: under which callers reach the service; default from Addr
	AppURL        string         // TAS_APP_URL: under which people reach the web app; default BaseURL
	ContentURL    string         // TAS_CONTENT_URL: another origin for reports; on loopback found by itself
	DataDir       string         // TAS_DATA_DIR: default ./.tas
	DatabaseURL   string         // TAS_DATABASE_URL: postgres://…; default a SQLite file in DataDir
	DatabaseConn  int            // TAS_DATABASE_CONNECTIONS: to PostgreSQL; default 20
	MasterKey     string         // TAS_MASTER_KEY_FILE: default DataDir/master.key
	WorkerURL     string         // TAS_WORKER_URL: under which workers reach the services; default from Addr
	ArtifactsURL  string         // TAS_ARTIFACTS_URL: s3://bucket?region=…; default DataDir/artifacts
	MaxAttempts   int            // TAS_MAX_ATTEMPTS: how many run at once here; default 1 for each two cores
	PerProject    int            // TAS_MAX_ATTEMPTS_PER_PROJECT: default no bound of its own
	RateLimit     int            // TAS_RATE_LIMIT: calls of the API a second, for each project; default 100
	BrowsersDir   string         // TAS_BROWSERS_DIR: filled by `playwright install`; default DataDir/browsers
	SandboxEnv    []string       // TAS_SANDBOX_ENV: names of variables that test code may see
	Watch         time.Duration  // TAS_WATCH_REPOSITORIES: how often repositories beside the service are looked at; default 20s
	EvidenceEvery time.Duration  // TAS_EVIDENCE_EVERY: how often passing runs of one commit are recorded, below 0 for "off"; default 24h
	Isolation     string         // TAS_ISOLATION: exactly this level, instead of the strongest
	Keep          time.Duration  // TAS_KEEP_ARTIFACTS: how long reports and attachments are kept; default 30 days
	LinkTTL       time.Duration  // TAS_LINK_TTL: how long links to reports work; default 24h
	HangGrace     time.Duration  // TAS_HANG_GRACE: beyond three times its timeout a test hangs; default 30s
	LostAfter     time.Duration  // TAS_LOST_AFTER: silence after which a worker is given up; default 45s
	OrphanAfter   time.Duration  // TAS_ORPHAN_AFTER: how long a worker looks for a service that is gone; default 2m
	OIDCIssuer    string         // TAS_OIDC_ISSUER: an OpenID Connect provider that people may sign in with
	OIDCClient    string         // TAS_OIDC_CLIENT_ID: as whom the service is known there
	OIDCSecret    string         // TAS_OIDC_CLIENT_SECRET
	OIDCSignUp    bool           // TAS_OIDC_SIGN_UP: true lets in whom nobody has invited
	Proxies       []netip.Prefix // TAS_TRUSTED_PROXIES: whose X-Forwarded-For is believed
	MetricsToken  string         // TAS_METRICS_TOKEN: asked of whoever reads /metrics; default nobody is asked
	// WebhooksPrivate (TAS_WEBHOOKS_PRIVATE) lets notifications go to addresses that are not
	// public, and to such without https.
	WebhooksPrivate bool
	SMTP            mail.Config // TAS_SMTP_HOST and its siblings; without a host no e-mail is sent
	Model           ModelConfig // TAS_MODEL_KIND and its siblings; without a kind no model is asked

	// Program starts this program again: with ["attempt"] behind it, a worker. Default: this executable.
	Program []string
}

// Defaults that are more than a zero value.
const (
	defaultAddr   = "127.0.0.1:8700"
	defaultTTL    = 24 * time.Hour
	defaultRate   = 100 // calls a second
	defaultKeep   = 30 * 24 * time.Hour
	defaultGrace  = 30 * time.Second
	defaultWatch  = 20 * time.Second
	defaultOrphan = 2 * time.Minute
)

// FromEnv reads the configuration; an error names the variable and says what it takes.
func FromEnv(getenv func(string) string) (Config, error) {
	c := Config{Addr: getenv("TAS_ADDR"), BaseURL: getenv("TAS_BASE_URL"), AppURL: getenv("TAS_APP_URL"), ContentURL: getenv("TAS_CONTENT_URL"),
		DataDir: getenv("TAS_DATA_DIR"), DatabaseURL: getenv("TAS_DATABASE_URL"), MasterKey: getenv("TAS_MASTER_KEY_FILE"), WorkerURL: getenv("TAS_WORKER_URL"), ArtifactsURL: getenv("TAS_ARTIFACTS_URL"), BrowsersDir: getenv("TAS_BROWSERS_DIR"), Isolation: getenv("TAS_ISOLATION"), MetricsToken: getenv("TAS_METRICS_TOKEN"),
		OIDCIssuer: getenv("TAS_OIDC_ISSUER"), OIDCClient: getenv("TAS_OIDC_CLIENT_ID"), OIDCSecret: getenv("TAS_OIDC_CLIENT_SECRET")}
	c.SandboxEnv = strings.FieldsFunc(getenv("TAS_SANDBOX_ENV"), func(r rune) bool { return r == ',' || r == ' ' })
	if v := getenv("TAS_OIDC_SIGN_UP"); v != "" && v != "true" && v != "false" {
		return c, fmt.Errorf("TAS_OIDC_SIGN_UP is %q: set true or false, or leave it out", v)
	} else {
		c.OIDCSignUp = v == "true"
	}
	if (c.OIDCIssuer == "") != (c.OIDCClient == "") || c.OIDCIssuer == "" && c.OIDCSecret != "" {
		return c, errors.New("TAS_OIDC_ISSUER and TAS_OIDC_CLIENT_ID belong together, with TAS_OIDC_CLIENT_SECRET: set all of them, or none")
	}
	for _, text := range strings.FieldsFunc(getenv("TAS_TRUSTED_PROXIES"), func(r rune) bool { return r == ',' || r == ' ' }) {
		p, err := netip.ParsePrefix(text)
		if at, aerr := netip.ParseAddr(text); aerr == nil {
			p, err = at.Prefix(at.BitLen())
		}
		if err != nil {
			return c, fmt.Errorf("TAS_TRUSTED_PROXIES has %q: set addresses such as 10.0.0.7 or 10.0.0.0/8, or leave it out", text)
		}
		c.Proxies = append(c.Proxies, p)
	}
	for _, f := range []struct {
		name string
		into *int
	}{{"TAS_DATABASE_CONNECTIONS", &c.DatabaseConn}, {"TAS_MAX_ATTEMPTS", &c.MaxAttempts}, {"TAS_MAX_ATTEMPTS_PER_PROJECT", &c.PerProject}, {"TAS_RATE_LIMIT", &c.RateLimit}} {
		if v := getenv(f.name); v != "" {
			n, err := strconv.Atoi(v)
			if err != nil || n < 1 {
				return c, fmt.Errorf("%s is %q: set a whole number of 1 or more, or leave it out", f.name, v)
			}
			*f.into = n
		}
	}
	for _, f := range []struct {
		name string
		into *time.Duration
	}{{"TAS_KEEP_ARTIFACTS", &c.Keep}, {"TAS_LINK_TTL", &c.LinkTTL}, {"TAS_HANG_GRACE", &c.HangGrace}, {"TAS_ORPHAN_AFTER", &c.OrphanAfter}, {"TAS_LOST_AFTER", &c.LostAfter}, {"TAS_WATCH_REPOSITORIES", &c.Watch}, {"TAS_EVIDENCE_EVERY", &c.EvidenceEvery}} {
		if v := getenv(f.name); v == "off" && f.into == &c.EvidenceEvery {
			c.EvidenceEvery = -1
		} else if v != "" {
			d, err := time.ParseDuration(v)
			if err != nil || d <= 0 {
				return c, fmt.Errorf("%s is %q: set a time such as 30s, 5m or 24h, or leave it out", f.name, v)
			}
			*f.into = d
		}
	}
	for _, f := range []struct{ name, value string }{{"TAS_BASE_URL", c.BaseURL}, {"TAS_APP_URL", c.AppURL}, {"TAS_CONTENT_URL", c.ContentURL}, {"TAS_WORKER_URL", c.WorkerURL}, {"TAS_OIDC_ISSUER", c.OIDCIssuer}} {
		if u, err := url.Parse(f.value); f.value != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
			return c, fmt.Errorf("%s is %q: set an address such as https://tas.example.com, or leave it out", f.name, f.value)
		}
	}
	return c, errors.Join(c.notifications(getenv), c.model(getenv))
}

// notifications reads what concerns messages to others.
func (c *Config) notifications(getenv func(string) string) error {
	switch v := getenv("TAS_WEBHOOKS_PRIVATE"); v {
	case "", "false":
	case "true":
		c.WebhooksPrivate = true
	default:
		return fmt.Errorf("TAS_WEBHOOKS_PRIVATE is %q: set true or false, or leave it out", v)
	}
	m := &c.SMTP
	*m = mail.Config{Host: getenv("TAS_SMTP_HOST"), Security: mail.Security(getenv("TAS_SMTP_SECURITY")), User: getenv("TAS_SMTP_USER"), Password: getenv("TAS_SMTP_PASSWORD"), From: getenv("TAS_SMTP_FROM")}
	if v := getenv("TAS_SMTP_PORT"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || n > 65535 {
			return fmt.Errorf("TAS_SMTP_PORT is %q: set a port from 1 to 65535, or leave it out", v)
		}
		m.Port = n
	}
	switch {
	case m.Host == "" && *m != (mail.Config{}):
		return errors.New("TAS_SMTP_HOST is left out, and other settings of e-mail are not: set it to the mail server's name, or leave out all of them")
	case m.Host == "":
		return nil
	case m.From == "":
		return errors.New("TAS_SMTP_FROM is left out: set the address that e-mails come from, such as tas@example.com")
	case (m.User == "") != (m.Password == ""):
		return errors.New("TAS_SMTP_USER and TAS_SMTP_PASSWORD belong together: set both, or none")
	}
	if _, err := mail.New(*m); err != nil {
		return err
	}
	return nil
}

// Fill sets what was left out, as far as it does not depend on where the service listens.
func (c *Config) Fill() error {
	c.Addr = cmp.Or(c.Addr, defaultAddr)
	c.DataDir = cmp.Or(c.DataDir, ".tas")
	abs, err := filepath.Abs(c.DataDir)
	if err != nil {
		return err
	}
	c.DataDir = abs
	c.BrowsersDir = cmp.Or(c.BrowsersDir, filepath.Join(c.DataDir, "browsers"))
	c.MaxAttempts = cmp.Or(c.MaxAttempts, max(1, runtime.NumCPU()/2))
	c.RateLimit = cmp.Or(c.RateLimit, defaultRate)
	c.Keep = cmp.Or(c.Keep, defaultKeep)
	c.LinkTTL = cmp.Or(c.LinkTTL, defaultTTL)
	c.HangGrace = cmp.Or(c.HangGrace, defaultGrace)
	c.Watch = cmp.Or(c.Watch, defaultWatch)
	c.EvidenceEvery = cmp.Or(c.EvidenceEvery, evidence.Every)
	c.OrphanAfter = cmp.Or(c.OrphanAfter, defaultOrphan)
	if host, _, err := net.SplitHostPort(c.Addr); err == nil && c.BaseURL == "" {
		if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
			return fmt.Errorf("TAS_ADDR is %q, every address of this machine: set TAS_BASE_URL to the one under which callers reach the service", c.Addr)
		}
	}
	if len(c.Program) == 0 {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		c.Program = []string{self}
	}
	return nil
}

// urls sets the addresses that depend on where the service listens. On loopback the
// artifacts get an origin of their own for nothing: localhost is another host than
// 127.0.0.1 to a browser.
func (c *Config) urls(addr net.Addr) {
	_, port, _ := net.SplitHostPort(addr.String())
	c.BaseURL = strings.TrimSuffix(cmp.Or(c.BaseURL, "http://"+addr.String()), "/")
	c.AppURL = strings.TrimSuffix(cmp.Or(c.AppURL, c.BaseURL), "/")
	if c.ContentURL == "" && c.AppURL == "http://127.0.0.1:"+port {
		c.ContentURL = "http://localhost:" + port
	}
	c.ContentURL = strings.TrimSuffix(cmp.Or(c.ContentURL, c.AppURL), "/")
}

// AppAddress answers under which people reach the web app, as far as the configuration
// alone tells.
func (c Config) AppAddress() string {
	addr := cmp.Or(c.Addr, defaultAddr)
	return strings.TrimSuffix(cmp.Or(c.AppURL, c.BaseURL, "http://"+addr), "/")
}
