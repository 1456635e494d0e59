//go:build !race

package e2etest

import (
	"fmt"
	"os/exec"
	"path/filepath"
)

// BuiltVersion is the version of the program under test.
const BuiltVersion = "v1.2.3"

// buildProgram builds the program as users do. make test compiles the tests with the same settings, so this build only
// links.
func buildProgram(to string) error {
	env, err := CleanEnvironment(filepath.Dir(to))
	if err != nil {
		return err
	}
	build := exec.Command("make", "--no-print-directory", "-C", ModuleRoot, "build", "BINARY="+to, "VERSION="+BuiltVersion)
	build.Env = env
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("make build: %w\n%s", err, out)
	}
	return nil
}
