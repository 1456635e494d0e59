package process

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
	"github.com/stretchr/testify/require"
	"golang.org/x/term"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/redistest"
)

// terminal is a terminal that rankcast runs in: what it prints is on a screen.
type terminal struct {
	t     *testing.T
	cmd   *exec.Cmd
	pty   *os.File
	wg    sync.WaitGroup
	ended bool

	mu  sync.Mutex
	vt  vt10x.Terminal
	raw strings.Builder
}

const columns, lines = 80, 24

// startIn runs rankcast in a terminal.
func startIn(t *testing.T, env []string, args ...string) *terminal {
	cmd := exec.Command(e2etest.Binary, args...)
	// (Of a terminal that can do little, so that the emulator understands all.)
	cmd.Env = append(append(os.Environ(), "TERM=vt100", "COLORTERM=", "NO_COLOR=", "CLICOLOR_FORCE=1"), env...)
	f, err := pty.StartWithAttrs(cmd, &pty.Winsize{Rows: lines, Cols: columns}, &syscall.SysProcAttr{Setsid: true, Setctty: true,
		Pdeathsig: syscall.SIGKILL})
	require.NoError(t, err)
	s := &terminal{t: t, cmd: cmd, pty: f, vt: vt10x.New(vt10x.WithSize(columns, lines))}
	s.wg.Go(func() {
		buf := make([]byte, 16<<10)
		for {
			n, err := f.Read(buf)
			s.mu.Lock()
			s.raw.Write(buf[:n])
			s.vt.Write(buf[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	})
	t.Cleanup(func() {
		if !s.ended {
			cmd.Process.Kill()
			s.wait()
		}
		if t.Failed() {
			t.Logf("screen:\n%s\nraw: %q", s.screen(), s.raw.String())
		}
		f.Close()
	})
	return s
}

func (s *terminal) screen() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.vt.String()
}

// wait waits for the program's end and returns its exit code.
func (s *terminal) wait() int {
	redistest.Wait(s.t, "the program to end", func() {
		s.cmd.Wait()
		s.wg.Wait()
	})
	s.ended = true
	return s.cmd.ProcessState.ExitCode()
}

// shows waits until the screen matches.
func (s *terminal) shows(pattern string) {
	s.t.Helper()
	want := regexp.MustCompile(pattern)
	redistest.Eventually(s.t, pattern, func() error {
		if screen := s.screen(); !want.MatchString(screen) {
			return fmt.Errorf("the screen is\n%s", screen)
		}
		return nil
	})
}

func (s *terminal) resize(width, height int) {
	s.mu.Lock()
	s.vt.Resize(width, height)
	s.mu.Unlock()
	require.NoError(s.t, pty.Setsize(s.pty, &pty.Winsize{Rows: uint16(height), Cols: uint16(width)}))
}

// restored tells whether the terminal is out of the alternate screen, with a
// cursor, and in the mode it was in.
func (s *terminal) restored() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	raw := s.raw.String()
	require.Greater(s.t, strings.LastIndex(raw, "\x1b[?1049l"), strings.LastIndex(raw, "\x1b[?1049h"))
	require.Greater(s.t, strings.LastIndex(raw, "\x1b[?25h"), strings.LastIndex(raw, "\x1b[?25l"))
	require.Zero(s.t, s.vt.Mode()&vt10x.ModeAltScreen)
	fresh, other, err := pty.Open()
	require.NoError(s.t, err)
	defer fresh.Close()
	defer other.Close()
	want, err := term.GetState(int(fresh.Fd()))
	require.NoError(s.t, err)
	got, err := term.GetState(int(s.pty.Fd()))
	require.NoError(s.t, err)
	require.Equal(s.t, want, got)
}

// What keeps a name from right to left apart reaches the terminal.
func TestWatchSeparatesNames(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	p.Post("stars", `{"updates":[{"member":"שלום","score":40},{"member":"bob","score":30}]}`)
	s := startIn(t, nil, "watch", "stars", "--server", "http://"+p.Addr)
	s.shows(`1  שלום +` + "\u2800" + ` +40`)
	s.shows(`2  bob +30`)
	out := e2etest.Run(t, "", "send", "stars", "שלום", "2", "--server", "http://"+p.Addr)
	require.Equal(t, "stars: \u2068שלום\u2069 has 42, rank 1\n", out.Stdout)
}
