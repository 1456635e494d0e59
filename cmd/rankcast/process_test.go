package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// binary is the program under test, built once.
var binary string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "rankcast")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		binary = filepath.Join(dir, "rankcast")
		if out, err := exec.Command("go", slices.Concat([]string{"build", "-o", binary}, buildFlags, []string{"."})...).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// process is a running rankcast.
type process struct {
	t    testing.TB
	cmd  *exec.Cmd
	addr string
	wg   sync.WaitGroup

	mu  sync.Mutex
	log bytes.Buffer
}

var servingAt = regexp.MustCompile(`msg=serving page=http://([^/]+)/`)

// launch runs "rankcast serve" and waits until it serves.
func launch(t testing.TB, args ...string) *process {
	if !slices.Contains(args, "--addr") {
		args = append(args, "--addr", "127.0.0.1:0")
	}
	p := &process{t: t, cmd: exec.Command(binary, append([]string{"serve"}, args...)...)}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stderr, err := p.cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	t.Cleanup(p.kill)
	serving := make(chan string, 1)
	p.wg.Go(func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			p.mu.Lock()
			fmt.Fprintln(&p.log, lines.Text())
			p.mu.Unlock()
			if at := servingAt.FindStringSubmatch(lines.Text()); at != nil {
				serving <- at[1]
			}
		}
		close(serving)
	})
	addr, ok := <-serving
	if !ok {
		t.Fatalf("rankcast did not start:\n%s", p.output())
	}
	p.addr = addr
	return p
}

func (p *process) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

func (p *process) kill() {
	p.cmd.Process.Kill()
	p.wg.Wait()
	p.cmd.Wait()
	if p.t.Failed() {
		p.t.Logf("%s said:\n%s", p.addr, p.output())
	}
}

func (p *process) post(board, body string) servertest.Answer {
	return servertest.Request(p.t, "POST", "http://"+p.addr+"/v1/boards/"+board+"/scores", body)
}

// ready waits until the process says that it is.
func (p *process) ready() {
	redistest.Eventually(p.t, "the node to be ready", func() error {
		if a := servertest.Request(p.t, "GET", "http://"+p.addr+"/readyz", ""); a.Status != 200 {
			return fmt.Errorf("%s", a.Body)
		}
		return nil
	})
}

// endsAs waits until a socket holds just what a node answers.
func endsAs(s *servertest.Socket, p *process, board string) {
	p.t.Helper()
	want, total := servertest.Top(p.t, p.addr, board, 10)
	s.Until(board, "the board", func(b *hubtest.Board) bool { return b.Total == total && fmt.Sprint(b.Top) == fmt.Sprint(want) })
}

// untilStale reads until the socket was told so.
func untilStale(s *servertest.Socket, stale bool) {
	for s.Stale == nil || *s.Stale != stale {
		s.Next("status")
	}
}

// Two nodes on one Redis that is killed, stays away, and comes back.
func TestTwoNodesAndAnOutage(t *testing.T) {
	r := redistest.Start(t)
	a, b := launch(t, "--redis", r.URL()), launch(t, "--redis", r.URL())
	a.ready()
	b.ready()
	onA, onB := servertest.Dial(t, a.addr), servertest.Dial(t, b.addr)
	onA.Subscribe("stars", 10)
	onB.Subscribe("stars", 10)
	for i := range 20 {
		answer := []*process{a, b}[i%2].post("stars", fmt.Sprintf(`{"member":"m%d","score":%d,"id":"%d"}`, i%7, i, i))
		require.Equal(t, 200, answer.Status, answer.Body)
	}
	endsAs(onA, b, "stars")
	endsAs(onB, a, "stars")

	r.Kill()
	untilStale(onA, true)
	untilStale(onB, true)
	for _, p := range []*process{a, b} {
		for _, method := range []string{"POST", "GET"} {
			path := map[string]string{"POST": "/scores", "GET": "/top"}[method]
			answer := servertest.Request(t, method, "http://"+p.addr+"/v1/boards/stars"+path, `{"member":"m1","score":5,"id":"during"}`)
			require.Equal(t, 503, answer.Status, answer.Body)
			require.Contains(t, answer.Body, `"code":"unavailable"`)
			require.NotEmpty(t, answer.Header.Get("Retry-After"))
		}
		readiness := servertest.Request(t, "GET", "http://"+p.addr+"/readyz", "")
		require.Equal(t, 503, readiness.Status)
		require.NotContains(t, readiness.Body, "redis.sock", "where the store is stays inside")
		require.Equal(t, 200, servertest.Request(t, "GET", "http://"+p.addr+"/healthz", "").Status)
	}
	late := servertest.Dial(t, a.addr)
	late.Send(`{"type":"subscribe","id":1,"board":"stars"}`)
	untilStale(late, true)

	r.Start()
	for _, s := range []*servertest.Socket{onA, onB, late} {
		untilStale(s, false)
	}
	require.Equal(t, 409, b.post("stars", `{"member":"m3","score":100,"id":"19"}`).Status, "an id from before the outage is still known")
	answer := a.post("stars", `{"member":"m3","score":100,"id":"after"}`)
	require.Equal(t, 200, answer.Status, answer.Body)
	for _, s := range []*servertest.Socket{onA, onB, late} {
		endsAs(s, a, "stars")
	}

	// A node that dies takes nobody else along.
	a.kill()
	require.Equal(t, 200, b.post("stars", `{"member":"m1","score":1000}`).Status)
	endsAs(onB, b, "stars")
	require.Equal(t, "m1", onB.Boards["stars"].Top[0].Member)
}

