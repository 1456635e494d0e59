//go:build race

package e2e

import (
	"fmt"
	"os"
	"os/exec"
)

// buildProgram builds the program like its tests: under the race detector it too finds races.
func buildProgram(to string) error {
	if out, err := exec.Command("go", "build", "-race", "-o", to, "..").CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	return nil
}

// A program under the race detector sleeps for a second before it ends, so that a race that is just being
// found is still reported. With hundreds of processes that would be most of their time.
func init() { os.Setenv("GORACE", os.Getenv("GORACE")+" atexit_sleep_ms=0") }
