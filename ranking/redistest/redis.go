package redistest

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/embedded"
)

// Engines runs a test on the embedded store and on a real Redis, as Both does.
func Engines(t *testing.T, test func(t *testing.T, url string)) {
	Both(t, func(t *testing.T) { test(t, Embedded(t)) }, func(t *testing.T) { test(t, Start(t).URL()) })
}

// OnEngines is Engines for a test that runs side by side with other tests.
func OnEngines(t *testing.T, test func(t *testing.T, url string)) {
	t.Parallel()
	Engines(t, test)
}

// Both runs the form of a test for the embedded store and that for a real Redis, side by side: they begin when the
// function that calls Both returns. Under the race detector only that for Redis runs. The goroutines of the program are
// the same in both, and the detector slows the scripts of the embedded store down ten times.
func Both(t *testing.T, embedded, redis func(t *testing.T)) {
	if !underRace {
		t.Run("embedded", func(t *testing.T) {
			t.Parallel()
			embedded(t)
		})
	}
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		redis(t)
	})
}

// Volume returns how much of a volume n, of random cases or of members, a test has on the
// engine at url that Engines gave it: n on a real Redis, a fifth of n on the embedded store.
// The embedded store takes several times as long, and large boards live on a real Redis.
func Volume(url string, n int) int {
	if strings.HasPrefix(url, "unix:") {
		return n
	}
	return max(n/5, 1)
}

// Embedded starts an embedded store for a test and returns its URL.
func Embedded(t testing.TB) string {
	s, err := embedded.Start()
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s.URL()
}

// Redis is a redis-server process of one test. It keeps its data when the test kills it and
// starts it again.
type Redis struct {
	t    testing.TB
	dir  string
	args []string
	env  []string // beside that of the test
	url  string
	out  bytes.Buffer
	cmd  *exec.Cmd
	done chan struct{} // closed when cmd has ended

	admin *redis.Client
}

// Start starts a redis-server on a unix socket and waits until it answers. args are further
// options of redis-server. The test kills the server at its end.
func Start(t testing.TB, args ...string) *Redis {
	dir := tempDir(t)
	socket := filepath.Join(dir, "redis.sock")
	return start(t, dir, "unix://"+socket, append([]string{"--port", "0", "--unixsocket", socket}, args...)...)
}

// InMemory holds the options of Start for benchmarks: the server writes nothing to disk.
var InMemory = []string{"--appendonly", "no"}

func start(t testing.TB, dir, url string, args ...string) *Redis {
	r := server(t, dir, url, args...)
	r.Start()
	return r
}

// server is a server that is not started yet. The test kills it when it ends.
func server(t testing.TB, dir, url string, args ...string) *Redis {
	r := &Redis{t: t, dir: dir, url: url, args: append([]string{
		"--dir", dir, "--save", "", "--appendonly", "yes", "--appendfsync", "no", "--lazyfree-lazy-expire", "yes",
		"--daemonize", "no", "--loglevel", "warning"}, args...)}
	t.Cleanup(r.Kill)
	return r
}

// tempDir makes a folder with a short name: the path of a unix socket has at most 107 bytes.
func tempDir(t testing.TB) string {
	dir, err := os.MkdirTemp("", "rc")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	dir, err = filepath.EvalSymlinks(dir) // as a server names it
	require.NoError(t, err)
	return dir
}

// URL returns the URL that ranking.Open takes.
func (r *Redis) URL() string { return r.url }

// Pid is the server's process id.
func (r *Redis) Pid() int { return r.cmd.Process.Pid }

// Start starts the server again after Kill, and waits until it answers.
func (r *Redis) Start() { require.NoError(r.t, r.launch()) }

