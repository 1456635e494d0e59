package process

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/redistest"
	"rankcast/server/client"
)

func TestWatchInATerminal(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	p := e2etest.Launch(t, "--redis", r.URL())
	for i, m := range []string{"ann", "bob", "名前", "dan", "eve"} {
		require.Equal(t, 200, p.Post("stars", fmt.Sprintf(`{"member":%q,"score":%d}`, m, 5000-1000*i)).Status)
	}
	s := startIn(t, nil, "watch", "stars", "--top", "3", "--me", "eve", "--around", "1", "--server", "http://"+p.Addr)
	s.shows(`(?s)stars .* 5 members · live.*1  ann .* 5,000.*2  bob .* 4,000.*3  名.*3,000.*4  dan .* 2,000.*▸ +5  eve .* 1,000  1,000 to next`)

	// A score is sent and the order changes; someone else passes, and the own
	// rank moves.
	require.Equal(t, 200, p.Post("stars", `{"member":"bob","score":2500}`).Status)
	s.shows(`(?s)1  bob .* 6,500.*2  ann .* 5,000`)
	require.Equal(t, 200, p.Post("stars", `{"member":"fay","score":1500}`).Status)
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

	_, port, err := net.SplitHostPort(p.Addr)
	require.NoError(t, err)
	p.Kill()
	s.shows(`(?s)reconnecting as of.*1  bob .* 6,500.*connection refused`)
	p = e2etest.Launch(t, "--redis", r.URL(), "--addr", "127.0.0.1:"+port)
	s.shows(`members · live`)
	require.Equal(t, 200, p.Post("stars", `{"member":"eve","score":100000}`).Status)
	s.shows(`(?s)▸ +1  eve .* 101,000.*2  bob .* 6,500`)

	_, err = s.pty.WriteString("q")
	require.NoError(t, err)
	require.Zero(t, s.wait())
	s.restored()
}

// However it ends, the terminal is as it was.
func TestWatchRestoresTheTerminal(t *testing.T) {
	t.Parallel()
	if signal.Ignored(syscall.SIGHUP) { // as under nohup; what is started here shall not inherit that
		hungUp := make(chan os.Signal, 1)
		signal.Notify(hungUp, syscall.SIGHUP)
		defer signal.Stop(hungUp)
	}
	p := e2etest.Launch(t)
	require.Equal(t, 200, p.Post("stars", `{"member":"ann","score":1}`).Status)
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
	require.Equal(t, 200, p.Post("stars", `{"member":"<ann>","score":3,"data":{"gift":["<3"]}}`).Status)
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
	require.Equal(t, 200, p.Post("stars", `{"member":"bob","score":1}`).Status)
	l = until("rank 2", func(l printed) bool { return l.Me.Rank != nil && l.Me.Around != nil })
	require.EqualValues(t, 2, *l.Me.Rank)
	require.EqualValues(t, 2, *l.Me.ToNext)
	require.Len(t, l.Me.Around, 2)

	// Nobody reads any more: it ends by itself, though nothing changes.
	out.Close()
	require.NoError(t, cmd.Wait())
	require.Empty(t, stderr.String())
}

// The end of a period is told in the zone of the board, not in that of the terminal.
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

// A period turns: its last state is a line of its own, and on the terminal it can
// be read how it ended when the list is empty already.
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
	_, port, err := net.SplitHostPort(p.Addr)
	require.NoError(t, err)
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
	cmd := exec.CommandContext(t.Context(), e2etest.Binary, "watch", "stars", "--json", "--server", "http://127.0.0.1:"+port)
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	text, err := bufio.NewReader(stderr).ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, text, "trying again")
	e2etest.Launch(t, "--addr", "127.0.0.1:"+port)
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
