package localredis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"

	"rankcast/ranking/internal/redisconn"
)

// socketName is the name of the socket in a directory.
const socketName = "redis.sock"

// versionOf finds the version in what redis-server --version prints.
var versionOf = regexp.MustCompile(`\bv=((\d+)[.\d]*)`)

// Find returns the path of the redis-server of this machine, or of its valkey-server. It returns ErrNotInstalled if there
// is neither, and an error for one that is too old.
func Find(ctx context.Context) (path string, err error) {
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err = exec.LookPath(name); err == nil {
			return path, checkVersion(ctx, path)
		}
	}
	return "", ErrNotInstalled
}

// Running returns the URL of the redis-server that runs in a directory, or "" if none runs there. It changes nothing. It
// returns an error if it cannot find out, as for a directory of another user.
func Running(ctx context.Context, dir string) (url string, err error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	path = filepath.Join(path, socketName)
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", path)
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ECONNREFUSED) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	conn.Close()
	return socketURL(path), nil
}

// socketURL is the URL of a Redis at a unix socket.
func socketURL(path string) string {
	u := url.URL{Scheme: "unix", Path: path}
	return u.String()
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
	if major, err := strconv.Atoi(string(found[2])); err != nil || major < redisconn.LeastMajor {
		return fmt.Errorf("%s has version %s; want %d.0 or later", program, found[1], redisconn.LeastMajor)
	}
	return nil
}
