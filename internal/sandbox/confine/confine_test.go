package confine

import (
	"slices"
	"strings"
	"testing"

	"tas-service/internal/sandbox"
	"tas-service/internal/sandbox/bubblewrap"
)

// TestCleanStart holds what makes a sandbox apart from the program's environment: a
// variable of the loader in it would run code outside.
func TestCleanStart(t *testing.T) {
	t.Parallel()
	boxes := map[string]func() (sandbox.Box, error){
		"plain":      func() (sandbox.Box, error) { return Plain() },
		"landlock":   func() (sandbox.Box, error) { return Landlock() },
		"bubblewrap": func() (sandbox.Box, error) { return bubblewrap.New(t.Context()) },
	}
	for name, make := range boxes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			box, err := make()
			if err != nil {
				t.Skip(err)
			}
			cmd, err := box.Command(t.Context(), sandbox.Spec{Args: []string{"/bin/true"}, Dir: "/", Env: []string{"LD_AUDIT=/evil.so", "PASSWORD=swordfish"}})
			if err != nil {
				t.Fatal(err)
			}
			for _, seen := range append(slices.Clone(cmd.Env), cmd.Args...) {
				if strings.Contains(seen, "evil") || strings.Contains(seen, "swordfish") {
					t.Errorf("outside of the sandbox stands %q", seen)
				}
			}
			if slices.Equal(cmd.Env, nil) {
				t.Error("an empty environment is that of the worker")
			}
		})
	}
}
