package process

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/cmd/rankcast/internal/term"
	"rankcast/ranking/redistest"
	"rankcast/server/client"
	"rankcast/server/servertest"
)

const f1 = "../../../../server/testdata/f1/"

var f1Columns = []string{"--member", "driver", "--score", "tenths", "--at", "date"}

// finals are the points of all seasons together, by driver, as the official
// standings after each season's last round have them.
func finals(t *testing.T) map[string]int64 {
	file, err := os.Open(f1 + "standings.csv")
	require.NoError(t, err)
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	number := func(text string) int64 {
		n, err := strconv.ParseInt(text, 10, 64)
		require.NoError(t, err)
		return n
	}
	last := make(map[string]int64)
	for _, r := range rows[1:] {
		last[r[0]] = max(last[r[0]], number(r[1]))
	}
	points := make(map[string]int64)
	for _, r := range rows[1:] {
		if number(r[1]) == last[r[0]] && number(r[3]) > 0 {
			points[r[2]] += number(r[3])
		}
	}
	return points
}

func standings(t *testing.T, addr, board string) map[string]int64 {
	top, _ := servertest.Top(t, addr, board, 1000)
	points := make(map[string]int64)
	for _, e := range top {
		points[e.Member] = e.Score
	}
	return points
}

// proxyTo passes requests on to a server, each once its body is complete. A proxy closes a body that it passes on as it comes
// when the head of the answer comes, and cuts the answer off if it has not seen the end of the body by then.
func proxyTo(p *e2etest.Process) http.Handler {
	back := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: p.Addr})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // whoever sent it is gone
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		back.ServeHTTP(w, r)
	})
}

// toStars has the seasons replayed as updates of the board stars.
var toStars = append([]string{"--board", "stars"}, f1Columns...)

