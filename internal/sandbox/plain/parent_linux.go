package plain

import "syscall"

// dieWithParent has the kernel kill the program when the worker is killed.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
