package project

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"time"

	"tas-service/internal/fault"
)

// Environment is a named set of what a project's runs are told: variables that everybody
// in the project sees, and secrets whose values nobody sees again. A run names one, or gets
// the project's default.
type Environment struct {
	ID        string
	ProjectID string
	Name      string // unique within the project
	Default   bool
	Variables map[string]string
	Secrets   []string // their names, sorted; values are kept sealed
	CreatedAt time.Time
}

// DefaultEnvironment is the name of the environment that each project begins with.
const DefaultEnvironment = "default"

// Bounds of environments.
const (
	MaxEnvironments = 50
	maxVariables    = 200
)

var environmentName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9 ._-]{0,49}$`)

// Check says what is wrong with an environment and with secrets that it is to get; nil
// when nothing is. No value is repeated.
func (e Environment) Check(set map[string]string) error {
	bad := fault.New(fault.Invalid, "The environment cannot be kept so.").WithFix("Correct the fields named below.")
	if !environmentName.MatchString(e.Name) {
		bad.At("name", "letters, digits, blanks and . _ -, 1 to 50 of them")
	}
	for at, env := range map[string]map[string]string{"variables": e.Variables, "secrets": set} {
		if err := fault.As(CheckEnv(env, at)); err != nil {
			bad.Details = append(bad.Details, err.Details...)
		}
	}
	names := append(slices.Collect(maps.Keys(set)), e.Secrets...)
	slices.Sort(names)
	names = slices.Compact(names)
	for _, name := range names {
		if _, ok := e.Variables[name]; ok {
			bad.At("secrets."+name, "is a variable too: remove one of them")
		}
	}
	for name, value := range set {
		if value == "" {
			bad.At("secrets."+name, "a secret needs a value")
		}
	}
	if len(e.Variables)+len(names) > maxVariables {
		bad.At("variables", "at most %d variables and secrets", maxVariables)
	}
	if len(bad.Details) == 0 {
		return nil
	}
	slices.SortFunc(bad.Details, func(a, b fault.Detail) int {
		if a.Path < b.Path {
			return -1
		}
		return 1
	})
	return bad
}

// Environments keeps environments. Lookups answer fault.NotFound for what is not there,
// writes fault.Conflict for a name that is taken.
type Environments interface {
	Environments(ctx context.Context, projectID string) ([]Environment, error) // the default one first, then by name
	// UpdateEnvironment changes an environment, or with an empty id adds one. change answers
	// new values of secrets; secrets that it strikes from the list are forgotten.
	UpdateEnvironment(ctx context.Context, projectID, id string, change func(e *Environment, others int) (set map[string]string, err error)) error
	SetDefaultEnvironment(ctx context.Context, projectID, id string) error
	DropEnvironment(ctx context.Context, projectID, id string) error // fault.Conflict for the default one
	// Values answers all that a run in an environment is told, secrets among it: for nobody
	// but the run. An empty name is the default.
	Values(ctx context.Context, projectID, name string) (map[string]string, error)
}
