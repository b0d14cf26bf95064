// Package project is what is under test: its tests repository, its settings and the
// application variables that its runs are given.
package project

import (
	"context"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"tas-service/internal/fault"
)

// Project is one tested product. It has one active API key.
type Project struct {
	ID           string
	Name         string
	Slug         string // lower-case letters, digits and dashes; unique, and begins the names of its runs
	Repository   Repository
	Workers      int               // Playwright workers of a run; 0: what the machine carries
	Env          map[string]string // application variables of the default environment
	MinIsolation string            // the weakest isolation level that its runs accept; "" means any
	RunLimit     time.Duration     // the longest a run may take; 0: DefaultRunLimit
	DiskQuota    int64             // bytes that a run may write; 0: DefaultDiskQuota
	KeepDays     int               // how long artifacts are kept; 0: as the installation does
	Recovery     bool              // a locator that finds nothing may be replaced while a run is under way
	CreatedAt    time.Time
}

// Limits that hold where a project sets none.
const (
	DefaultRunLimit        = time.Hour
	DefaultDiskQuota int64 = 4 << 30
	MaxWorkers             = 64
)

// Repository is where a project's tests live.
type Repository struct {
	URL    string // clone address; empty: no tests repository is connected
	Branch string // default branch; empty: the repository's own
	Dir    string // folder of the package that holds the tests, "" for the root
	Token  string // secret, for a private repository over HTTPS; sealed where it is kept
}

// elsewhere are clone addresses that lead to another machine, as git reads them: with a
// scheme, or as ssh writes them with a colon before the first slash.
var elsewhere = regexp.MustCompile(`^(?:(?:https?|ssh)://|[^/:]+:(?:[^:/]|/[^/]|$))`)

// Local reports whether the address is a place on the service's own machine, where
// repositories of other projects lie too.
func (r Repository) Local() bool { return r.URL != "" && !elsewhere.MatchString(r.URL) }

// HasTestsRepo reports whether a tests repository is connected.
func (p Project) HasTestsRepo() bool { return p.Repository.URL != "" }

// Store keeps projects. Project answers fault.NotFound for an unknown ID.
type Store interface {
	Project(ctx context.Context, id string) (Project, error)
}

var (
	notSlug = regexp.MustCompile(`[^a-z0-9]+`)
	envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	scpLike = regexp.MustCompile(`^[A-Za-z0-9._-]+@[A-Za-z0-9.-]+:`)
)

// Slug makes a name fit for the beginning of a run's name: at most 30 characters.
func Slug(name string) string {
	s := strings.Trim(notSlug.ReplaceAllString(strings.ToLower(name), "-"), "-")
	if len(s) > 30 {
		s = strings.Trim(s[:30], "-")
	}
	if s == "" {
		return "project"
	}
	return s
}

// ReservedEnv reports whether callers may not set a variable: CI and the service's
// own prefix, in any letter case.
func ReservedEnv(name string) bool {
	upper := strings.ToUpper(name)
	return upper == "CI" || strings.HasPrefix(upper, "SERVICE_")
}

// steering are names, and beginnings of names, that would change how a test process is
// started rather than what the application is told. The sandbox does not rely on this
// list; it keeps people from breaking their own runs.
var (
	steering         = []string{"PATH", "HOME", "TMPDIR", "NODE_OPTIONS", "NODE_PATH", "ENV", "BASH_ENV", "BASHOPTS", "SHELLOPTS", "PS4", "IFS", "GCONV_PATH", "PWDEBUG"}
	steeringPrefixes = []string{"TAS_", "PLAYWRIGHT_", "PW_", "PWTEST_", "GIT_", "LD_", "DYLD_", "GLIBC_"}
)

func steers(upper string) bool {
	return slices.Contains(steering, upper) || slices.ContainsFunc(steeringPrefixes, func(p string) bool { return strings.HasPrefix(upper, p) })
}

// CheckEnv says what is wrong with a set of application variables, each at
// path.NAME; nil when nothing is.
func CheckEnv(env map[string]string, path string) error {
	bad := fault.New(fault.Invalid, "The variables have names or values that cannot be used.").
		WithFix("Rename or remove them; they are passed to the tests as environment variables.")
	for name, value := range env {
		at := path + "." + name
		switch upper := strings.ToUpper(name); {
		case ReservedEnv(name):
			bad.At(at, "%s is reserved: CI and names that begin with SERVICE_ are set by the service", name)
		case steers(upper):
			bad.At(at, "%s steers how the tests are run, not the application", name)
		case !envName.MatchString(name):
			bad.At(at, "a name has letters, digits and _ and does not begin with a digit")
		case strings.ContainsRune(value, 0):
			bad.At(at, "a value cannot hold a NUL character")
		case len(value) > 32<<10:
			bad.At(at, "a value has at most 32 KiB")
		}
	}
	if len(bad.Details) == 0 {
		return nil
	}
	return bad
}

// Check says what is wrong with a project as it was entered; nil when nothing is.
func (p Project) Check() error {
	bad := fault.New(fault.Invalid, "The project cannot be used as it is.")
	if strings.TrimSpace(p.Name) == "" {
		bad.At("name", "a project needs a name")
	}
	if r := p.Repository; r.URL != "" {
		if strings.HasPrefix(r.URL, "-") || strings.ContainsAny(r.URL, "\n\r\x00") {
			bad.At("repository.url", "this is not a clone address")
		} else if u, err := url.Parse(r.URL); err != nil && !scpLike.MatchString(r.URL) {
			bad.At("repository.url", "this is not a clone address: use https://…, ssh://…, file://… or a path")
		} else if err == nil && u.User != nil && u.Scheme != "ssh" {
			bad.At("repository.url", "leave the credentials out of the address and give the token by itself, so that it is kept sealed")
		}
		if strings.HasPrefix(r.Branch, "-") {
			bad.At("repository.branch", "a branch does not begin with a dash")
		}
		if strings.HasPrefix(r.Dir, "/") || strings.Contains("/"+r.Dir+"/", "/../") {
			bad.At("repository.dir", "a folder inside the repository, without ..")
		}
	}
	if p.Workers < 0 || p.Workers > MaxWorkers {
		bad.At("workers", "0 (what the machine carries) to %d", MaxWorkers)
	}
	if err := fault.As(CheckEnv(p.Env, "env")); err != nil {
		bad.Details = append(bad.Details, err.Details...)
	}
	if len(bad.Details) == 0 {
		return nil
	}
	return bad
}
