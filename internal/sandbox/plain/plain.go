// Package plain is the last resort: a program in its own process group with a clean
// environment, and as another user where the worker may switch to one.
package plain

import (
	"context"
	"os"
	"os/exec"
	"syscall"
	"time"

	"tas-service/internal/sandbox"
)

// Box runs programs as another user when the worker is root, else as its own.
type Box struct{ root bool }

var _ sandbox.Box = (*Box)(nil)

// New always answers a box.
func New() *Box { return &Box{root: os.Geteuid() == 0} }

// Level is sandbox.OtherUser for root, else sandbox.None.
func (b *Box) Level() sandbox.Level {
	if b.root {
		return sandbox.OtherUser
	}
	return sandbox.None
}

// Inside is the host's path: this box has no view of its own.
func (b *Box) Inside(host, _ string) string { return host }

// Command prepares a program; what it may write is handed over to its user.
func (b *Box) Command(ctx context.Context, s sandbox.Spec) (*exec.Cmd, error) {
	args := sandbox.WithLimits(s.Limits, s.Args)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env, cmd.Dir, cmd.ExtraFiles, cmd.Stdout, cmd.Stderr = s.Env, s.Dir, s.Files, s.Stdout, s.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
	if b.root {
		for _, bind := range s.Writable {
			if err := sandbox.HandOver(bind.Host, s.User); err != nil {
				return nil, err
			}
		}
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(s.User), Gid: uint32(s.User)}
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	return cmd, nil
}
