//go:build !race

package docs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// shell runs the commands of a block, in a process group of its own. Its output goes to a file.
type shell struct {
	cmd   *exec.Cmd
	out   string        // name of the file
	ended chan struct{} // closed when bash has ended
	gone  chan struct{} // closed when all processes of the group have
	err   error         // of bash, once ended
	wg    sync.WaitGroup
}

// startShell runs commands. In a terminal they find one as their input and output.
func startShell(ctx context.Context, dir, out string, env []string, commands string, inTerminal bool) (*shell, error) {
	s := &shell{cmd: exec.CommandContext(ctx, "bash", "-e", "-o", "pipefail", "-c", commands), out: out,
		ended: make(chan struct{}), gone: make(chan struct{})}
	s.cmd.Dir, s.cmd.Env = dir, env
	s.cmd.Cancel = func() error { return s.signal(syscall.SIGKILL) }
	file, err := os.Create(out)
	if err != nil {
		return nil, err
	}
	// All processes of the group hold the pipe: it ends with the last of them.
	held, holds, err := os.Pipe()
	if err != nil {
		file.Close()
		return nil, err
	}
	s.cmd.ExtraFiles = []*os.File{holds}
	s.cmd.Stdout, s.cmd.Stderr = file, file
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	var master *os.File
	if inTerminal {
		var terminal *os.File
		if master, terminal, err = pty.Open(); err != nil {
			return nil, errors.Join(err, file.Close(), held.Close(), holds.Close())
		}
		defer terminal.Close()
		s.cmd.Env = append(env, "TERM=xterm-256color")
		s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = terminal, terminal, terminal
		s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Pdeathsig: syscall.SIGKILL}
	}
	err = s.cmd.Start()
	holds.Close()
	if err != nil {
		if master != nil {
			master.Close()
		}
		return nil, errors.Join(err, file.Close(), held.Close())
	}
	s.wg.Go(func() {
		defer file.Close()
		if master != nil {
			io.Copy(file, master) // ends when no process has the terminal any more
			master.Close()
		}
	})
	s.wg.Go(func() {
		s.err = s.cmd.Wait()
		close(s.ended)
	})
	s.wg.Go(func() {
		io.Copy(io.Discard, held)
		held.Close()
		close(s.gone)
	})
	return s, nil
}

