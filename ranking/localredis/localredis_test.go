//go:build linux

package localredis_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/localredis"
	"rankcast/ranking/redistest"
)

// newDir makes a folder with a short name, for a directory "d" in it. No redis-server of the directory
// outlives the test.
func newDir(t *testing.T) string {
	base := redistest.Must(os.MkdirTemp("", "rc"))(t)
	t.Cleanup(func() { os.RemoveAll(base) })
	dir := filepath.Join(base, "d")
	t.Cleanup(func() { redistest.KillLocal(t, dir) })
	return dir
}

// start starts a server, which the end of the test closes.
func start(t *testing.T, dir string, fsync localredis.Fsync) (*localredis.Server, *redistest.Log) {
	t.Helper()
	log := new(redistest.Log)
	s, err := localredis.Start(t.Context(), localredis.Config{Dir: dir, Fsync: fsync, Log: slog.New(slog.NewTextHandler(log, nil))})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s, log
}

// refused starts a server that must not start, and returns the error.
func refused(t *testing.T, dir string) error {
	t.Helper()
	s, err := localredis.Start(t.Context(), localredis.Config{Dir: dir})
	if err == nil {
		s.Close()
	}
	require.Error(t, err)
	return err
}

// startOwner starts a server in a process of its own, which the end of the test kills.
func startOwner(t *testing.T, dir string) *exec.Cmd {
	owner := exec.Command(os.Args[0])
	owner.Env = append(os.Environ(), ownerEnv+"="+dir)
	out := redistest.Must(owner.StdoutPipe())(t)
	require.NoError(t, owner.Start())
	t.Cleanup(func() {
		owner.Process.Kill()
		redistest.Wait(t, "the end of owner", func() { owner.Wait() })
	})
	line := redistest.Must(bufio.NewReader(out).ReadString('\n'))(t)
	require.Equal(t, "started\n", line)
	return owner
}

// client returns a client of the redis-server of a directory.
func client(t *testing.T, dir string) *redis.Client {
	rdb := redis.NewClient(&redis.Options{Network: "unix", Addr: filepath.Join(dir, "redis.sock"), Protocol: 2, MaxRetries: -1})
	t.Cleanup(func() { rdb.Close() })
	return rdb
}

func pidOf(t *testing.T, rdb *redis.Client) int {
	t.Helper()
	info := redistest.Must(rdb.InfoMap(context.Background(), "server").Result())(t)
	return redistest.Must(strconv.Atoi(info["Server"]["process_id"]))(t)
}

func setting(t *testing.T, rdb *redis.Client, name string) string {
	t.Helper()
	all := redistest.Must(rdb.ConfigGet(t.Context(), name).Result())(t)
	return all[name]
}

// holds waits until Redis answers with a value.
func holds(t *testing.T, rdb *redis.Client, key, want string) {
	t.Helper()
	redistest.Eventually(t, "the value", func() error {
		got, err := rdb.Get(t.Context(), key).Result()
		if err == nil && got != want {
			err = fmt.Errorf("it is %q", got)
		}
		return err
	})
}

// The directory and its socket are for this user only. Its data are there at the next start, and Close ends
// redis-server.
func TestDataSurviveClose(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	s, _ := start(t, dir, localredis.Always)
	rdb := client(t, dir)
	require.Equal(t, "always", setting(t, rdb, "appendfsync"))
	require.Equal(t, "noeviction", setting(t, rdb, "maxmemory-policy"))
	require.Equal(t, "yes", setting(t, rdb, "lazyfree-lazy-expire"))
	require.Equal(t, "0", setting(t, rdb, "port"))
	for file, mode := range map[string]os.FileMode{"": 0o700, "redis.sock": 0o700, "appendonlydir": 0o700} {
		info := redistest.Must(os.Stat(filepath.Join(dir, file)))(t)
		require.Equal(t, mode, info.Mode().Perm(), file)
	}
	require.NoError(t, rdb.Set(t.Context(), "k", "v", 0).Err())
	pid := pidOf(t, rdb)
	s.Close()
	require.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH, "Close has waited for the end of redis-server")

	o := redistest.Must(redis.ParseURL(s.URL()))(t)
	require.Equal(t, filepath.Join(dir, "redis.sock"), o.Addr)
	start(t, dir, "")
	require.Equal(t, "everysec", setting(t, rdb, "appendfsync"))
	holds(t, rdb, "k", "v")
}

