package process

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
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
	"rankcast/server/client"
)

func TestWatchInATerminal(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	p := e2etest.Launch(t, "--redis", r.URL())
	p.Update("stars", e2etest.Scores("ann", 5000, "bob", 4000, "名前", 3000, "dan", 2000, "eve", 1000))
	s := startIn(t, nil, "watch", "stars", "--top", "3", "--me", "eve", "--around", "1", "--server", "http://"+p.Addr)
	s.shows(`(?s)stars .* 5 members · live.*1  ann .* 5,000.*2  bob .* 4,000.*3  名.*3,000.*4  dan .* 2,000.*▸ +5  eve .* 1,000  1,000 to next`)

	// A score is sent and the order changes; someone else passes, and the own
	// rank moves.
	p.Update("stars", `{"member":"bob","score":2500}`)
	s.shows(`(?s)1  bob .* 6,500.*2  ann .* 5,000`)
	p.Update("stars", `{"member":"fay","score":1500}`)
	s.shows(`(?s)6 members.*▸ +6  eve .* 1,000`)
	s.shows(`5  fay .* 1,500`)

	// In a small window the own row stays.
	s.resize(40, 5)
	s.shows(`(?s)stars.*1  bob .*▸ +6  eve .* 1,000`)
	s.resize(columns, lines)
	s.shows(`(?s)3  名.*5  fay .* 1,500.*q quits`)

	r.Kill()
	s.shows(`Redis away since \d\d:\d\d:\d\d`)
	r.Start()
	s.shows(`members · live`)

	p.Kill()
	s.shows(`(?s)reconnecting as of.*1  bob .* 6,500.*connection refused`)
	p = e2etest.Launch(t, "--redis", r.URL(), "--addr", p.Addr)
	s.shows(`members · live`)
	p.Update("stars", `{"member":"eve","score":100000}`)
	s.shows(`(?s)▸ +1  eve .* 101,000.*2  bob .* 6,500`)

	_, err := s.pty.WriteString("q")
	require.NoError(t, err)
	require.Zero(t, s.wait())
	s.restored()
}

// The command restores the terminal, however it ends.
func TestWatchRestoresTheTerminal(t *testing.T) {
	t.Parallel()
	if signal.Ignored(syscall.SIGHUP) { // as under nohup; what is started here shall not inherit that
		hungUp := make(chan os.Signal, 1)
		signal.Notify(hungUp, syscall.SIGHUP)
		defer signal.Stop(hungUp)
	}
	p := e2etest.Launch(t)
	p.Update("stars", `{"member":"ann","score":1}`)
	for name, c := range map[string]struct {
		board string
		end   func(s *terminal)
		code  int
	}{
		"ctrl-c":        {"stars", func(s *terminal) { s.pty.WriteString("\x03") }, 0},
		"SIGTERM":       {"stars", func(s *terminal) { s.cmd.Process.Signal(syscall.SIGTERM) }, 0},
		"SIGINT":        {"stars", func(s *terminal) { s.cmd.Process.Signal(syscall.SIGINT) }, 0},
		"SIGHUP":        {"stars", func(s *terminal) { s.cmd.Process.Signal(syscall.SIGHUP) }, 0},
		"unknown board": {"nope", nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := startIn(t, nil, "watch", c.board, "--server", "http://"+p.Addr)
			if c.end != nil {
				s.shows(`1  ann`)
				c.end(s)
			}
			require.Equal(t, c.code, s.wait())
			s.restored()
			if c.code == 1 {
				require.Contains(t, s.screen(), `rankcast: `)
				require.Contains(t, s.screen(), `unknown_board`)
			}
		})
	}
}

// colours are what sets a colour.
var colours = regexp.MustCompile(`\x1b\[[0-9;]*(3|4|9)[0-7][;m]`)

func TestNoColor(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	for env, want := range map[string]bool{"NO_COLOR=1": false, "TERM=xterm-256color": true} {
		s := startIn(t, []string{env}, "watch", "stars", "--server", "http://"+p.Addr)
		s.shows(`live`)
		s.pty.WriteString("q")
		require.Zero(t, s.wait())
		require.Equal(t, want, colours.MatchString(s.raw.String()), "%s: %q", env, s.raw.String())
	}
}

// printed is what the tests read of a line that watch --json prints.
type printed struct {
	Board  string
	Period string
	Ends   *string
	Final  bool
	Total  int64
	State  string
	AsOf   *string `json:"as_of"`
	Top    []client.Entry
	Me     *struct {
		Rank   *int64
		ToNext *int64 `json:"to_next"`
		Around []client.Entry
	}
}

// A pipe gets a line for each state, and ends it by closing.
func TestWatchJSON(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	p.Update("stars", `{"member":"<ann>","score":3,"data":{"gift":["<3"]}}`)
	cmd := exec.Command(e2etest.Binary, "watch", "stars", "--json", "--me", "bob", "--around", "1")
	cmd.Env = append(os.Environ(), "RANKCAST_SERVER=http://"+p.Addr)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	in := bufio.NewReader(out)
	next := func() (l printed) {
		text, err := in.ReadString('\n')
		require.NoError(t, err, stderr.String())
		require.NoError(t, json.Unmarshal([]byte(text), &l), text)
		require.Equal(t, "stars", l.Board)
		return l
	}
	until := func(what string, wanted func(l printed) bool) printed {
		t.Helper()
		for {
			if l := next(); wanted(l) {
				return l
			}
		}
	}
	l := next()
	require.Equal(t, "live", l.State)
	require.Equal(t, []client.Entry{{Rank: 1, Member: "<ann>", Score: 3, Data: []byte(`{"gift":["<3"]}`)}}, l.Top)
	require.EqualValues(t, 1, l.Total)
	require.Nil(t, l.AsOf)
	require.Nil(t, l.Ends)
	require.False(t, l.Final)
	if l.Me == nil { // it comes with the first line or after it
		l = until("not on the board", func(l printed) bool { return l.Me != nil })
	}
	require.Nil(t, l.Me.Rank)
	p.Update("stars", `{"member":"bob","score":1}`)
	l = until("rank 2", func(l printed) bool { return l.Me.Rank != nil && l.Me.Around != nil })
	require.EqualValues(t, 2, *l.Me.Rank)
	require.EqualValues(t, 2, *l.Me.ToNext)
	require.Len(t, l.Me.Around, 2)

	// Nobody reads any more: it ends by itself, though nothing changes.
	out.Close()
	require.NoError(t, cmd.Wait())
	require.Empty(t, stderr.String())
}

