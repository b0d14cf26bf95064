// Package confine runs programs that first take rights away from themselves: a fresh
// process of our own binary sets limits, lets the kernel refuse every path that was not
// given (Landlock), becomes a user without rights, and only then the program, with an
// environment that nothing before it has seen.
package confine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"tas-service/internal/sandbox"
)

// Command is the argument that makes our binary call Become.
const Command = "confine"

// Box runs programs through Become.
type Box struct {
	level sandbox.Level
	self  string
}

var _ sandbox.Box = (*Box)(nil)

// Plain answers a box without Landlock: at sandbox.OtherUser for root, else at
// sandbox.None.
func Plain() (*Box, error) {
	level := sandbox.None
	if os.Geteuid() == 0 {
		level = sandbox.OtherUser
	}
	return newBox(level)
}

func newBox(level sandbox.Level) (*Box, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return &Box{level: level, self: self}, nil
}

// Level is what the box was made for.
func (b *Box) Level() sandbox.Level { return b.level }

// Inside is the host's path: paths are refused, not moved.
func (b *Box) Inside(host, _ string) string { return host }

// orders are what the fresh process reads, from a descriptor and not from its arguments:
// the environment may hold what other users of the machine must not read.
type orders struct {
	Args     []string       `json:"args"`
	Env      []string       `json:"env"`
	Limits   sandbox.Limits `json:"limits"`
	User     int            `json:"user"` // to become; 0: stay who we are
	Landlock bool           `json:"landlock"`
	ReadOnly []string       `json:"readOnly"`
	Writable []string       `json:"writable"`
}

// readable is what programs need of the machine.
var readable = []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/ssl", "/etc/ca-certificates", "/etc/pki",
	"/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf", "/etc/services", "/etc/localtime",
	"/etc/fonts", "/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/passwd", "/etc/group",
	"/etc/mime.types", "/etc/os-release", "/var/cache/fontconfig", "/run/systemd/resolve", "/sys/devices/system/cpu", "/proc", "/nix/store"}

// writable are the devices that programs need. Not all of /dev: to root it holds the disks.
var writable = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm"}

// Command prepares a program; where it changes users, what it may write is handed over.
func (b *Box) Command(ctx context.Context, s sandbox.Spec) (*exec.Cmd, error) {
	o := orders{Args: s.Args, Env: s.Env, Limits: s.Limits, Landlock: b.level == sandbox.Landlock,
		ReadOnly: append([]string(nil), readable...), Writable: append([]string(nil), writable...)}
	for _, bind := range s.ReadOnly {
		o.ReadOnly = append(o.ReadOnly, bind.Host)
	}
	for _, bind := range s.Writable {
		o.Writable = append(o.Writable, bind.Host)
	}
	if os.Geteuid() == 0 {
		// Paths are not all: root can signal every process and change the network.
		o.User = s.User
		for _, bind := range s.Writable {
			if err := sandbox.HandOver(bind.Host, s.User); err != nil {
				return nil, err
			}
		}
	}
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	handed, err := sandbox.Handed(text)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, b.self, Command, fmt.Sprint(sandbox.FirstFile+len(s.Files)))
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = sandbox.CleanEnv(), s.Dir, s.Stdout, s.Stderr
	cmd.ExtraFiles = append(append([]*os.File(nil), s.Files...), handed)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	return cmd, nil
}

// Become carries out the orders on the descriptor that args names and becomes the
// program. It only returns with an error.
func Become(args []string) error {
	var fd uintptr
	if len(args) != 1 {
		return errors.New("usage: confine DESCRIPTOR")
	}
	if _, err := fmt.Sscan(args[0], &fd); err != nil || fd < sandbox.FirstFile {
		return fmt.Errorf("%q is no descriptor", args[0])
	}
	var o orders
	handed := os.NewFile(fd, "orders")
	if err := json.NewDecoder(handed).Decode(&o); err != nil {
		return fmt.Errorf("the orders cannot be read: %w", err)
	}
	handed.Close() //nolint:errcheck // read
	if len(o.Args) == 0 || !filepath.IsAbs(o.Args[0]) {
		return errors.New("the orders name no program by its full path")
	}
	if err := limit(o.Limits); err != nil {
		return fmt.Errorf("set limits: %w", err)
	}
	if o.Landlock {
		if err := restrict(o); err != nil {
			return fmt.Errorf("take rights away: %w", err)
		}
	}
	if o.User != 0 {
		if err := become(o.User); err != nil {
			return fmt.Errorf("become another user: %w", err)
		}
	}
	return syscall.Exec(o.Args[0], o.Args, o.Env)
}

func limit(l sandbox.Limits) error {
	set := func(what int, n uint64) error {
		return syscall.Setrlimit(what, &syscall.Rlimit{Cur: n, Max: n})
	}
	err := set(syscall.RLIMIT_CORE, 0)
	if l.FileSize > 0 {
		err = errors.Join(err, set(syscall.RLIMIT_FSIZE, uint64(l.FileSize)))
	}
	if l.OpenFiles > 0 {
		set(syscall.RLIMIT_NOFILE, uint64(l.OpenFiles)) //nolint:errcheck // the machine's own may be lower
	}
	return err
}
