package redistest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// StartShifted is Start for a server whose clock the test shifts while the server runs: shift sets
// the distance to the clock of this machine. Only the time of day moves, as when an operator sets
// it. The package faketime does that; a Go program, such as a node, does not ask the library that
// faketime replaces.
func StartShifted(t testing.TB, args ...string) (r *Redis, shift func(time.Duration)) {
	dir := tempDir(t)
	socket, offset := filepath.Join(dir, "redis.sock"), filepath.Join(dir, "offset")
	shift = func(by time.Duration) {
		// The server may read the file at any moment, so a whole file takes its place.
		require.NoError(t, os.WriteFile(offset+".new", fmt.Appendf(nil, "%+d\n", int64(by.Seconds())), 0o600))
		require.NoError(t, os.Rename(offset+".new", offset))
	}
	shift(0)
	r = server(t, dir, "unix://"+socket, append([]string{"--port", "0", "--unixsocket", socket}, args...)...)
	r.env = []string{
		// The C library comes second so that its malloc takes the place of jemalloc, which asks for
		// the time before the library of faketime is ready for that.
		"LD_PRELOAD=" + fakeClock(t) + ":libc.so.6", "FAKETIME_TIMESTAMP_FILE=" + offset, "FAKETIME_NO_CACHE=1",
		"FAKETIME_DONT_FAKE_MONOTONIC=1", // else the server's timers would jump too
	}
	r.Start()
	return r, shift
}

// fakeClock finds the library of the package faketime.
func fakeClock(t testing.TB) string {
	for _, pattern := range []string{"/usr/lib/*/faketime/libfaketime.so.1", "/usr/lib*/faketime/libfaketime.so.1",
		"/usr/lib*/libfaketime.so.1", "/usr/local/lib/faketime/libfaketime.so.1"} {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return found[0]
		}
	}
	t.Fatal("the tests of Redis's clock need faketime: apt-get install -y --no-install-recommends faketime")
	return ""
}
