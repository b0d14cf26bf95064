package confine

import (
	"errors"
	"os"
	"runtime"
	"syscall"

	"github.com/landlock-lsm/go-landlock/landlock"
	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"tas-service/internal/sandbox"
)

// Landlock answers a box when the kernel has Landlock: Linux 5.13 or later, without
// rights or a helper program.
func Landlock() (*Box, error) {
	abi, err := llsys.LandlockGetABIVersion()
	if err != nil || abi < 1 {
		return nil, errors.New("this kernel has no Landlock")
	}
	return newBox(sandbox.Landlock)
}

// restrict has the kernel refuse every path but those of the orders.
func restrict(o orders) error {
	var paths []landlock.Rule
	for _, p := range o.ReadOnly {
		paths = append(paths, pathRule(p, landlock.RODirs, landlock.ROFiles)...)
	}
	for _, p := range o.Writable {
		paths = append(paths, pathRule(p, landlock.RWDirs, landlock.RWFiles)...)
	}
	// BestEffort: Landlock has seen that the kernel has it; newer kernels refuse more. The
	// second: no signals to, and no abstract sockets of, processes outside (Linux 6.12).
	return errors.Join(landlock.V6.BestEffort().RestrictPaths(paths...), landlock.V6.BestEffort().RestrictScoped())
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

// dieWithParent has the kernel kill the program when the worker is killed.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
