//go:build !linux

package confine

import (
	"errors"
	"syscall"
)

var errLinuxOnly = errors.New("Landlock exists on Linux only")

// Landlock answers why there is no such box here.
func Landlock() (*Box, error) { return nil, errLinuxOnly }

func restrict(orders) error { return errLinuxOnly }

func become(user int) error {
	return errors.Join(syscall.Setgroups(nil), syscall.Setgid(user), syscall.Setuid(user))
}

// dieWithParent does nothing: only Linux has it. The runner ends with its connection.
func dieWithParent(*syscall.SysProcAttr) {}
