//go:build !linux

package plain

import "syscall"

// dieWithParent does nothing: only Linux has it. The runner ends with its connection.
func dieWithParent(*syscall.SysProcAttr) {}
