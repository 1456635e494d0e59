package faults

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/redistest"
	"rankcast/server/client"
	"rankcast/server/servertest"
)

// twoStores is what each command says of two stores.
const twoStores = "--data and --redis cannot be used together: with --data the node runs a Redis of its own"

// redisPid is the process id of the redis-server of a directory.
func redisPid(t *testing.T, dir string) int {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "redis.lock"))
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	require.NoError(t, err)
	return pid
}

// Boards and scores outlive a node with --data. The node ends its redis-server last, and a Ctrl-C in its
// terminal does not reach redis-server.
func TestDataSurvivesStop(t *testing.T) {
	t.Parallel()
	dir := e2etest.DataDir(t)
	p := e2etest.LaunchBoards(t, "boards: {points: {}}", "--data", dir)
	require.Equal(t, 200, p.PostOnce("points", `{"member":"ana","score":40,"id":"1"}`).Status)
	require.NotContains(t, p.Output(), "level=WARN", "nothing to warn of")
	pid := redisPid(t, dir)
	session, err := unix.Getsid(pid)
	require.NoError(t, err)
	require.Equal(t, pid, session, "redis-server is in a session of its own")
	p.Stop()
	require.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH, "redis-server has ended before the node")
	require.NotContains(t, p.Output(), "redis-server", "all roles end before redis-server does")

	p = e2etest.Launch(t, "--data", dir)
	answer := p.PostOnce("points", `{"member":"ana","score":40,"id":"1"}`)
	require.Contains(t, answer.Body, `"score":40`)
	require.Contains(t, answer.Body, `"duplicate":true`)
}

// SIGKILL ends redis-server, the node, and both, while updates with ids flow: each acknowledged update is
// there, and counts once.
func TestDataSurvivesKills(t *testing.T) {
	t.Parallel()
	dir := e2etest.DataDir(t)
	addr := fmt.Sprintf("127.0.0.1:%d", redistest.FreePort(t))
	n := &faultNode{t: t, client: newClient(t, addr), args: []string{"--data", dir, "--fsync", "always", "--addr", addr,
		"--boards", e2etest.Write(t, "boards.yaml", faultBoards)}}
	n.start()
	const senders = 3
	l := startLoad(t, []*faultNode{n}, senders)
	killRedis := func() { require.NoError(t, syscall.Kill(redisPid(t, dir), syscall.SIGKILL)) }
	goesOn := func() {
		t.Helper()
		l.untilAnswered(200, time.Now(), 20*senders)
	}
	goesOn()
	for range 2 {
		killed := time.Now()
		killRedis()
		l.untilAnswered(503, killed, 1)
		goesOn() // the node starts redis-server again

		n.Kill()
		n.start() // the node takes redis-server over
		goesOn()

		killed = time.Now()
		n.Kill()
		killRedis()
		l.untilAnswered(0, killed, 1)
		n.start()
		goesOn()
	}
	l.finish()
	n.Stop()
	n.start()
	for board := range written {
		page, err := n.client.Top(t.Context(), board, client.Query{Limit: 1000})
		require.NoError(t, err)
		require.Equal(t, l.ledger[board], scoresOf(page.Top), "board %s", board)
	}
}

