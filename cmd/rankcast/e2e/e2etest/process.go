package e2etest

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

// Process is a running rankcast serve.
type Process struct {
	T    testing.TB
	Cmd  *exec.Cmd
	Addr string // HOST:PORT
	wg   sync.WaitGroup

	started chan string // gets the address, and is closed when the log has ended

	mu  sync.Mutex
	log bytes.Buffer
}

var servingAt = regexp.MustCompile(`msg=serving page=https?://([^/]+)/`)

// Launch starts rankcast serve and waits until it serves. The process ends with the test.
func Launch(t testing.TB, args ...string) *Process { return LaunchWith(t, nil, args...) }

// LaunchBoards is Launch with the text of a boards file.
func LaunchBoards(t testing.TB, boards string, args ...string) *Process {
	return Launch(t, append(args, "--boards", Write(t, "boards.yaml", boards))...)
}

// LaunchWith is Launch with more variables.
func LaunchWith(t testing.TB, env []string, args ...string) *Process {
	return LaunchProgram(t, Binary, env, args...)
}

// LaunchProgram is LaunchWith of a program of any version.
func LaunchProgram(t testing.TB, program string, env []string, args ...string) *Process {
	return StartProcess(t, serveCommand(program, env, args...), servingAt)
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

// StartProcess starts a command of rankcast and waits until its log has a line that matches at, whose group is the
// address of the process. The process ends with the test.
func StartProcess(t testing.TB, cmd *exec.Cmd, at *regexp.Regexp) *Process {
	p, err := begin(cmd, at)
	require.NoError(t, err)
	p.T = t
	t.Cleanup(p.Kill)
	if p.Addr = redistest.Receive(t, "rankcast to start", p.started); p.Addr == "" {
		t.Fatalf("rankcast did not start:\n%s", p.Output())
	}
	return p
}

// begin starts a command of rankcast. The caller waits for started, and ends the process.
func begin(cmd *exec.Cmd, at *regexp.Regexp) (*Process, error) {
	p := &Process{Cmd: cmd, started: make(chan string, 1)}
	p.Cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stderr, err := p.Cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := p.Cmd.Start(); err != nil {
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

// Output is the log until now.
func (p *Process) Output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// Kill sends SIGKILL and waits.
func (p *Process) Kill() {
	p.Cmd.Process.Kill()
	p.Ended()
	if p.T.Failed() {
		p.T.Logf("%s said:\n%s", p.Addr, p.Output())
	}
}

// Terminate sends SIGTERM and does not wait.
func (p *Process) Terminate() { require.NoError(p.T, p.Cmd.Process.Signal(syscall.SIGTERM)) }

// Ended waits until the process has ended by itself, and returns its exit code.
func (p *Process) Ended() int {
	redistest.Wait(p.T, "rankcast to end", func() {
		p.wg.Wait()
		p.Cmd.Wait()
	})
	return p.Cmd.ProcessState.ExitCode()
}

// Request sends a request to the node. headers are names and values.
func (p *Process) Request(method, path, body string, headers ...string) servertest.Answer {
	p.T.Helper()
	return servertest.Request(p.T, method, "http://"+p.Addr+path, body, headers...)
}

// Answers requires that the node answers a request with a status.
func (p *Process) Answers(status int, method, path, body string, headers ...string) {
	p.T.Helper()
	a := p.Request(method, path, body, headers...)
	require.Equal(p.T, status, a.Status, a.Body)
}

// Post sends updates to a board by Submit. They must have no ids.
func (p *Process) Post(board, body string) servertest.Answer {
	p.T.Helper()
	return p.Submit("/v1/boards/"+board+"/scores", body)
}

// Scores is the body of updates: a member and its score, and the next ones.
func Scores(pairs ...any) string {
	var updates []string
	for i := 0; i < len(pairs); i += 2 {
		updates = append(updates, fmt.Sprintf(`{"member":%q,"score":%d}`, pairs[i], pairs[i+1]))
	}
	return `{"updates":[` + strings.Join(updates, ",") + `]}`
}

// Update is Post of updates that the node takes.
func (p *Process) Update(board, body string) {
	p.T.Helper()
	a := p.Post(board, body)
	require.Equal(p.T, 200, a.Status, a.Body)
}

// Submit posts as a client does that loses no update and counts none twice: with an id, and after a 503 again. On a
// busy machine, the store may take longer than the node waits for it.
func (p *Process) Submit(path, body string) (a servertest.Answer) {
	p.T.Helper()
	id := rand.Text()
	redistest.Eventually(p.T, "the node to take an update", func() error {
		if a = p.Request("POST", path, body, "Idempotency-Key", id); a.Status == 503 {
			return errors.New(a.Body)
		}
		return nil
	})
	return a
}

// PostOnce sends updates to a board once, also if the node refuses them.
func (p *Process) PostOnce(board, body string) servertest.Answer {
	return p.Request("POST", "/v1/boards/"+board+"/scores", body)
}

// Ready waits until the process reports that it is ready.
func (p *Process) Ready() {
	redistest.Eventually(p.T, "the node to be ready", func() error {
		if a := p.Request("GET", "/readyz", ""); a.Status != 200 {
			return fmt.Errorf("%s", a.Body)
		}
		return nil
	})
}

// Refuses waits until the process reports that it is not ready, with this text in the reason.
func (p *Process) Refuses(reason string) {
	p.T.Helper()
	redistest.Eventually(p.T, "the node not to be ready", func() error { return p.NotReady(reason) })
}

// NotReady returns an error unless the process reports that it is not ready, with this text in the reason.
func (p *Process) NotReady(reason string) error {
	if a := p.Request("GET", "/readyz", ""); a.Status != 503 || !strings.Contains(a.Body, reason) {
		return fmt.Errorf("%d %s", a.Status, a.Body)
	}
	return nil
}

// EndsAs waits until the socket shows the board as the node answers it.
func EndsAs(s *servertest.Socket, p *Process, board string) {
	p.T.Helper()
	want, total := servertest.Top(p.T, p.Addr, board, 10)
	s.Until(board, "the board", func(b *hubtest.Board) bool { return b.Total == total && fmt.Sprint(b.Top) == fmt.Sprint(want) })
}

// UntilStale reads frames until a status frame says that the boards are stale, or that they
// are not.
func UntilStale(s *servertest.Socket, stale bool) {
	for s.Stale == nil || *s.Stale != stale {
		s.Next("status")
	}
}

// Ran is the result of a command.
type Ran struct {
	Args           []string
	Code           int
	Stdout, Stderr string
}

// Run runs a command and waits for its end.
func Run(t *testing.T, stdin string, args ...string) Ran { return RunWith(t, nil, stdin, args...) }

// RunUntil is Run, again until the output has says: on a busy machine Redis may take longer than the program waits for it.
func RunUntil(t *testing.T, says string, args ...string) (got Ran) {
	t.Helper()
	redistest.Eventually(t, says, func() error {
		if got = Run(t, "", args...); !strings.Contains(got.Stdout+got.Stderr, says) {
			return errors.New(got.Stdout + got.Stderr)
		}
		return nil
	})
	return got
}

// RunWith runs a command with more variables.
func RunWith(t *testing.T, env []string, stdin string, args ...string) Ran {
	ctx, cancel := context.WithTimeout(t.Context(), servertest.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, Binary, args...)
	cmd.Env = append(os.Environ(), env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	cmd.Run()
	return Ran{args, cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// Write writes a file into a folder of its own, and returns its path.
func Write(t testing.TB, name, text string) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// OpenStore opens a store on Redis until the end of the test.
func OpenStore(t testing.TB, url string) *ranking.Store {
	rdb := redistest.Dial(t, url)
	store := ranking.New(rdb, ranking.Config{CallTimeout: redistest.CallTimeout})
	t.Cleanup(store.Close)
	return store
}

// DataDir returns a directory for --data, with a short name. Its redis-server ends with the test, after the
// nodes.
func DataDir(t *testing.T) string {
	base, err := os.MkdirTemp("", "rc")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(base) })
	return DataDirIn(t, base)
}

// DataDirIn is DataDir in a folder.
func DataDirIn(t *testing.T, base string) string {
	dir := filepath.Join(base, "d")
	t.Cleanup(func() { redistest.KillLocal(t, dir) })
	return dir
}

// Logs waits until the log of a process has a text.
func (p *Process) Logs(text string) {
	p.T.Helper()
	redistest.Eventually(p.T, fmt.Sprintf("%q in the log", text), func() error {
		if log := p.Output(); !strings.Contains(log, text) {
			return fmt.Errorf("the log:\n%s", log)
		}
		return nil
	})
}

// Stop sends SIGTERM, waits until the process has ended, and requires the exit code 0.
func (p *Process) Stop() {
	p.T.Helper()
	p.Terminate()
	require.Zero(p.T, p.Ended(), "exit code")
}

// LaunchShared starts rankcast serve for all tests of a package. It ends after the last test.
func LaunchShared(args ...string) (*Process, error) {
	p, err := begin(serveCommand(Binary, nil, args...), servingAt)
	if err != nil {
		return nil, err
	}
	atEnd(func() {
		p.Cmd.Process.Kill()
		p.wg.Wait()
		p.Cmd.Wait()
	})
	p.Addr = <-p.started // the caller bounds this wait
	return p, nil
}

// Is requires that a command ended with a code and printed nothing else.
func (got Ran) Is(t testing.TB, code int, stdout, stderr string) {
	t.Helper()
	require.Equal(t, Ran{got.Args, code, stdout, stderr}, got)
}

// Fails requires that a command ended with a code and printed these texts to its standard error.
func (got Ran) Fails(t testing.TB, code int, says ...string) {
	t.Helper()
	require.Equal(t, code, got.Code, "%q: %s%s", got.Args, got.Stdout, got.Stderr)
	for _, text := range says {
		require.Contains(t, got.Stderr, text, "%q", got.Args)
	}
}

// Succeeds requires that a command ended well and printed these texts.
func (got Ran) Succeeds(t testing.TB, says ...string) {
	t.Helper()
	require.Zero(t, got.Code, "%q: %s%s", got.Args, got.Stdout, got.Stderr)
	for _, text := range says {
		require.Contains(t, got.Stdout, text, "%q", got.Args)
	}
}
