//go:build !linux

package bench

import "syscall"

// childAttributes has no attributes: this system cannot end a child with its parent.
func childAttributes() *syscall.SysProcAttr { return nil }