// A second node shares the scores by --redis, and is refused the directory. The redis-server of a killed node
// goes on for the other nodes, and the next node takes the same process over.
func TestDataOfTwoNodes(t *testing.T) {
	t.Parallel()
	dir := e2etest.DataDir(t)
	first := e2etest.Launch(t, "--data", dir)
	second := e2etest.Launch(t, "--redis", "unix://"+dir+"/redis.sock")
	second.Ready()
	first.Update("stars", `{"member":"ana","score":1}`)
	require.Contains(t, second.Post("stars", `{"member":"ana","score":1}`).Body, `"score":2`)
	got := e2etest.Run(t, "", "serve", "--addr", "127.0.0.1:0", "--data", dir)
	require.Equal(t, 1, got.Code)
	require.Contains(t, got.Stderr, fmt.Sprintf("rankcast: --data: another node uses this data directory: %s, process id %d: ",
		dir, first.Cmd.Process.Pid))
	require.Contains(t, got.Stderr, "--redis unix://"+dir+"/redis.sock")

	pid := redisPid(t, dir)
	first.Kill()
	require.Contains(t, second.Post("stars", `{"member":"ana","score":1}`).Body, `"score":3`)
	first = e2etest.Launch(t, "--data", dir)
	require.Equal(t, pid, redisPid(t, dir))
	first.Logs(fmt.Sprintf("takes over the redis-server that an earlier node left behind\" dir=%s pid=%d", dir, pid))
	require.Contains(t, first.Post("stars", `{"member":"ana","score":1}`).Body, `"score":4`)
	first.Stop()
	redistest.Eventually(t, "the second node to lose its Redis", func() error { return second.NotReady("") })
}

// A node serves while its redis-server still loads: it is alive, and accepts updates once the data are there.
func TestDataThatLoadsSlowly(t *testing.T) {
	t.Parallel()
	dir := e2etest.DataDir(t)
	p := e2etest.Launch(t, "--data", dir)
	require.Equal(t, 200, p.PostOnce("stars", `{"member":"ana","score":40,"id":"1"}`).Status)
	rdb := redis.NewClient(&redis.Options{Network: "unix", Addr: filepath.Join(dir, "redis.sock"), Protocol: 2})
	defer rdb.Close()
	_, err := rdb.Pipelined(t.Context(), func(all redis.Pipeliner) error {
		for i := range 4000 {
			all.Set(t.Context(), fmt.Sprint("other:", i), "", 0)
		}
		return nil
	})
	require.NoError(t, err)
	p.Stop()

	p = e2etest.LaunchWith(t, wrapRedis(t, `exec %s "$@" --key-load-delay 2000`), "--data", dir) // µs for each write: eight seconds
	p.Answers(200, "GET", "/healthz", "")
	redistest.Eventually(t, "the data", func() error {
		if answer := p.PostOnce("stars", `{"member":"ana","score":40,"id":"1"}`); !strings.Contains(answer.Body, `"duplicate":true`) {
			return errors.New(answer.Body)
		}
		return nil
	})
}

// wrapRedis returns the environment of a node whose redis-server is a script. The script has %s in place of
// the path of the real one.
func wrapRedis(t *testing.T, script string) []string {
	program, err := exec.LookPath("redis-server")
	require.NoError(t, err)
	bin := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bin, "redis-server"), fmt.Appendf(nil, "#!/bin/sh\n"+script+"\n", program), 0o700))
	return []string{"PATH=" + bin + ":" + os.Getenv("PATH")}
}

// A directory that cannot serve is refused with the reason, and so is a machine without redis-server.
func TestDataThatCannotBe(t *testing.T) {
	t.Parallel()
	other := t.TempDir()
	require.NoError(t, os.Chmod(other, 0o700)) // whatever the umask is
	require.NoError(t, os.WriteFile(filepath.Join(other, "a.txt"), nil, 0o600))
	long := filepath.Join(t.TempDir(), strings.Repeat("x", 100))
	dir := e2etest.DataDir(t)
	nothing := []string{"PATH=" + t.TempDir()}
	for name, c := range map[string]struct {
		env    []string
		args   []string
		reason string
	}{
		"no redis-server": {nothing, []string{"--data", dir},
			"--data: no redis-server is in PATH: install one (Debian, Ubuntu: apt-get install redis-server; "},
		"other files":      {nil, []string{"--data", other}, "--data: the directory " + other + " holds other files, such as a.txt"},
		"a file":           {nil, []string{"--data", filepath.Join(other, "a.txt")}, "a.txt: not a directory"},
		"too long":         {nil, []string{"--data", long}, "--data: the path " + long + "/redis.sock has "},
		"--redis too":      {nil, []string{"--data", dir, "--redis", "redis://127.0.0.1:1"}, twoStores},
		"--fsync alone":    {nil, []string{"--fsync", "always"}, "--fsync needs --data"},
		"--fsync variable": {[]string{"RANKCAST_DATA=" + dir, "RANKCAST_FSYNC=never"}, nil, `--fsync is "never"; want everysec or always`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := e2etest.RunWith(t, c.env, "", append([]string{"serve", "--addr", "127.0.0.1:0"}, c.args...)...)
			require.NotZero(t, got.Code, got.Stderr)
			require.Contains(t, got.Stderr, c.reason)
			require.NoDirExists(t, dir)
		})
	}
}