// signal sends a signal to the processes of the group.
func (s *shell) signal(signal syscall.Signal) error {
	if err := syscall.Kill(-s.cmd.Process.Pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

// stop ends all processes of the group as a reader ends a server, and waits for them.
func (s *shell) stop(ctx context.Context) {
	select {
	case <-s.gone:
	default:
		s.signal(syscall.SIGTERM)
		select {
		case <-s.gone:
		case <-ctx.Done():
			s.signal(syscall.SIGKILL)
		}
	}
	s.wg.Wait()
}

func (s *shell) output() string {
	b, err := os.ReadFile(s.out)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// showsProblem reports whether a block shows a refusal: the last value of its output is a problem of
// the server.
func showsProblem(b block) bool {
	if b.lang != "json" || b.word != "output" {
		return false
	}
	all, err := values(b.text)
	if err != nil || len(all) == 0 {
		return false // the comparison reports it
	}
	last, _ := all[len(all)-1].(map[string]any)
	return last["type"] == "about:blank" && last["code"] != nil
}

// run runs a block of sh to its end. next is the block that follows.
func (p *docPage) run(b, next block) {
	s := p.start(b, false)
	p.shells = append(p.shells, s) // what it left in the background ends with the page
	<-s.ended
	p.last, p.lastBlock = s, b
	fails := b.word == "fails" || showsProblem(next)
	switch failed := s.err != nil; {
	case p.ctx.Err() != nil:
		p.fail(b, "the commands do not end:\n%s", s.output())
	case failed && !fails:
		p.fail(b, "%v:\n%s", s.err, s.output())
	case !failed && fails:
		p.fail(b, "the commands shall fail, and did not:\n%s", s.output())
	}
}

// notRun finds the targets of make that an example names and this test cannot run: make test
// would run this test again, and the others take minutes. make -n checks that they exist.
var notRun = regexp.MustCompile(`(?m)^(\s*)make ` +
	`((?:test|race|e2e|bench|fuzz|soak|lint|lint-web|reference|check-contract|check-deploy|check-dist|` +
	`published|kit|check-kit|pictures|axe|browsers)\b)`)

// start starts the commands of a block.
func (p *docPage) start(b block, inTerminal bool) *shell {
	commands := p.ports.in(notRun.ReplaceAllString(b.text, "${1}make -n $2"))
	out := filepath.Join(p.dir, fmt.Sprintf("output-%d", b.line))
	s, err := startShell(p.ctx, p.clone, out, p.env, commands, inTerminal)
	require.NoError(p.t, err, "%s", b)
	return s
}

// docServer is a program of a page that stays.
type docServer struct {
	*shell
	block block
	ports []string // where it listens, so far as the block tells
}

var (
	servesRankcast = regexp.MustCompile(`\brankcast serve\b|\bmake run\b`)
	addrOf         = regexp.MustCompile(`(?:--addr[ =]|RANKCAST_ADDR=)[\w.\[\]]*:(\d+)`)
	portOf         = regexp.MustCompile(`(?:127\.0\.0\.1:|localhost:|http\.server +|--port +)(\d+)`)
	watches        = regexp.MustCompile(`\brankcast watch\b`)
)

// serve starts a block of sh server and waits until it is ready. It first stops the servers of
// the page that listen where this one will.
func (p *docPage) serve(b block) {
	text := p.ports.in(strings.ReplaceAll(b.text, "\\\n", " "))
	server := &docServer{block: b}
	rankcast := false
	for line := range strings.Lines(text) {
		switch {
		case servesRankcast.MatchString(line):
			rankcast = true
			port := p.ports[serverPort]
			if addr := addrOf.FindStringSubmatch(line); addr != nil {
				port = addr[1]
			}
			server.ports = append(server.ports, port)
		case !strings.Contains(line, "rankcast "):
			for _, port := range portOf.FindAllStringSubmatch(line, -1) {
				server.ports = append(server.ports, port[1])
			}
		}
	}
	taken := func(earlier *docServer) bool {
		return slices.ContainsFunc(earlier.ports, func(port string) bool { return slices.Contains(server.ports, port) })
	}
	if slices.ContainsFunc(p.servers, taken) {
		p.closeTabs()
	}
	p.servers = slices.DeleteFunc(p.servers, func(earlier *docServer) bool {
		if !taken(earlier) {
			return false
		}
		earlier.stop(p.ctx)
		return true
	})
	watching := watches.MatchString(text) && !strings.Contains(text, "--json")
	server.shell = p.start(b, watching)
	p.servers = append(p.servers, server)
	p.last, p.lastBlock = server.shell, b
	ready := func() error {
		select {
		case <-server.ended:
			p.fail(b, "the server has ended: %v", server.err)
		default:
		}
		switch {
		case rankcast:
			for _, port := range server.ports {
				if a, err := servertest.Try(p.t, "GET", "http://127.0.0.1:"+port+"/readyz", ""); err != nil {
					return err
				} else if a.Status != 200 {
					return errors.New(a.Body)
				}
			}
		case len(server.ports) > 0:
			for _, port := range server.ports {
				if !accepts(port) {
					return fmt.Errorf("nothing listens at port %s", port)
				}
			}
		case strings.Contains(text, "rankcast "): // one that shows a board
			if server.output() == "" {
				return errors.New("it has printed nothing")
			}
		default:
			p.fail(b, "the block does not say where the program listens")
		}
		return nil
	}
	// It may first have to be built, and then to make up the history of a demo, and says so.
	err, said := errors.New("not tried yet"), -1
	for err != nil && len(server.output()) > said {
		said = len(server.output())
		err = redistest.Poll(p.ctx, ready)
	}
	if err != nil {
		p.fail(b, "gave up waiting for the server to be ready: %v", err)
	}
}

// accepts reports whether a program listens at a port.
func accepts(port string) bool {
	conn, err := net.Dial("tcp", "127.0.0.1:"+port)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

// compare compares what the last commands printed with a block of output. The output of a server
// may still come.
func (p *docPage) compare(b block) {
	if p.last == nil {
		p.fail(b, "no commands stand before this output")
	}
	match := func(want, got string) error { return matcher{}.lines(want, got) }
	if b.lang == "json" {
		match = func(want, got string) error { return matcher{}.values(want, got) }
	}
	want := p.ports.in(b.text)
	err := match(want, p.last.output())
	if err != nil && p.lastBlock.word == "server" {
		p.eventually(b, "this output", func() error {
			if err = match(want, p.last.output()); err != nil && match(want+"…", p.last.output()) == nil {
				err = nil // the server has gone on since
			}
			return err
		})
	}
	if err != nil {
		p.fail(b, "%s printed something else: %v\nwant:\n%s\ngot:\n%s", p.lastBlock, err, want, p.last.output())
	}
}

func TestDocsShell(t *testing.T) {
	t.Parallel()
	start := func(commands string, inTerminal bool) *shell {
		t.Helper()
		env := append(os.Environ(), "LC_ALL=C.UTF-8")
		s, err := startShell(t.Context(), t.TempDir(), filepath.Join(t.TempDir(), "out"), env, commands, inTerminal)
		require.NoError(t, err)
		return s
	}
	s := start("echo a; echo b >&2; false; echo c", false)
	redistest.Receive(t, "the program to end", s.ended)
	require.ErrorContains(t, s.err, "exit status 1")
	require.Equal(t, "a\nb\n", s.output())
	s.stop(t.Context())

	s = start("false | cat; echo c", false)
	redistest.Receive(t, "the program to end", s.ended)
	require.ErrorContains(t, s.err, "exit status 1")
	s.stop(t.Context())

	// The program in the background ends too, and stop waits for it.
	s = start("(trap 'echo bye; exit' TERM; tail -f /dev/null & echo ready; wait) & exit 0", false)
	redistest.Receive(t, "the program to end", s.ended)
	redistest.Eventually(t, "the program", func() error {
		if s.output() != "ready\n" {
			return fmt.Errorf("it said %q", s.output())
		}
		return nil
	})
	s.stop(t.Context())
	require.Equal(t, "ready\nbye\n", s.output())

	s = start("test -t 1 && echo a terminal", true)
	redistest.Receive(t, "the program to end", s.ended)
	s.stop(t.Context())
	require.NoError(t, s.err)
	require.Equal(t, "a terminal\r\n", s.output())
}
