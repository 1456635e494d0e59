package e2e

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
	"rankcast/ranking"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// process is a running rankcast serve.
type process struct {
	t    testing.TB
	cmd  *exec.Cmd
	addr string
	wg   sync.WaitGroup

	started chan string // gets the address, and is closed when the log has ended

	mu  sync.Mutex
	log bytes.Buffer
}

var servingAt = regexp.MustCompile(`msg=serving page=https?://([^/]+)/`)

// launch starts rankcast serve and waits until it serves. The process ends with the test.
func launch(t testing.TB, args ...string) *process { return launchWith(t, nil, args...) }

// launchWith is launch with more variables.
func launchWith(t testing.TB, env []string, args ...string) *process {
	return launchProgram(t, binary, env, args...)
}

// launchProgram is launchWith of a program of any version.
func launchProgram(t testing.TB, program string, env []string, args ...string) *process {
	return startProcess(t, serveCommand(program, env, args...), servingAt)
}

// serveCommand is the command for rankcast serve, on a free port unless args name one.
func serveCommand(program string, env []string, args ...string) *exec.Cmd {
	if !slices.Contains(args, "--addr") {
		args = append(args, "--addr", "127.0.0.1:0")
	}
	cmd := exec.Command(program, append([]string{"serve"}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	return cmd
}

// startProcess starts a command of rankcast and waits until its log has a line that matches at, whose group is the
// address of the process. The process ends with the test.
func startProcess(t testing.TB, cmd *exec.Cmd, at *regexp.Regexp) *process {
	p, err := begin(cmd, at)
	require.NoError(t, err)
	p.t = t
	t.Cleanup(p.kill)
	if p.addr = redistest.Receive(t, "rankcast to start", p.started); p.addr == "" {
		t.Fatalf("rankcast did not start:\n%s", p.output())
	}
	return p
}

// begin starts a command of rankcast. The caller waits for started, and ends the process.
func begin(cmd *exec.Cmd, at *regexp.Regexp) (*process, error) {
	p := &process{cmd: cmd, started: make(chan string, 1)}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.wg.Go(func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			p.mu.Lock()
			fmt.Fprintln(&p.log, lines.Text())
			p.mu.Unlock()
			if found := at.FindStringSubmatch(lines.Text()); found != nil {
				p.started <- found[1]
			}
		}
		close(p.started)
	})
	return p, nil
}

func (p *process) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

func (p *process) kill() {
	p.cmd.Process.Kill()
	p.ended()
	if p.t.Failed() {
		p.t.Logf("%s said:\n%s", p.addr, p.output())
	}
}

// terminate sends SIGTERM and does not wait.
func (p *process) terminate() { require.NoError(p.t, p.cmd.Process.Signal(syscall.SIGTERM)) }

// ended waits until the process has ended by itself, and returns its exit code.
func (p *process) ended() int {
	redistest.Wait(p.t, "rankcast to end", func() {
		p.wg.Wait()
		p.cmd.Wait()
	})
	return p.cmd.ProcessState.ExitCode()
}

// post sends updates to a board by submit. They must have no ids.
func (p *process) post(board, body string) servertest.Answer {
	p.t.Helper()
	return p.submit("/v1/boards/"+board+"/scores", body)
}

// submit posts as a client does that loses no update and counts none twice: with an id, and after a 503 again. On a
// busy machine, the store may take longer than the node waits for it.
func (p *process) submit(path, body string) (a servertest.Answer) {
	p.t.Helper()
	id := rand.Text()
	redistest.Eventually(p.t, "the node to take an update", func() error {
		if a = servertest.Request(p.t, "POST", "http://"+p.addr+path, body, "Idempotency-Key", id); a.Status == 503 {
			return errors.New(a.Body)
		}
		return nil
	})
	return a
}

// postOnce sends updates to a board once, also if the node refuses them.
func (p *process) postOnce(board, body string) servertest.Answer {
	return servertest.Request(p.t, "POST", "http://"+p.addr+"/v1/boards/"+board+"/scores", body)
}

// ready waits until the process reports that it is ready.
func (p *process) ready() {
	redistest.Eventually(p.t, "the node to be ready", func() error {
		if a := servertest.Request(p.t, "GET", "http://"+p.addr+"/readyz", ""); a.Status != 200 {
			return fmt.Errorf("%s", a.Body)
		}
		return nil
	})
}