// disk is a place for --data that a test can fill.
type disk struct {
	dir        string
	env        []string // of the node
	fill, free func()
	limited    bool // only redis-server finds it full
}

// mayMount reports whether the tests may mount file systems.
func mayMount(t *testing.T) bool {
	at := t.TempDir()
	return unix.Mount("tmpfs", at, "tmpfs", 0, "size=8m") == nil && unix.Unmount(at, 0) == nil
}

// smallDisk mounts a file system of its own.
func smallDisk(t *testing.T) disk {
	base, err := os.MkdirTemp("", "rc")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(base) })
	require.NoError(t, unix.Mount("tmpfs", base, "tmpfs", 0, "size=8m"))
	t.Cleanup(func() {
		// A child of redis-server that writes a file may end after it.
		redistest.Eventually(t, "the file system to be at rest", func() error { return unix.Unmount(base, 0) })
	})
	filler := filepath.Join(base, "filler")
	return disk{dir: e2etest.DataDirIn(t, base),
		fill: func() {
			err := os.WriteFile(filler, make([]byte, 16<<20), 0o600)
			require.ErrorIs(t, err, unix.ENOSPC)
		},
		free: func() { require.NoError(t, os.Remove(filler)) },
	}
}

// limitedDisk limits the size of the files that redis-server may write (RLIMIT_FSIZE), also of those that the
// node starts later. It works on each machine.
func limitedDisk(t *testing.T) disk {
	dir := e2etest.DataDir(t)
	limit := filepath.Join(t.TempDir(), "limit") // in blocks of 512 bytes
	env := wrapRedis(t, `trap '' XFSZ
if [ -s `+limit+` ]; then ulimit -S -f "$(cat `+limit+`)"; fi
exec %s "$@"`)
	set := func(bytes uint64) {
		err := unix.Prlimit(redisPid(t, dir), unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: bytes, Max: unix.RLIM_INFINITY}, nil)
		if !errors.Is(err, unix.ESRCH) { // it may have ended, and the next one reads the file
			require.NoError(t, err)
		}
	}
	return disk{dir: dir, env: env, limited: true,
		fill: func() {
			files, err := filepath.Glob(filepath.Join(dir, "appendonlydir", "*.incr.aof"))
			require.NoError(t, err)
			require.Len(t, files, 1)
			info, err := os.Stat(files[0])
			require.NoError(t, err)
			blocks := info.Size() / 512
			require.NoError(t, os.WriteFile(limit, fmt.Append(nil, blocks), 0o600))
			set(uint64(blocks) * 512)
		},
		free: func() {
			require.NoError(t, os.Remove(limit))
			set(unix.RLIM_INFINITY)
		},
	}
}

// On a full disk updates get 503, with the reason. Once the disk has room, the node goes on by itself, and
// all acknowledged updates are there.
func TestDataOnFullDisk(t *testing.T) {
	t.Parallel()
	disks := map[string]func(*testing.T) disk{"limit": limitedDisk}
	if mayMount(t) {
		disks["file system"] = smallDisk
	}
	for name, newDisk := range disks {
		for _, fsync := range []string{"everysec", "always"} {
			t.Run(name+"/"+fsync, func(t *testing.T) {
				t.Parallel()
				onFullDisk(t, newDisk(t), fsync)
			})
		}
	}
}