// A redis-server that is killed starts again with all it has acknowledged, also where its last write is in
// its file in part. The log has a line for the end, and one for the return.
func TestKilledRedisStartsAgain(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	_, log := start(t, dir, localredis.EverySecond)
	rdb := client(t, dir)
	for n := range 3 {
		require.NoError(t, rdb.Set(t.Context(), "k", n, 0).Err())
		pid := pidOf(t, rdb)
		appendTo(t, dir, "*3\r\n$3\r\nSET\r\n$1\r\nk")
		require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
		redistest.UntilEqual(t, "the number of returns in the log", n+1, func() int {
			return strings.Count(log.String(), `msg="redis-server runs again"`)
		})
		holds(t, rdb, "k", fmt.Sprint(n))
		require.NotEqual(t, pid, pidOf(t, rdb))
		require.Equal(t, n+1, strings.Count(log.String(),
			`msg="redis-server has ended; the node starts it again" reason="signal: killed`), log.String())
	}
}

// appendTo appends to the append-only file.
func appendTo(t *testing.T, dir, text string) {
	files := redistest.Must(filepath.Glob(filepath.Join(dir, "appendonlydir", "*.incr.aof")))(t)
	require.Len(t, files, 1)
	f := redistest.Must(os.OpenFile(files[0], os.O_WRONLY|os.O_APPEND, 0))(t)
	_, err := f.WriteString(text)
	require.NoError(t, errors.Join(err, f.Close()))
}

// The redis-server of an owner that was killed goes on. The next owner takes over the same process, with
// its own settings, starts it again when it ends, and ends it.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	owner := startOwner(t, dir)
	rdb := client(t, dir)
	require.NoError(t, rdb.Set(t.Context(), "k", "v", 0).Err())
	pid := pidOf(t, rdb)
	require.NoError(t, owner.Process.Kill())
	redistest.Wait(t, "the end of owner", func() { owner.Wait() })

	s, _ := start(t, dir, localredis.Always)
	require.Equal(t, pid, pidOf(t, rdb))
	require.Equal(t, "always", setting(t, rdb, "appendfsync"))
	s.Close()
	require.Error(t, rdb.Ping(t.Context()).Err(), "Close has waited for the end of redis-server")

	owner = startOwner(t, dir)
	require.NoError(t, owner.Process.Kill())
	redistest.Wait(t, "the end of owner", func() { owner.Wait() })
	start(t, dir, localredis.Always)
	require.NoError(t, syscall.Kill(pidOf(t, rdb), syscall.SIGKILL))
	holds(t, rdb, "k", "v")
	require.Equal(t, "always", setting(t, rdb, "appendfsync"))
}

// A directory has one owner. The error names the directory, the owner, and the URL by which to share the
// scores.
func TestDirectoryInUse(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	owner := startOwner(t, dir)
	err := refused(t, dir)
	require.ErrorIs(t, err, localredis.ErrInUse)
	require.ErrorContains(t, err, fmt.Sprintf("%s, process id %d: ", dir, owner.Process.Pid))
	require.ErrorContains(t, err, "--redis unix://"+dir+"/redis.sock")
	require.NoError(t, client(t, dir).Ping(t.Context()).Err(), "the owner goes on")
}