// replayMeddled replays the seasons to a server, in batches of 100, of which the
// nth is answered by meddle; back sends it on to the server. A batch that is sent again, as a
// slow machine makes the command do, is the same batch. It returns the arguments too, to run it again,
// and counts the batches that are sent again.
func replayMeddled(t *testing.T, p *e2etest.Process, target []string, nth int, meddle func(replay *os.Process, back http.Handler,
	w http.ResponseWriter, r *http.Request)) (args []string, first e2etest.Ran, repeats *atomic.Int64) {
	back, repeats := proxyTo(p), new(atomic.Int64)
	var mu sync.Mutex
	var replay *os.Process
	batches, last := 0, []byte(nil)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		batch, err := io.ReadAll(r.Body)
		if err != nil {
			return // the command is killed
		}
		r.Body = io.NopCloser(bytes.NewReader(batch))
		if r.Method == http.MethodPost {
			isRepeat := bytes.Equal(batch, last)
			last = batch
			if isRepeat {
				repeats.Add(1)
			} else if batches++; batches == nth {
				meddle(replay, back, w, r)
				return
			}
		}
		back.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	args = append([]string{"replay", f1 + "events.csv", "--server", front.URL, "--batch", "100"}, target...)
	cmd := exec.Command(e2etest.Binary, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	mu.Lock()
	require.NoError(t, cmd.Start())
	replay = cmd.Process
	mu.Unlock()
	cmd.Wait()
	return args, e2etest.Ran{Args: args, Code: cmd.ProcessState.ExitCode(), Stdout: stdout.String(), Stderr: stderr.String()}, repeats
}

// killBeforeTheAnswer has the server apply a batch, and kills the replay before the answer comes.
func killBeforeTheAnswer(replay *os.Process, back http.Handler, _ http.ResponseWriter, r *http.Request) {
	back.ServeHTTP(httptest.NewRecorder(), r)
	replay.Kill()
	<-r.Context().Done() // it is gone, and sent no more
}

// requireDuplicates requires that a replay, which was killed after 2,000 events and run again, found
// these, and beyond them only batches that it sent again itself.
func requireDuplicates(t *testing.T, stdout string, repeats *atomic.Int64) {
	t.Helper()
	var sent, duplicates int64
	_, err := fmt.Sscanf(strings.ReplaceAll(stdout, ",", ""), "sent %d (%d duplicates) refused 0 in ", &sent, &duplicates)
	require.NoError(t, err, stdout)
	require.EqualValues(t, 3601, sent)
	require.GreaterOrEqual(t, duplicates, int64(2000))
	require.LessOrEqual(t, duplicates, 2000+100*repeats.Load())
}

// Nineteen seasons of Formula 1, replayed, killed in the middle and run again:
// the board is the official standings, and a third run changes nothing.
func TestReplayThatIsKilledAndRunAgain(t *testing.T) {
	t.Parallel()
	want := finals(t)
	redistest.Engines(t, func(t *testing.T, store string) {
		p := e2etest.Launch(t, "--redis", store)
		args, killed, repeats := replayMeddled(t, p, toStars, 20, killBeforeTheAnswer)
		require.Equal(t, -1, killed.Code)
		half := standings(t, p.Addr, "stars")
		require.NotEmpty(t, half)
		require.NotEqual(t, want, half)

		repeats.Store(0)
		again := e2etest.Run(t, "", args...)
		require.Zero(t, again.Code, again.Stderr)
		requireDuplicates(t, again.Stdout, repeats)
		require.Equal(t, want, standings(t, p.Addr, "stars"))
		require.Contains(t, e2etest.Run(t, "", args...).Stdout, "(3,601 duplicates)")
		require.Equal(t, want, standings(t, p.Addr, "stars"))

		// Anew on purpose, from standard input.
		events, err := os.ReadFile(f1 + "events.csv")
		require.NoError(t, err)
		anew := append([]string{"replay", "-", "--board", "stars", "--server", "http://" + p.Addr, "--id-prefix", "anew"}, f1Columns...)
		// a slow machine makes it send batches again
		require.Regexp(t, `^sent 3,601 \((0|[123],000) duplicates\), refused 0, `, e2etest.Run(t, string(events), anew...).Stdout)
		for member, points := range standings(t, p.Addr, "stars") {
			require.Equal(t, 2*want[member], points, member)
		}
	})
}

// points is an event of the recording above. Columns of the recording are its fields, and it ignores the others.
const points = `
boards:
  "drivers:{season}":      {}
  "constructors:{season}": {}
events:
  points:
    - {board: "drivers:{season}",      member: "{driver}",      score: "{tenths}"}
    - {board: "constructors:{season}", member: "{constructor}", score: "{tenths}", data: {last: "{driver}"}}
`

// The same seasons as events, each of which counts on two boards that are made as
// they come: killed in the middle and run again, each counts once on both.
func TestReplayOfEvents(t *testing.T) {
	t.Parallel()
	want := finals(t)
	redistest.Engines(t, func(t *testing.T, store string) {
		p := e2etest.LaunchBoards(t, points, "--redis", store)
		args, killed, repeats := replayMeddled(t, p, []string{"--event", "points"}, 20, killBeforeTheAnswer)
		require.Equal(t, -1, killed.Code)
		all := func() (drivers map[string]int64, constructors int64) {
			drivers = make(map[string]int64)
			for season := 2005; season <= 2023; season++ {
				for member, points := range standings(t, p.Addr, fmt.Sprint("drivers:", season)) {
					drivers[member] += points
				}
				for _, points := range standings(t, p.Addr, fmt.Sprint("constructors:", season)) {
					constructors += points
				}
			}
			return drivers, constructors
		}
		repeats.Store(0)
		again := e2etest.Run(t, "", args...)
		require.Zero(t, again.Code, again.Stderr)
		requireDuplicates(t, again.Stdout, repeats)
		total := int64(0)
		for _, points := range want {
			total += points
		}
		drivers, constructors := all()
		require.Equal(t, want, drivers)
		require.Equal(t, total, constructors)
		require.Contains(t, e2etest.Run(t, "", args...).Stdout, "(3,601 duplicates)")
		drivers, _ = all()
		require.Equal(t, want, drivers)
		require.Contains(t, p.Request("GET", "/v1/boards/constructors:2023/members/red-bull", "").Body, `"data":{"last":"`)
	})
}

// ctrl-c ends it after the batch under way, and says how to go on.
func TestReplayThatIsInterrupted(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	args, interrupted, _ := replayMeddled(t, p, toStars, 3, func(replay *os.Process, back http.Handler, w http.ResponseWriter,
		r *http.Request) {
		replay.Signal(syscall.SIGINT)
		back.ServeHTTP(w, r)
	})
	require.Equal(t, 1, interrupted.Code)
	// The signal may arrive when the next batch is under way already.
	var from, sent int
	_, err := fmt.Sscanf(interrupted.Stderr[strings.Index(interrupted.Stderr, "--from"):], "--from %d", &from)
	require.NoError(t, err, interrupted.Stderr)
	_, err = fmt.Sscanf(strings.ReplaceAll(interrupted.Stdout, ",", ""), "sent %d", &sent)
	require.NoError(t, err)
	require.GreaterOrEqual(t, sent, 300)
	require.Less(t, sent, 3601)
	require.Equal(t, sent+2, from, "the head, and the line after the last that was sent")

	rest := e2etest.Run(t, "", append(args, "--from", strconv.Itoa(from))...)
	require.Zero(t, rest.Code, rest.Stderr)
	require.Contains(t, rest.Stdout, fmt.Sprintf("sent %s (0 duplicates)", term.Thousands(int64(3601-sent))))
	require.Equal(t, finals(t), standings(t, p.Addr, "stars"))
}

// A batch without an answer may have counted. The command names its lines, and until when it is safe to send them again.
func TestReplayThatIsInterruptedWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	back := proxyTo(p)
	requests := make(chan struct{}, 10)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(requests) < 1 {
			back.ServeHTTP(w, r)
		} else {
			back.ServeHTTP(httptest.NewRecorder(), r)
			<-r.Context().Done()
		}
		requests <- struct{}{}
	}))
	defer front.Close()
	file := e2etest.Write(t, "ones.csv", "member,score\n"+strings.Repeat("m,1\n", 30))
	args := []string{"replay", file, "--board", "stars", "--batch", "10"}
	cmd := exec.Command(e2etest.Binary, append(args, "--server", front.URL)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	redistest.Eventually(t, "the second batch to count", func() error {
		if points := standings(t, p.Addr, "stars")["m"]; points != 20 {
			return fmt.Errorf("%d points", points)
		}
		return nil
	})
	cmd.Process.Signal(syscall.SIGINT)
	require.Error(t, cmd.Wait())
	require.Regexp(t, `--from 12 before \d\d:\d\d:\d\d: lines 12 to 21 may have counted`, stderr.String())
	rest := e2etest.Run(t, "", append(args, "--server", "http://"+p.Addr, "--from", "12")...)
	require.Zero(t, rest.Code, rest.Stderr)
	require.EqualValues(t, 30, standings(t, p.Addr, "stars")["m"])
}