// The command shows the end of a period in the zone of the board, not in that of the terminal.
func TestWatchTellsTheEndInTheZoneOfTheBoard(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, `boards: {days: {period: day, timezone: Asia/Tokyo}}`)
	s := startIn(t, []string{"TERM=xterm", "TZ=America/New_York"}, "watch", "days", "--server", "http://"+p.Addr)
	s.shows(`days · \d+-\d+-\d+, until (\w+ )?00:00 Asia/Tokyo `)
	s.pty.WriteString("q")
	require.Zero(t, s.wait())
}

// seconds is a board whose periods pass while a test waits.
const seconds = `boards: {quick: {period: 1s, base: "2026-01-01T00:00:00Z", keep: 1000}}`

// When a period ends, its last state is a line of its own. The terminal shows the result even when the list of the next
// period is empty.
func TestWatchTurns(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, seconds)
	s := startIn(t, []string{"TERM=xterm"}, "watch", "quick", "--server", "http://"+p.Addr)
	s.shows(`quick · \d+, until \d\d:\d\d`)
	cmd := exec.Command(e2etest.Binary, "watch", "quick", "--json", "--server", "http://"+p.Addr)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	states := json.NewDecoder(out)
	until := func(wanted func(printed) bool) printed {
		for {
			var l printed
			require.NoError(t, states.Decode(&l))
			require.NotNil(t, l.Ends)
			if wanted(l) {
				return l
			}
		}
	}
	until(func(printed) bool { return true })
	var counted client.Result
	p.Post("quick", `{"member":"ann","score":3}`).Into(&counted)
	closed := until(func(l printed) bool { return l.Final && l.Period == counted.Period })
	require.Equal(t, []client.Entry{{Rank: 1, Member: "ann", Score: 3}}, closed.Top)
	open := until(func(l printed) bool { return l.Period != counted.Period })
	require.False(t, open.Final)
	require.Empty(t, open.Top)
	require.Less(t, *closed.Ends, *open.Ends)
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, cmd.Wait())

	redistest.Eventually(t, "how a period ended", func() error { // which stays for the next one alone
		p.Post("quick", `{"member":"ann","score":3}`)
		if screen := s.screen(); !strings.Contains(screen, "is over: ann was first with ") {
			return fmt.Errorf("the screen is\n%s", screen)
		}
		return nil
	})
	s.shows(`no scores yet`)
	s.pty.WriteString("q")
	require.Zero(t, s.wait())
}

func TestWatchCommandLine(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"watch", "stars"}, 1, "--json"},
		{[]string{"watch", "nope", "--json", "--server", "http://" + p.Addr}, 1, "unknown_board"},
		{[]string{"watch", "stars", "--json", "--server", p.Addr}, 1, "want http://"},
		{[]string{"watch"}, 80, "<board>"},
		{[]string{"watch", "stars", "--top", "1001"}, 80, "--top"},
		{[]string{"watch", "stars", "--around", "1"}, 80, "--me"},
		{[]string{"watch", "stars", "--around", "21", "--me", "x"}, 80, "--around"},
		{[]string{"watch", "--help"}, 0, "RANKCAST_SERVER"},
	} {
		cmd := exec.CommandContext(t.Context(), e2etest.Binary, c.args...)
		out, _ := cmd.CombinedOutput()
		require.Equal(t, c.code, cmd.ProcessState.ExitCode(), "%v: %s", c.args, out)
		require.Contains(t, string(out), c.says, "%v", c.args)
	}

	// A server that is not there is told of once, and waited for.
	p.Kill()
	cmd := exec.CommandContext(t.Context(), e2etest.Binary, "watch", "stars", "--json", "--server", "http://"+p.Addr)
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	text, err := bufio.NewReader(stderr).ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, text, "trying again")
	e2etest.Launch(t, "--addr", p.Addr)
	lines := bufio.NewReader(stdout)
	text, err = lines.ReadString('\n')
	require.NoError(t, err)
	if strings.Contains(text, `"state":"stale"`) { // it answers a moment before its feed is up
		text, err = lines.ReadString('\n')
		require.NoError(t, err)
	}
	require.Contains(t, text, `"state":"live"`)
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, cmd.Wait())
}

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
	s.hasMode()
}

// hasMode tells whether the terminal is in the mode it was in.
func (s *terminal) hasMode() {
	s.t.Helper()
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

// The marks around a name from right to left reach the terminal.
func TestWatchSeparatesNames(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	p.Post("stars", e2etest.Scores("שלום", 40, "bob", 30))
	s := startIn(t, nil, "watch", "stars", "--server", "http://"+p.Addr)
	s.shows(`1  שלום +` + "\u2800" + ` +40`)
	s.shows(`2  bob +30`)
	out := e2etest.Run(t, "", "send", "stars", "שלום", "2", "--server", "http://"+p.Addr)
	require.Equal(t, "stars: \u2068שלום\u2069 has 42, rank 1\n", out.Stdout)
}
