package git

import (
	"context"
	"errors"
	"os/exec"
)

// Plain runs git in repositories on this machine, with the same care as all of this
// package's calls: no shell, prompt, hook or configuration of the machine.
type Plain struct{}

// Git runs git in dir, with more variables and this standard input, and answers its standard output and its exit
// status: another status than 0 is no error, since git says with it what it found. said is
// the end of what it complained of.
func (Plain) Git(ctx context.Context, dir string, env []string, stdin string, args ...string) (out, said string, status int, err error) {
	return command{dir: dir, env: env, stdin: stdin}.try(ctx, args...)
}

// try is run for calls whose status says something.
func (c command) try(ctx context.Context, args ...string) (out, said string, status int, err error) {
	out, err = c.run(ctx, args...)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Exited() && ctx.Err() == nil {
		var f *failure
		if errors.As(err, &f) {
			out, said = f.out, f.said
		}
		return out, said, exit.ExitCode(), nil
	}
	return out, "", 0, err
}