// The command says that the server is away, and ctrl-c then ends it at once.
func TestReplayToAServerThatIsAway(t *testing.T) {
	t.Parallel()
	file := e2etest.Write(t, "one.csv", "member,score\nm,1\n")
	for target, says := range map[string]string{"--board=stars": "interrupted; go on with --from 2",
		"--event=gift": "interrupted before anything was sent"} {
		before, after := interrupted(t, "replay", file, target, "--server", fmt.Sprintf("http://127.0.0.1:%d", redistest.FreePort(t)))
		require.Contains(t, before, "does not answer, trying again")
		require.Contains(t, after, says)
	}
}

// The command notices that another program changes the file meanwhile.
func TestReplayOfAFileThatChanges(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	file := filepath.Join(t.TempDir(), "ones.csv")
	// Long lines: the file is larger than what replay reads ahead, and the server has little to do.
	head, line := "member,score\n", strings.Repeat("m", 100)+",1\n"
	require.NoError(t, os.WriteFile(file, []byte(head+strings.Repeat(line, 4000)), 0o600))
	back := proxyTo(p)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := os.Truncate(file, int64(len(head)+1000*len(line))); err != nil {
			t.Error(err)
		}
		back.ServeHTTP(w, r)
	}))
	defer front.Close()
	got := e2etest.Run(t, "", "replay", file, "--board", "stars", "--batch", "100", "--server", front.URL)
	got.Fails(t, 1, "changed while it was sent")
}

// The command counts and shows the lines that the server refuses, and sends the others.
func TestReplayGoesOnAfterRefusals(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	got := e2etest.Run(t, "", "replay", e2etest.Write(t, "a.csv", "member,score\nann,9007199254740991\nann,1\nbob,2\n"), "--board", "stars",
		"--server", "http://"+p.Addr)
	require.Equal(t, 1, got.Code)
	require.Contains(t, got.Stdout, "sent 2 (0 duplicates), refused 1,")
	require.Contains(t, got.Stderr, "line 3: ")
	require.Contains(t, got.Stderr, "out_of_range")
	require.Contains(t, got.Stderr, "1 of 3 lines were refused")
	require.Equal(t, map[string]int64{"ann": client.MaxScore, "bob": 2}, standings(t, p.Addr, "stars"))
}

