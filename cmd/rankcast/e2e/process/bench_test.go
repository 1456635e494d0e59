package process

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/prometheus/procfs"
	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/redistest"
	"rankcast/server/access"
)

// benchReport is what rankcast bench --json prints.
type benchReport struct {
	Work    string `json:"work"`
	Columns []struct {
		Name   string             `json:"name"`
		Rounds []struct{}         `json:"rounds"`
		Ratios map[string]float64 `json:"ratios"`
		Median struct {
			Figures map[string]float64 `json:"figures"`
			Errors  map[string]int64   `json:"errors"`
		} `json:"median"`
	} `json:"columns"`
}

// runBench runs rankcast bench, and requires that all it did went well. It leaves no file behind.
func runBench(t *testing.T, args ...string) (r benchReport) {
	dir := t.TempDir()
	got := e2etest.RunWith(t, []string{"TMPDIR=" + dir}, "", append(append([]string{"bench"}, args...), "--json")...)
	require.Zero(t, got.Code, got.Stderr)
	require.Empty(t, got.Stderr, "there is no progress on a pipe")
	require.NoError(t, json.Unmarshal([]byte(got.Stdout), &r), got.Stdout)
	require.Equal(t, args[0], r.Work)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
	for _, c := range r.Columns {
		require.Empty(t, c.Median.Errors, c.Name)
		require.Positive(t, c.Median.Figures["done"], c.Name)
		require.Positive(t, c.Median.Figures["per_second"], c.Name)
		require.Positive(t, c.Median.Figures["p50_ms"], c.Name)
		require.LessOrEqual(t, c.Median.Figures["p50_ms"], c.Median.Figures["max_ms"], c.Name)
	}
	return r
}

// names are the names of the columns.
func (r benchReport) names() (all []string) {
	for _, c := range r.Columns {
		all = append(all, c.Name)
	}
	return all
}

// Each work runs against a node and a Redis of the command. What callers do in a closed loop has the bare commands
// beside it. Sockets show the end right, and each update was sent.
func TestBench(t *testing.T) {
	t.Parallel()
	closed := func(work string, args ...string) {
		t.Run(work, func(t *testing.T) {
			t.Parallel()
			r := runBench(t, append([]string{work, "--duration", "300ms", "--callers", "4"}, args...)...)
			require.Equal(t, []string{"rankcast", "bare"}, r.names())
			require.Contains(t, r.Columns[0].Median.Figures, "node_cpu_us")
			require.Contains(t, r.Columns[0].Median.Figures, "redis_cpu_us")
			require.Positive(t, r.Columns[1].Ratios["per_second"])
		})
	}
	closed("gifts", "--users", "50", "--stars", "5")
	closed("updates", "--members", "50", "--batch", "3")
	closed("reads", "--members", "50")
	closed("ranks", "--members", "50")
	open := func(work string, sockets int, args ...string) {
		t.Run(work, func(t *testing.T) {
			t.Parallel()
			// At this rate the node sends deltas. At a higher one all ten rows change between two frames, and it sends snapshots.
			r := runBench(t, append([]string{work, "--rate", "50", "--duration", "300ms"}, args...)...)
			require.Equal(t, []string{"rankcast"}, r.names())
			f := r.Columns[0].Median.Figures
			require.EqualValues(t, 15, f["done"])
			require.EqualValues(t, sockets, f["sockets"])
			require.EqualValues(t, sockets, f["sockets_right"])
			require.Contains(t, f, "node_bytes_per_socket")
			require.Contains(t, f, "redis_cpu_us")
		})
	}
	open("fanout", 30, "--members", "200", "--watchers", "30", "--batch", "5")
	open("follow", 20, "--members", "200", "--followers", "20")
	open("show", 20, "--users", "200", "--viewers", "20", "--stars", "4", "--nodes", "3", "--batch", "5")
	t.Run("join", func(t *testing.T) {
		t.Parallel()
		r := runBench(t, "join", "--sockets", "40", "--rate", "400", "--members", "20")
		require.EqualValues(t, 40, r.Columns[0].Median.Figures["done"])
		require.Contains(t, r.Columns[0].Median.Figures, "node_bytes_per_socket")
	})
	t.Run("versus", func(t *testing.T) {
		t.Parallel()
		r := runBench(t, "updates", "--duration", "500ms", "--callers", "2", "--members", "20", "--versus", e2etest.Binary, "--rounds", "2")
		require.Equal(t, []string{"this", "versus", "bare"}, r.names())
		for _, c := range r.Columns {
			require.Len(t, c.Rounds, 2, c.Name)
		}
		require.Positive(t, r.Columns[1].Ratios["per_second"])
	})
}