func onFullDisk(t *testing.T, d disk, fsync string) {
	p := e2etest.LaunchWith(t, d.env, "--data", d.dir, "--fsync", fsync)
	sent := 0 // updates 0 to sent-1 are acknowledged; each is of another member
	send := func() servertest.Answer {
		return p.PostOnce("stars", fmt.Sprintf(`{"member":"m%[1]d","score":%[1]d,"id":"%[1]d","data":{"x":%[2]q}}`, sent,
			strings.Repeat("x", 200)))
	}
	for ; sent < 40; sent++ {
		answer := send()
		require.Equal(t, 200, answer.Status, answer.Body)
	}
	d.fill()
	const most = 1000
	var answer servertest.Answer
	for ; sent < most; sent++ {
		if answer = send(); answer.Status != 200 {
			break
		}
	}
	require.Equal(t, 503, answer.Status, answer.Body)
	switch reason := map[string]string{
		"everysec": "MISCONF Errors writing to the AOF file",
		"always":   "NOREPLICAS Not enough good replicas to write.",
	}[fsync]; {
	case fsync == "always" && d.limited: // the node starts redis-server, which ends at the next update
		p.Logs("Can't recover from AOF write error when the AOF fsync policy is 'always'")
	default:
		p.Refuses(reason)
		redistest.Eventually(t, "an answer with the reason", func() error {
			if answer = send(); answer.Status != 503 || !strings.Contains(answer.Body, reason) {
				return fmt.Errorf("%d %s", answer.Status, answer.Body)
			}
			return nil
		})
		_, total := servertest.Top(t, p.Addr, "stars", 10)
		require.EqualValues(t, sent, total, "reads go on, and what was refused does not count")
	}

	d.free()
	redistest.Eventually(t, "the node to accept an update", func() error {
		if answer = send(); answer.Status != 200 {
			return fmt.Errorf("%d %s", answer.Status, answer.Body)
		}
		return nil
	})
	sent++
	p.Ready()
	holdsAll := func() {
		t.Helper()
		page, err := newClient(t, p.Addr).Top(t.Context(), "stars", client.Query{Limit: 1000})
		require.NoError(t, err)
		require.Len(t, page.Top, sent)
		for i, e := range page.Top {
			require.EqualValues(t, sent-1-i, e.Score, e.Member)
		}
	}
	holdsAll()
	p.Stop()
	p = e2etest.LaunchWith(t, d.env, "--data", d.dir)
	holdsAll()
}

// A node that stops while its redis-server has acknowledged what the full disk does not hold leaves the
// process running. The next node takes it over, and nothing is lost.
func TestStopOnFullDisk(t *testing.T) {
	t.Parallel()
	d := limitedDisk(t)
	p := e2etest.LaunchWith(t, d.env, "--data", d.dir)
	p.Update("stars", `{"member":"m","score":1}`)
	d.fill()
	score := int64(1)
	for p.PostOnce("stars", `{"member":"m","score":1}`).Status == 200 {
		score++
	}
	pid := redisPid(t, d.dir)
	p.Stop()
	require.Contains(t, p.Output(), "redis-server keeps running, because the full disk does not hold all its scores")
	p = e2etest.LaunchWith(t, d.env, "--data", d.dir)
	require.Equal(t, pid, redisPid(t, d.dir))
	top, _ := servertest.Top(t, p.Addr, "stars", 1)
	require.Equal(t, score, top[0].Score)
	d.free()
	p.Ready()
	p.Stop()
	p = e2etest.LaunchWith(t, d.env, "--data", d.dir)
	top, _ = servertest.Top(t, p.Addr, "stars", 1)
	require.Equal(t, score, top[0].Score)
}
