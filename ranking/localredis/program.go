package localredis

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
)

// leastVersion is the oldest major version of Redis that the scripts run on. The first version of
// Valkey is 7.2.
const leastVersion = 7

// versionOf finds the version in what redis-server --version prints.
var versionOf = regexp.MustCompile(`\bv=((\d+)[.\d]*)`)

// Find returns the path of the redis-server of this machine, or of its valkey-server. It returns
// ErrNotInstalled if there is neither.
func Find() (path string, err error) {
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err = exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", ErrNotInstalled
}

// checkVersion returns an error if a redis-server is too old.
func checkVersion(ctx context.Context, program string) error {
	out, err := exec.CommandContext(ctx, program, "--version").Output()
	if err != nil {
		return fmt.Errorf("%s --version: %w", program, err)
	}
	found := versionOf.FindSubmatch(out)
	if found == nil {
		return fmt.Errorf("%s --version prints no version: %q", program, out)
	}
	if major, err := strconv.Atoi(string(found[2])); err != nil || major < leastVersion {
		return fmt.Errorf("%s has version %s; want %d.0 or later", program, found[1], leastVersion)
	}
	return nil
}