// With --url the command measures a server that is there, with a key, on boards of its own, which it deletes. It leaves
// out what it cannot know.
func TestBenchOfAServer(t *testing.T) {
	t.Parallel()
	admin, reader := access.NewKey(), access.NewKey()
	p := e2etest.Launch(t, "--access", e2etest.Write(t, "access.yaml", "keys:\n"+keyLine("ops", admin, "scopes: [admin]")+
		keyLine("reader", reader,
			"scopes: [read], boards: ['*']")),
		"--redis", redistest.Start(t).URL())
	key := e2etest.Write(t, "key", admin+"\n")
	at := []string{"--url", "http://" + p.Addr, "--key-file", key}
	boards := func() string {
		return p.Request("GET", "/v1/boards", "", "Authorization", "Bearer "+admin).Body
	}
	before := boards()
	for _, args := range [][]string{
		{"gifts", "--users", "20", "--stars", "4", "--callers", "2", "--duration", "500ms"},
		{"fanout", "--watchers", "5", "--members", "20", "--rate", "100", "--duration", "500ms"},
	} {
		r := runBench(t, append(args, at...)...)
		require.Equal(t, []string{"rankcast"}, r.names(), "there are no bare commands")
		require.NotContains(t, r.Columns[0].Median.Figures, "node_cpu_us")
		require.NotContains(t, r.Columns[0].Median.Figures, "redis_cpu_us")
		require.Contains(t, r.Columns[0].Median.Figures, "generator_cpu_us")
		require.Equal(t, before, boards())
	}

	got := e2etest.Run(t, "", append([]string{"bench", "reads", "--members", "20", "--callers", "2", "--duration", "500ms"}, at...)...)
	require.Zero(t, got.Code, got.Stderr)
	require.Regexp(t, `(?m)^reads done +\d`, got.Stdout)
	require.Contains(t, got.Stdout, "of a server at a URL")
	require.NotContains(t, got.Stdout, "Redis CPU")

	got = e2etest.Run(t, "", "bench", "reads", "--url", "http://"+p.Addr)
	got.Fails(t, 1, "give a key: --key-file FILE, or the variable RANKCAST_KEY")
	got = e2etest.RunWith(t, []string{"RANKCAST_KEY=" + reader}, "", "bench", "reads", "--url", "http://"+p.Addr)
	got.Fails(t, 1, `the key "reader" lacks the scope`)
	require.Equal(t, before, boards())
}

// childrenOf are the processes whose parent is a process.
func childrenOf(t *testing.T, parent int) (all []int) {
	processes, err := procfs.AllProcs()
	require.NoError(t, err)
	for _, process := range processes {
		stat, err := process.Stat()
		if err != nil {
			continue // the process has ended meanwhile
		}
		if stat.PPID == parent {
			all = append(all, process.PID)
		}
	}
	return all
}

// An interrupt ends the node and the Redis of the command, and removes their folder.
func TestBenchThatIsInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.Command(e2etest.Binary, "bench", "updates", "--members", "1000", "--callers", "1", "--duration", "5m")
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, cmd.Start())
	defer cmd.Wait()
	defer cmd.Process.Kill()
	var children []int
	redistest.Eventually(t, "a node and a Redis", func() error {
		if children = childrenOf(t, cmd.Process.Pid); len(children) != 2 {
			return fmt.Errorf("%d children", len(children))
		}
		return nil
	})
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	cmd.Wait()
	require.Equal(t, 1, cmd.ProcessState.ExitCode(), stderr.String())
	require.Equal(t, "rankcast: interrupted\n", stderr.String())
	require.Empty(t, stdout.String())
	for _, pid := range children {
		require.True(t, errors.Is(syscall.Kill(pid, 0), syscall.ESRCH), "process %d is still there", pid)
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

// A flag that is wrong is named.
func TestBenchFlags(t *testing.T) {
	t.Parallel()
	for says, args := range map[string]string{
		"--callers must be from 1 to 10000": "updates --callers 0", "--duration must be from 10ms": "reads --duration 1ms",
		"--batch must be from 1 to 1000": "updates --batch 1001",
		"--stars must be from 1 to 10":   "gifts --users 10 --stars 11", "--members must be from 10": "fanout --members 9",
		"--rate must be from 1":    "join --rate 0",
		"--members must be from 5": "follow --followers 5 --members 4", "--viewers must be from 1": "show --viewers 0",
		"--stars must be from 1 to 5":       "show --viewers 5 --stars 6",
		"--nodes has no effect with --url":  "show --nodes 2 --url http://127.0.0.1:1",
		"--versus has no effect with --url": "reads --url http://127.0.0.1:1 --versus " + e2etest.Binary,
		"--url: server URL":                 "reads --url ftp://127.0.0.1", "unexpected argument nothing": "nothing",
		"unknown flag --stars": "reads --stars 3",
	} {
		got := e2etest.Run(t, "", append([]string{"bench"}, strings.Fields(args)...)...)
		require.NotZero(t, got.Code, args)
		require.Contains(t, got.Stderr, says, args)
	}
	got := e2etest.RunWith(t, []string{"PATH=/nowhere"}, "", "bench", "reads")
	got.Fails(t, 1, "no redis-server is in PATH", "measure a running server with --url URL")
}
