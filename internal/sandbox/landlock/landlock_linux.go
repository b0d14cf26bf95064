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
	"runtime"
	"syscall"
	"time"

	"github.com/landlock-lsm/go-landlock/landlock"
	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

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
	User     int      `json:"user,omitempty"` // to become; 0: stay who we are
}

// Command prepares a program that first takes its own rights away.
func (b *Box) Command(ctx context.Context, s sandbox.Spec) (*exec.Cmd, error) {
	r := rules{ReadOnly: []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/ssl", "/etc/ca-certificates", "/etc/pki",
		"/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf", "/etc/services", "/etc/localtime",
		"/etc/fonts", "/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/passwd", "/etc/group",
		"/etc/mime.types", "/etc/os-release", "/var/cache/fontconfig", "/run/systemd/resolve", "/sys/devices/system/cpu", "/proc", "/nix/store", b.self},
		// Not all of /dev: to root it holds the disks.
		Writable: []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm"}}
	for _, bind := range s.ReadOnly {
		r.ReadOnly = append(r.ReadOnly, bind.Host)
	}
	for _, bind := range s.Writable {
		r.Writable = append(r.Writable, bind.Host)
	}
	if os.Geteuid() == 0 {
		// Paths are not all: root can signal every process and change the network.
		r.User = s.User
		for _, bind := range s.Writable {
			if err := sandbox.HandOver(bind.Host, r.User); err != nil {
				return nil, err
			}
		}
	}
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	args := sandbox.WithLimits(s.Limits, append([]string{b.self, ConfineCommand, string(text), "--"}, s.Args...))
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env, cmd.Dir, cmd.ExtraFiles, cmd.Stdout, cmd.Stderr = s.Env, s.Dir, s.Files, s.Stdout, s.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
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
	// No signals to, and no abstract sockets of, processes outside; kernels before 6.12 cannot.
	if err := landlock.V6.BestEffort().RestrictScoped(); err != nil {
		return fmt.Errorf("take rights away: %w", err)
	}
	if r.User != 0 {
		if err := become(r.User); err != nil {
			return fmt.Errorf("become another user: %w", err)
		}
	}
	program, err := exec.LookPath(args[2])
	if err != nil {
		return err
	}
	return syscall.Exec(program, args[2:], os.Environ())
}

// become gives root's rights up for good. The kernel forgets on the way that this process
// is to die with the worker, so it is told again.
func become(user int) error {
	runtime.LockOSThread() // the next program inherits from this thread
	parent := os.Getppid()
	if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(user), syscall.Setuid(user)); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0, 0, 0); err != nil {
		return err
	}
	if os.Getppid() != parent {
		return errors.New("the worker is gone")
	}
	return nil
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
