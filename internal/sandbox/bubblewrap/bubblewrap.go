// Package bubblewrap runs programs in namespaces of their own with bwrap: a process tree
// that dies as one, and a file system in which nothing of the service exists.
package bubblewrap

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"tas-service/internal/sandbox"
)

// sharedMemory bounds /dev/shm, in bytes: browsers need some of it.
const sharedMemory = "1073741824"

// Box runs programs under bwrap.
type Box struct{ bwrap string }

var _ sandbox.Box = (*Box)(nil)

// New answers a box when bwrap is installed and works here.
func New(ctx context.Context) (*Box, error) {
	path, err := exec.LookPath("bwrap")
	if err != nil {
		return nil, errors.New("bubblewrap is not installed")
	}
	b := &Box{bwrap: path}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd, err := b.Command(ctx, sandbox.Spec{Args: []string{"/bin/sh", "-c", ":"}, Dir: "/"})
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := sandbox.Start(cmd); err != nil {
		return nil, err
	}
	if err := cmd.Wait(); err != nil {
		return nil, errors.New("bubblewrap does not work here: " + out.String())
	}
	return b, nil
}

// Level is sandbox.Bubblewrap.
func (b *Box) Level() sandbox.Level { return sandbox.Bubblewrap }

// Inside is always the preferred path, the same for each run.
func (b *Box) Inside(_, preferred string) string { return preferred }

// system is what programs need of the machine: programs, libraries, certificates, name
// resolution, fonts, the time zone. Nothing with secrets or of the service.
var system = []string{
	"/etc/ssl", "/etc/ca-certificates", "/etc/pki", "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf",
	"/etc/gai.conf", "/etc/services", "/etc/protocols", "/etc/localtime", "/etc/timezone", "/etc/fonts", "/etc/alternatives",
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/mime.types", "/etc/os-release", "/nix/store",
	"/var/cache/fontconfig", "/sys/devices/system/cpu",
}

// Command prepares a program under bwrap.
func (b *Box) Command(ctx context.Context, s sandbox.Spec) (*exec.Cmd, error) {
	args := []string{b.bwrap,
		"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
		"--uid", "1000", "--gid", "1000", "--hostname", "tas", "--die-with-parent", "--new-session", "--cap-drop", "ALL",
		"--ro-bind", "/usr", "/usr", "--proc", "/proc", "--dev", "/dev", "--size", sharedMemory, "--tmpfs", "/dev/shm",
	}
	for _, dir := range []string{"/bin", "/sbin", "/lib", "/lib64", "/lib32"} {
		info, err := os.Lstat(dir)
		switch {
		case err != nil:
		case info.Mode()&os.ModeSymlink != 0:
			target, err := os.Readlink(dir)
			if err != nil {
				return nil, err
			}
			args = append(args, "--symlink", target, dir)
		default:
			args = append(args, "--ro-bind", dir, dir)
		}
	}
	for _, path := range system {
		// A link may point out of what is bound (resolv.conf often does): bind its target.
		if real, err := filepath.EvalSymlinks(path); err == nil {
			args = append(args, "--ro-bind", real, path)
		}
	}
	args = append(args, mounts(s)...)
	// The root and /dev lie in memory, which no quota counts: nothing is written there.
	args = append(args, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", s.Dir, "--clearenv")
	for _, e := range s.Env {
		name, value, _ := strings.Cut(e, "=")
		args = append(args, "--setenv", name, value)
	}
	// By a descriptor: arguments can be read by every user of the machine.
	handed, err := sandbox.Handed([]byte(strings.Join(args[1:], "\x00") + "\x00"))
	if err != nil {
		return nil, err
	}
	args = append([]string{b.bwrap, "--args", strconv.Itoa(sandbox.FirstFile + len(s.Files)), "--"}, s.Args...)
	args = sandbox.WithLimits(s.Limits, args)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = sandbox.CleanEnv(), "/", s.Stdout, s.Stderr
	cmd.ExtraFiles = append(append([]*os.File(nil), s.Files...), handed)
	// Killing bwrap takes its process namespace, and all that lives in it, along.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	return cmd, nil
}

// mounts answers the binds, parents before what lies below them, so that a writable
// folder may hold a read-only one and the other way round.
func mounts(s sandbox.Spec) []string {
	type mount struct {
		flag string
		bind sandbox.Bind
	}
	var all []mount
	for _, b := range s.ReadOnly {
		all = append(all, mount{"--ro-bind", b})
	}
	for _, b := range s.Writable {
		all = append(all, mount{"--bind", b})
	}
	slices.SortStableFunc(all, func(a, b mount) int {
		return cmp.Compare(strings.Count(a.bind.Inside, "/"), strings.Count(b.bind.Inside, "/"))
	})
	var args []string
	for _, m := range all {
		args = append(args, m.flag, m.bind.Host, m.bind.Inside)
	}
	return args
}