// launch starts the process and waits until the process answers. The process ends when it
// finds its port taken.
func (r *Redis) launch() error {
	path, err := exec.LookPath("redis-server")
	require.NoError(r.t, err, "the tests need a real Redis: apt-get install -y --no-install-recommends redis-server")
	r.cmd = exec.Command(path, r.args...)
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.out
	r.cmd.Env = append(os.Environ(), r.env...)
	// The server must not outlive a test that is killed.
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(r.t, r.cmd.Start())
	r.done = make(chan struct{})
	go func(cmd *exec.Cmd, done chan struct{}) {
		defer close(done)
		cmd.Wait()
	}(r.cmd, r.done)
	var ended error
	Eventually(r.t, "redis-server to answer", func() error {
		select {
		case <-r.done:
			ended = fmt.Errorf("redis-server ended: %s", r.out.String())
			return nil
		default:
		}
		if err := r.Admin().Ping(context.Background()).Err(); err != nil {
			return err
		}
		// A server of another test may have the port.
		dir, err := r.Admin().ConfigGet(context.Background(), "dir").Result()
		if err == nil && dir["dir"] != r.dir {
			err = fmt.Errorf("the server of %q answers", dir["dir"])
		}
		return err
	})
	return ended
}

// Kill ends the server as a crash does. It has no effect on a server that is not running.
func (r *Redis) Kill() {
	if r.cmd != nil && r.cmd.Process != nil {
		r.cmd.Process.Kill()
		<-r.done
		r.cmd = nil
	}
}

// Suspend makes the server hang, with all connections open. It does not answer until Resume.
func (r *Redis) Suspend() { require.NoError(r.t, syscall.Kill(r.Pid(), syscall.SIGSTOP)) }

// Resume ends Suspend.
func (r *Redis) Resume() { require.NoError(r.t, syscall.Kill(r.Pid(), syscall.SIGCONT)) }

// Admin returns a plain client of the server, for commands that a test sends without Rankcast.
func (r *Redis) Admin() *redis.Client {
	if r.admin == nil {
		o, err := redis.ParseURL(r.url)
		require.NoError(r.t, err)
		o.Protocol = 2
		r.admin = redis.NewClient(o)
		r.t.Cleanup(func() { r.admin.Close() })
	}
	return r.admin
}

// AppURL creates the ACL user app with these rules, or gives it these in place of its rules. It
// returns the URL by which the user connects.
func (r *Redis) AppURL(rules ...string) string {
	const password = "pw"
	args := []any{"ACL", "SETUSER", "app", "resetkeys", "resetchannels", "-@all", "on", ">" + password}
	for _, rule := range rules {
		args = append(args, rule)
	}
	require.NoError(r.t, r.Admin().Do(r.t.Context(), args...).Err())
	return strings.Replace(r.url, "://", "://app:"+password+"@", 1)
}

// Digest returns a digest of all data, of a server that was started with WithDebug.
func (r *Redis) Digest() string {
	digest, err := r.Admin().Do(r.t.Context(), "DEBUG", "DIGEST").Text()
	require.NoError(r.t, err)
	return digest
}

// WithDebug holds the options of Start for Digest.
var WithDebug = []string{"--enable-debug-command", "yes"}

// FreePort finds a port that no socket uses, and neither the port 10,000 above, which a
// node of a cluster takes as well. Both are below the ports that Linux gives to connections
// and listeners of other tests, from 32,768 on.
func FreePort(t testing.TB) int {
	free := func(port int) bool {
		l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port))
		if err != nil {
			return false
		}
		l.Close()
		return true
	}
	for range 100 {
		if port := 10_000 + rand.IntN(12_000); free(port) && free(port+10_000) {
			return port
		}
	}
	t.Fatal("no free port between 10,000 and 22,000")
	return 0
}

// startOnPort starts a server on a port of its own. args are further options of redis-server.
func startOnPort(t testing.TB, args ...string) (node *Redis, port int) {
	const tries = 10 // another process may take the port before the node does
	var err error
	for range tries {
		port = FreePort(t)
		node = server(t, tempDir(t), fmt.Sprintf("redis://127.0.0.1:%d", port),
			append([]string{"--bind", "127.0.0.1", "--port", fmt.Sprint(port)}, args...)...)
		if err = node.launch(); err == nil {
			return node, port
		}
	}
	t.Fatal(err)
	return nil, 0
}