// refuses waits until the process reports that it is not ready, with this text in the reason.
func (p *process) refuses(reason string) {
	p.t.Helper()
	redistest.Eventually(p.t, "the node not to be ready", func() error { return p.notReady(reason) })
}

// notReady returns an error unless the process reports that it is not ready, with this text in the reason.
func (p *process) notReady(reason string) error {
	if a := servertest.Request(p.t, "GET", "http://"+p.addr+"/readyz", ""); a.Status != 503 || !strings.Contains(a.Body, reason) {
		return fmt.Errorf("%d %s", a.Status, a.Body)
	}
	return nil
}

// endsAs waits until the socket shows the board as the node answers it.
func endsAs(s *servertest.Socket, p *process, board string) {
	p.t.Helper()
	want, total := servertest.Top(p.t, p.addr, board, 10)
	s.Until(board, "the board", func(b *hubtest.Board) bool { return b.Total == total && fmt.Sprint(b.Top) == fmt.Sprint(want) })
}

// untilStale reads frames until a status frame says that the boards are stale, or that they
// are not.
func untilStale(s *servertest.Socket, stale bool) {
	for s.Stale == nil || *s.Stale != stale {
		s.Next("status")
	}
}

// ran is the result of a command.
type ran struct {
	code           int
	stdout, stderr string
}

func run(t *testing.T, stdin string, args ...string) ran { return runWith(t, nil, stdin, args...) }

// runUntil is run, again until the output has says: on a busy machine Redis may take longer than the program waits for it.
func runUntil(t *testing.T, says string, args ...string) (got ran) {
	t.Helper()
	redistest.Eventually(t, says, func() error {
		if got = run(t, "", args...); !strings.Contains(got.stdout+got.stderr, says) {
			return errors.New(got.stdout + got.stderr)
		}
		return nil
	})
	return got
}

// runWith runs a command with more variables.
func runWith(t *testing.T, env []string, stdin string, args ...string) ran {
	ctx, cancel := context.WithTimeout(t.Context(), servertest.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = append(os.Environ(), env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	cmd.Run()
	return ran{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

func write(t testing.TB, name, text string) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// openStore opens a store on Redis until the end of the test.
func openStore(t testing.TB, url string) *ranking.Store {
	rdb := redistest.Dial(t, url)
	store := ranking.New(rdb, ranking.Config{CallTimeout: redistest.CallTimeout})
	t.Cleanup(store.Close)
	return store
}

// dataDir returns a directory for --data, with a short name. Its redis-server ends with the test, after the
// nodes.
func dataDir(t *testing.T) string {
	base, err := os.MkdirTemp("", "rc")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(base) })
	return dataDirIn(t, base)
}

func dataDirIn(t *testing.T, base string) string {
	dir := filepath.Join(base, "d")
	t.Cleanup(func() { redistest.KillLocal(t, dir) })
	return dir
}

// logs waits until the log of a process has a text.
func (p *process) logs(text string) {
	p.t.Helper()
	redistest.Eventually(p.t, fmt.Sprintf("%q in the log", text), func() error {
		if log := p.output(); !strings.Contains(log, text) {
			return fmt.Errorf("the log:\n%s", log)
		}
		return nil
	})
}

// stop sends SIGTERM, waits until the process has ended, and requires the exit code 0.
func (p *process) stop() {
	p.t.Helper()
	p.terminate()
	require.Zero(p.t, p.ended(), "exit code")
}

// launchShared starts rankcast serve for all tests of a package. It ends after the last test.
func launchShared(args ...string) (*process, error) {
	p, err := begin(serveCommand(binary, nil, args...), servingAt)
	if err != nil {
		return nil, err
	}
	atEnd(func() {
		p.cmd.Process.Kill()
		p.wg.Wait()
		p.cmd.Wait()
	})
	p.addr = <-p.started // the caller bounds this wait
	return p, nil
}

// is requires that a command ended with a code and printed nothing else.
func (got ran) is(t testing.TB, code int, stdout, stderr string) {
	t.Helper()
	require.Equal(t, ran{code, stdout, stderr}, got)
}