// A feed whose connection swallows everything, without ending, is noticed: its
// clients are told, and see what they missed.
func TestSilentConnection(t *testing.T) {
	r := redistest.Start(t)
	proxy := redistest.StartProxy(t, r.URL())
	a, b := launch(t, "--redis", r.URL()), launch(t, "--redis", proxy.URL(), "--probe-interval", "100ms")
	a.ready()
	b.ready()
	onB := servertest.Dial(t, b.addr)
	onB.Subscribe("stars", 10)
	require.Equal(t, 200, a.post("stars", `{"member":"before","score":1}`).Status)
	endsAs(onB, a, "stars")
	require.Equal(t, 1, proxy.Swallow())
	require.Equal(t, 200, a.post("stars", `{"member":"meanwhile","score":2}`).Status)
	untilStale(onB, true)
	untilStale(onB, false)
	endsAs(onB, a, "stars")
	require.Equal(t, 200, a.post("stars", `{"member":"after","score":3}`).Status)
	endsAs(onB, a, "stars")
	require.Equal(t, "after", onB.Boards["stars"].Top[0].Member)
}

// A Redis that accepts but does not answer: updates are answered 503 while it
// hangs, clients are told, and what was on its way counts once.
func TestRedisThatHangs(t *testing.T) {
	r := redistest.Start(t)
	p := launch(t, "--redis", r.URL())
	p.ready()
	s := servertest.Dial(t, p.addr)
	s.Subscribe("stars", 10)
	require.NoError(t, syscall.Kill(r.Pid(), syscall.SIGSTOP))
	for i := range 3 {
		answer := p.post("stars", fmt.Sprintf(`{"member":"m","score":1,"id":"%d"}`, i))
		require.Equal(t, 503, answer.Status, answer.Body)
		require.Contains(t, answer.Body, "same id")
	}
	untilStale(s, true)
	require.NoError(t, syscall.Kill(r.Pid(), syscall.SIGCONT))
	untilStale(s, false)
	for i := range 3 {
		redistest.Eventually(t, "the update to be taken", func() error {
			if answer := p.post("stars", fmt.Sprintf(`{"member":"m","score":1,"id":"%d"}`, i)); answer.Status != 200 {
				return fmt.Errorf("%s", answer.Body)
			}
			return nil
		})
	}
	endsAs(s, p, "stars")
	require.EqualValues(t, 3, s.Boards["stars"].Top[0].Score)
}

// A node that starts before its Redis waits for it.
func TestNodeStartsBeforeItsRedis(t *testing.T) {
	r := redistest.Start(t)
	r.Kill()
	p := launch(t, "--redis", r.URL())
	s := servertest.Dial(t, p.addr)
	s.Send(`{"type":"subscribe","id":1,"board":"stars"}`)
	untilStale(s, true)
	require.Equal(t, 503, p.post("stars", `{"member":"m","score":1}`).Status)
	r.Start()
	untilStale(s, false)
	require.Equal(t, 200, p.post("stars", `{"member":"m","score":1}`).Status)
	endsAs(s, p, "stars")
}

func TestDemoStartsWithNothingAndStopsGracefully(t *testing.T) {
	p := launch(t, "--demo")
	require.Contains(t, p.output(), "gone when this process stops")
	page := servertest.Request(t, "GET", "http://"+p.addr+"/", "")
	require.Equal(t, 200, page.Status)
	require.Contains(t, page.Header.Get("Content-Security-Policy"), "default-src 'none'")
	again := servertest.Request(t, "GET", "http://"+p.addr+"/", "", "If-None-Match", page.Header.Get("ETag"))
	require.Equal(t, 304, again.Status)
	s := servertest.Dial(t, p.addr)
	s.Subscribe("stars", 10)
	for range 3 {
		s.Next("delta", "snapshot")
	}
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, "drain", s.Next("bye").Reason)
	_, err := s.Read()
	require.Error(t, err)
	p.wg.Wait()
	require.NoError(t, p.cmd.Wait())
	require.Contains(t, p.output(), "msg=stopped")
}

