// Package landlock runs programs for which the kernel refuses every path that they were
// not given. It needs neither rights nor a helper program, only Linux 5.13 or later.
package landlock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/landlock-lsm/go-landlock/landlock"
	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"

	"tas-service/internal/sandbox"
)

// Box runs programs through Confine in a fresh process of our own binary.
type Box struct{ self string }

var _ sandbox.Box = (*Box)(nil)

// New answers a box when the kernel has Landlock.
func New() (sandbox.Box, error) {
	abi, err := llsys.LandlockGetABIVersion()
	if err != nil || abi < 1 {
		return nil, errors.New("this kernel has no Landlock")
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return &Box{self: self}, nil
}

// Level is sandbox.Landlock.
func (b *Box) Level() sandbox.Level { return sandbox.Landlock }

// Inside is the host's path: paths are refused, not moved.
func (b *Box) Inside(host, _ string) string { return host }

// ConfineCommand is the argument that makes our binary call Confine.
const ConfineCommand = "confine"

type rules struct {
	ReadOnly []string `json:"readOnly"`
	Writable []string `json:"writable"`
}

// Command prepares a program that first takes its own rights away.
func (b *Box) Command(ctx context.Context, s sandbox.Spec) (*exec.Cmd, error) {
	r := rules{ReadOnly: []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/ssl", "/etc/ca-certificates", "/etc/pki",
		"/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf", "/etc/services", "/etc/localtime",
		"/etc/fonts", "/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/passwd", "/etc/group",
		"/etc/mime.types", "/etc/os-release", "/var/cache/fontconfig", "/run/systemd/resolve", "/sys/devices/system/cpu", "/proc", "/nix/store", b.self},
		Writable: []string{"/dev"}}
	for _, bind := range s.ReadOnly {
		r.ReadOnly = append(r.ReadOnly, bind.Host)
	}
	for _, bind := range s.Writable {
		r.Writable = append(r.Writable, bind.Host)
	}
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	args := sandbox.WithLimits(s.Limits, append([]string{b.self, ConfineCommand, string(text), "--"}, s.Args...))
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env, cmd.Dir, cmd.ExtraFiles, cmd.Stdout, cmd.Stderr = s.Env, s.Dir, s.Files, s.Stdout, s.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	return cmd, nil
}

// Confine takes this process's rights away by the rules in args[0] and becomes the
// program behind "--". It only returns with an error.
func Confine(args []string) error {
	if len(args) < 3 || args[1] != "--" {
		return errors.New("usage: confine RULES -- PROGRAM [ARGUMENT …]")
	}
	var r rules
	if err := json.Unmarshal([]byte(args[0]), &r); err != nil {
		return fmt.Errorf("the rules cannot be read: %w", err)
	}
	var paths []landlock.Rule
	for _, p := range r.ReadOnly {
		paths = append(paths, pathRule(p, landlock.RODirs, landlock.ROFiles)...)
	}
	for _, p := range r.Writable {
		paths = append(paths, pathRule(p, landlock.RWDirs, landlock.RWFiles)...)
	}
	// BestEffort: New has seen that the kernel has Landlock; newer kernels refuse more.
	if err := landlock.V6.BestEffort().RestrictPaths(paths...); err != nil {
		return fmt.Errorf("take rights away: %w", err)
	}
	program, err := exec.LookPath(args[2])
	if err != nil {
		return err
	}
	return syscall.Exec(program, args[2:], os.Environ())
}

func pathRule(path string, dirs, files func(...string) landlock.FSRule) []landlock.Rule {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil
	case info.IsDir():
		return []landlock.Rule{dirs(path)}
	default:
		return []landlock.Rule{files(path)}
	}
}
