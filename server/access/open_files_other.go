//go:build !unix

package access

// defaultSockets is unlimited: the system tells no limit of open files.
func defaultSockets() int { return Unlimited }
