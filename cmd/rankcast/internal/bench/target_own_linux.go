package bench

import "syscall"

// childAttributes has a child end with this process, however that ends. The child gets a process group of its own, so
// that an interrupt from the terminal reaches this process alone, which ends its children in order.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
