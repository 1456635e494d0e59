//go:build race

package e2etest

import (
	"fmt"
	"os/exec"
)

// buildProgram builds the program like its tests: under the race detector it too finds races.
func buildProgram(to string) error {
	if out, err := exec.Command("go", "build", "-race", "-o", to, ModuleRoot+"/cmd/rankcast").CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	return nil
}
