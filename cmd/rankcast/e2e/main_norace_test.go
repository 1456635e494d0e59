//go:build !race

package e2e

import (
	"fmt"
	"os/exec"
	"path/filepath"
)

// builtVersion is the version of the program under test.
const builtVersion = "v1.2.3"

// buildProgram builds the program as users do. make test compiles the tests with the same settings, so this build only
// links.
func buildProgram(to string) error {
	env, err := cleanEnvironment(filepath.Dir(to))
	if err != nil {
		return err
	}
	build := exec.Command("make", "--no-print-directory", "-C", moduleRoot, "build", "BINARY="+to, "VERSION="+builtVersion)
	build.Env = env
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("make build: %w\n%s", err, out)
	}
	return nil
}
