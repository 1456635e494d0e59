//go:build race

package e2e

import "os"

// buildFlags build the program like its tests: under the race detector it too
// finds races.
var buildFlags = []string{"-race"}

// A program under the race detector sleeps for a second before it ends, so that a race that is just being
// found is still reported. With hundreds of processes that would be most of their time.
func init() { os.Setenv("GORACE", os.Getenv("GORACE")+" atexit_sleep_ms=0") }