func TestReplayToAServerThatDoesNotKnow(t *testing.T) {
	t.Parallel()
	p := e2etest.Launch(t)
	file := e2etest.Write(t, "a.csv", "member,score\nann,1\n")
	require.Contains(t, e2etest.Run(t, "", "replay", file, "--board", "nope", "--server", "http://"+p.Addr).Stderr, "unknown_board")
	require.Contains(t, e2etest.Run(t, "", "replay", file, "--event", "nope", "--server", "http://"+p.Addr).Stderr,
		`there is no event "nope"; no event is defined (unknown_event`)
	for body, says := range map[string]string{
		`{"code":"unknown_event","detail":"there is no event gift"}`: "there is no event gift",
		`<html>`: "no Rankcast server",
	} {
		f := startFake(t, func(_ int, w http.ResponseWriter) bool {
			w.WriteHeader(404)
			io.WriteString(w, body)
			return true
		})
		got := e2etest.Run(t, "", "replay", file, "--event", "other", "--server", f.URL)
		got.Fails(t, 1, says)
		require.NotContains(t, got.Stderr, "--from", "that would not help")
	}
}

// A batch never has more bytes, or more updates of its events, than a server takes.
func TestReplayOfLargeEvents(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		updates, bytes, lines, batches int
	}{
		"much data":    {10, 240, 1000, 4},
		"many updates": {32, 1, 1000, 8}, // 128 events each
		"five updates": {5, 1, 1000, 2},
		"at the limit": {4, 1, 1024, 2}, // by --batch
	} {
		t.Run(name, func(t *testing.T) {
			f := startFake(t, nil)
			f.event = `{"event":"gift","updates":[`
			line := "{"
			for i := range c.updates {
				f.event += fmt.Sprintf(`{"board":"b","member":"m","score":1,"data":{"x":"{x%d}"}},`, i)
				line += fmt.Sprintf(`"x%d":%q,`, i, strings.Repeat("x", c.bytes))
			}
			f.event = strings.TrimSuffix(f.event, ",") + "]}"
			line = strings.TrimSuffix(line, ",") + "}\n"
			got := e2etest.Run(t, "", "replay", e2etest.Write(t, "a", strings.Repeat(line, c.lines)), "--event", "gift", "--server", f.URL)
			require.Zero(t, got.Code, got.Stderr)
			require.Contains(t, got.Stdout, fmt.Sprintf("sent %s (0 duplicates)", term.Thousands(int64(c.lines))))
			require.Len(t, f.bodies, c.batches)
		})
	}
}

// An event of which one board refused its part is refused.
func TestReplayOfEventsCountsRefusals(t *testing.T) {
	t.Parallel()
	f := startFake(t, func(_ int, w http.ResponseWriter) bool {
		io.WriteString(w, `{"results":[{"results":[{"duplicate":true},{"error":{"code":"out_of_range","message":"too much"}}]},`+
			`{"results":[{"duplicate":true},{"duplicate":true}]},{"results":[{"duplicate":true},{}]},`+
			`{"error":{"code":"invalid_request","message":"no star"}}]}`)
		return true
	})
	f.event = `{"event":"gift","updates":[{"board":"b","member":"m","score":1},{"board":"c","member":"m","score":1}]}`
	got := e2etest.Run(t, "", "replay", e2etest.Write(t, "a", strings.Repeat("{}\n", 4)), "--event", "gift", "--server", f.URL)
	require.Equal(t, 1, got.Code)
	require.Contains(t, got.Stdout, "sent 2 (1 duplicates), refused 2,")
	require.Contains(t, got.Stderr, "line 1: too much")
	require.Contains(t, got.Stderr, "line 4: no star")
}

// On a terminal a line shows the progress, and the summary replaces it.
func TestReplayInATerminal(t *testing.T) {
	t.Parallel()
	f := startFake(t, nil)
	s := startIn(t, nil, append([]string{"replay", f1 + "events.csv", "--board", "b", "--server", f.URL, "--batch", "10"}, f1Columns...)...)
	require.Zero(t, s.wait())
	require.Contains(t, s.raw.String(), " of 3601 lines")
	require.Contains(t, s.screen(), "sent 3,601 (0 duplicates), refused 0, in ")
	require.NotContains(t, s.screen(), " of 3601 lines")
}