// What a file or a Redis has stays as it is, and the demo sends what fits.
func TestDemoBesideOtherBoards(t *testing.T) {
	r := redistest.Start(t)
	file := write(t, "boards.yaml", `
boards:
  stars:         {mode: last}
  "fans:{who}":  {max: 0}
  givers-week:   {order: asc, keep: 2, period: hour}
events:
  other: [{board: stars, member: "{m}", score: 1}]
`)
	p := launch(t, "--redis", r.URL(), "--boards", file, "--demo")
	get := func(path string) string {
		a := servertest.Request(t, "GET", "http://"+p.addr+"/v1/"+path, "")
		require.Equal(t, 200, a.Status, a.Body)
		return a.Body
	}
	boards := get("boards")
	for _, want := range []string{`"board":"stars","mode":"last","order":"desc","ties":"first","kind"`, `"board":"fans:{who}"`, `"order":"asc","ties":"first","period":"hour"`, `"board":"givers-month"`, `"board":"laps"`} {
		require.Contains(t, boards, want)
	}
	require.NotContains(t, boards, "fans:{star}")
	for _, board := range []string{"stars", "givers-week", "givers-month", "laps"} {
		redistest.Eventually(t, "scores on "+board, func() error {
			if _, total := servertest.Top(t, p.addr, board, 1); total == 0 {
				return errors.New("none")
			}
			return nil
		})
	}
	require.Contains(t, get("events"), `"event":"gift"`)
	require.Contains(t, get("boards/fans:%7Bwho%7D/instances"), `"total":0`, "whose scores would all be too high")
	p.kill()

	// A gift of somebody else's.
	r = redistest.Start(t)
	file = write(t, "boards.yaml", "boards: {b: {}}\nevents: {gift: [{board: b, member: \"{m}\", score: 1}]}")
	p = launch(t, "--redis", r.URL(), "--boards", file, "--demo")
	require.Contains(t, get("events"), `"member":"{m}"`)
	redistest.Eventually(t, "laps", func() error {
		if _, total := servertest.Top(t, p.addr, "laps", 1); total == 0 {
			return errors.New("none")
		}
		return nil
	})
	_, total := servertest.Top(t, p.addr, "stars", 1)
	require.Zero(t, total)
	require.NotContains(t, p.output(), "ERROR")
}

func TestCommandLine(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	require.NoError(t, os.WriteFile(bad, []byte("boards: {laps: {mode: most}}"), 0o600))
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{nil, 0, "rankcast serve --redis"},
		{[]string{"--help"}, 0, "Examples:"},
		{[]string{"serve", "--help"}, 0, "--boards"},
		{[]string{"version"}, 0, "rankcast "},
		{[]string{"--version"}, 0, "rankcast "},
		{[]string{"serv"}, 80, "unexpected argument serv"},
		{[]string{"serve", "--boards", bad}, 1, "boards.laps.mode"},
		{[]string{"serve", "--boards", "/nowhere.yaml"}, 80, "nowhere"},
		{[]string{"serve", "--addr", "127.0.0.1:0", "--redis", "mongodb://x"}, 1, `scheme "mongodb"`},
		{[]string{"serve", "--addr", "nonsense"}, 1, "listen"},
		{[]string{"serve", "--interval", "-1s"}, 80, "--interval"},
		{[]string{"serve", "--max-top", "1001"}, 80, "--max-top"},
		{[]string{"serve", "--prefix", "a{b}"}, 80, "--prefix"},
		{[]string{"serve", "--origins", "https://example.com,example.org"}, 80, `--origins: "example.org": want http://`},
		{[]string{"serve", "--webhook", "receiver.example", "--webhook-secret", "x"}, 80, "--webhook: want http://"},
		{[]string{"serve", "--webhook", "https://receiver.example"}, 80, "RANKCAST_WEBHOOK_SECRET): is empty"},
		{[]string{"serve", "--webhook", "https://receiver.example", "--webhook-secret", "whsec_?"}, 80, "want base64"},
		{[]string{"serve", "--webhook-top", "101"}, 80, "--webhook-top"},
		{[]string{"serve", "--webhook-boards", "stars"}, 80, "needs --webhook"},
		{[]string{"serve", "--webhook", "https://receiver.example", "--webhook-secret", "x", "--webhook-boards", "stars,fans:s17"}, 80, `"fans:s17"`},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		cmd := exec.CommandContext(ctx, binary, c.args...)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = io.Writer(&out), &out
		cmd.Run()
		cancel()
		require.Equal(t, c.code, cmd.ProcessState.ExitCode(), "%v: %s", c.args, out.String())
		require.Contains(t, out.String(), c.says, "%v", c.args)
	}
}
