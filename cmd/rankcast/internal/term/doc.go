// Package term prepares text for a terminal, and waits for input and output that a context cannot interrupt.
// Each function may be called concurrently.
package term