// A directory with other files is refused, and stays as it is. A copy of the data of another directory
// is not.
func TestDirectoryWithOtherFiles(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "thesis.tex"), nil, 0o600))
	require.ErrorContains(t, refused(t, dir), dir+" holds other files, such as thesis.tex")
	entries := redistest.Must(os.ReadDir(dir))(t)
	require.Len(t, entries, 1)

	file := filepath.Join(dir, "thesis.tex")
	require.ErrorContains(t, refused(t, file), "not a directory")

	first, copied := newDir(t), newDir(t)
	s, _ := start(t, first, "")
	require.NoError(t, client(t, first).Set(t.Context(), "k", "v", 0).Err())
	s.Close()
	require.NoError(t, os.CopyFS(filepath.Join(copied, "appendonlydir"), os.DirFS(filepath.Join(first, "appendonlydir"))))
	start(t, copied, "")
	holds(t, client(t, copied), "k", "v")
	require.NoError(t, os.WriteFile(filepath.Join(copied, "notes.txt"), nil, 0o600))
	_, err := localredis.Start(t.Context(), localredis.Config{Dir: copied})
	require.ErrorIs(t, err, localredis.ErrInUse, "notes in a directory of a node do no harm")
}

// The path of a socket has a limit; the error says so, and nothing is created.
func TestLongPath(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), strings.Repeat("x", 100))
	path := filepath.Join(dir, "redis.sock")
	require.ErrorContains(t, refused(t, dir), fmt.Sprintf("the path %s has %d bytes, and that of a unix socket has 107 at most",
		path, len(path)))
	require.NoDirExists(t, dir)
}

// Another redis-server at the socket may use the same files: Start refuses the directory.
func TestSocketOfAnotherRedis(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	require.NoError(t, os.Mkdir(dir, 0o700))
	other := redistest.Start(t)
	require.NoError(t, os.Link(strings.TrimPrefix(other.URL(), "unix://"), filepath.Join(dir, "redis.sock")))
	require.ErrorContains(t, refused(t, dir), fmt.Sprintf("process id %d, uses %s", other.Pid(), filepath.Join(dir, "redis.sock")))
	require.NoError(t, other.Admin().Ping(t.Context()).Err())
}

// A redis-server that ends at its start shows its last words.
func TestDataThatDoNotLoad(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	s, _ := start(t, dir, "")
	s.Close()
	appendTo(t, dir, "no command\r\n")
	err := refused(t, dir)
	require.ErrorContains(t, err, "redis-server does not start in "+dir+": exit status 1: ")
	require.ErrorContains(t, err, "Bad file format reading the append only file")
}

// The error without a redis-server says how to install one, and the error of an old one names its version.
func TestProgram(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	err := refused(t, newDir(t))
	require.ErrorIs(t, err, localredis.ErrNotInstalled)
	require.ErrorContains(t, err, "no redis-server is in PATH: ")
	page, readErr := os.ReadFile("../../web/docs/operations.md")
	require.NoError(t, readErr)
	for _, how := range []string{"apt-get install redis-server", "dnf install valkey", "apk add redis", "brew install redis"} {
		require.ErrorContains(t, err, how)
		require.Contains(t, string(page), "`"+how+"`")
	}
	program := filepath.Join(bin, "redis-server")
	require.NoError(t, os.WriteFile(program,
		[]byte("#!/bin/sh\necho 'Redis server v=6.2.7 sha=00000000:0 malloc=jemalloc-5.1.0 bits=64 build=1'\n"), 0o700))
	require.ErrorContains(t, refused(t, newDir(t)), program+" has version 6.2.7; want 7.0 or later")
	require.NoError(t, os.Rename(program, filepath.Join(bin, "valkey-server")))
	require.ErrorContains(t, refused(t, newDir(t)), "valkey-server has version 6.2.7")
}

// A directory is required, and Fsync has two values.
func TestConfig(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, refused(t, ""), "the name of the data directory is empty")
	dir := newDir(t)
	_, err := localredis.Start(t.Context(), localredis.Config{Dir: dir, Fsync: "no"})
	require.ErrorContains(t, err, `fsync is "no"; want everysec or always`)
	require.NoDirExists(t, dir)
}
