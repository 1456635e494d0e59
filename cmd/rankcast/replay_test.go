package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
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
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/schollz/progressbar/v3"
	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/client"
	"rankcast/server/servertest"
)

const f1 = "../../server/testdata/f1/"

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

// ran is what came of a run of rankcast.
type ran struct {
	code           int
	stdout, stderr string
}

func run(t *testing.T, stdin string, args ...string) ran {
	ctx, cancel := context.WithTimeout(t.Context(), servertest.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	cmd.Run()
	return ran{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

func write(t *testing.T, name, text string) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// proxyTo sends requests on to a server, each when it is there as a whole: a body
// that is passed on while it comes is closed with the answer's head, and where its
// end was not seen by then the answer is cut off.
func proxyTo(p *process) http.Handler {
	back := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: p.addr})
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
// nth is answered by meddle; back sends it on to the server. It returns the
// arguments too, to run it again.
func replayMeddled(t *testing.T, p *process, target []string, nth int, meddle func(replay *os.Process, back http.Handler, w http.ResponseWriter, r *http.Request)) ([]string, ran) {
	back := proxyTo(p)
	var mu sync.Mutex
	var replay *os.Process
	requests := 0
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.Method == http.MethodPost {
			if requests++; requests == nth {
				meddle(replay, back, w, r)
				return
			}
		}
		back.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	args := append([]string{"replay", f1 + "events.csv", "--server", front.URL, "--batch", "100"}, target...)
	cmd := exec.Command(binary, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	mu.Lock()
	require.NoError(t, cmd.Start())
	replay = cmd.Process
	mu.Unlock()
	cmd.Wait()
	return args, ran{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// Nineteen seasons of Formula 1, replayed, killed in the middle and run again:
// the board is the official standings, and a third run changes nothing.
func TestReplayThatIsKilledAndRunAgain(t *testing.T) {
	want := finals(t)
	redistest.Engines(t, func(t *testing.T, store string) {
		p := launch(t, "--redis", store)
		args, killed := replayMeddled(t, p, toStars, 20, func(replay *os.Process, back http.Handler, _ http.ResponseWriter, r *http.Request) {
			back.ServeHTTP(httptest.NewRecorder(), r) // applied, and before the answer comes it is killed
			replay.Kill()
			<-r.Context().Done() // it is gone, and sent no more
		})
		require.Equal(t, -1, killed.code)
		half := standings(t, p.addr, "stars")
		require.NotEmpty(t, half)
		require.NotEqual(t, want, half)

		again := run(t, "", args...)
		require.Zero(t, again.code, again.stderr)
		require.Contains(t, again.stdout, "sent 3,601 (2,000 duplicates), refused 0, in ")
		require.Equal(t, want, standings(t, p.addr, "stars"))
		require.Contains(t, run(t, "", args...).stdout, "(3,601 duplicates)")
		require.Equal(t, want, standings(t, p.addr, "stars"))

		// Anew on purpose, from standard input.
		events, err := os.ReadFile(f1 + "events.csv")
		require.NoError(t, err)
		anew := append([]string{"replay", "-", "--board", "stars", "--server", "http://" + p.addr, "--id-prefix", "anew"}, f1Columns...)
		require.Contains(t, run(t, string(events), anew...).stdout, "(0 duplicates)")
		for member, points := range standings(t, p.addr, "stars") {
			require.Equal(t, 2*want[member], points, member)
		}
	})
}

// points is an event of the recording above: its columns are the event's fields,
// and others are of no use to it.
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
	want := finals(t)
	redistest.Engines(t, func(t *testing.T, store string) {
		p := launch(t, "--redis", store, "--boards", write(t, "boards.yaml", points))
		args, killed := replayMeddled(t, p, []string{"--event", "points"}, 20, func(replay *os.Process, back http.Handler, _ http.ResponseWriter, r *http.Request) {
			back.ServeHTTP(httptest.NewRecorder(), r)
			replay.Kill()
			<-r.Context().Done()
		})
		require.Equal(t, -1, killed.code)
		all := func() (drivers map[string]int64, constructors int64) {
			drivers = make(map[string]int64)
			for season := 2005; season <= 2023; season++ {
				for member, points := range standings(t, p.addr, fmt.Sprint("drivers:", season)) {
					drivers[member] += points
				}
				for _, points := range standings(t, p.addr, fmt.Sprint("constructors:", season)) {
					constructors += points
				}
			}
			return drivers, constructors
		}
		again := run(t, "", args...)
		require.Zero(t, again.code, again.stderr)
		require.Contains(t, again.stdout, "sent 3,601 (2,000 duplicates), refused 0, in ")
		total := int64(0)
		for _, points := range want {
			total += points
		}
		drivers, constructors := all()
		require.Equal(t, want, drivers)
		require.Equal(t, total, constructors)
		require.Contains(t, run(t, "", args...).stdout, "(3,601 duplicates)")
		drivers, _ = all()
		require.Equal(t, want, drivers)
		require.Contains(t, servertest.Request(t, "GET", "http://"+p.addr+"/v1/boards/constructors:2023/members/red-bull", "").Body, `"data":{"last":"`)
	})
}

// ctrl-c ends it after the batch under way, and says how to go on.
func TestReplayThatIsInterrupted(t *testing.T) {
	p := launch(t)
	args, interrupted := replayMeddled(t, p, toStars, 3, func(replay *os.Process, back http.Handler, w http.ResponseWriter, r *http.Request) {
		replay.Signal(syscall.SIGINT)
		back.ServeHTTP(w, r)
	})
	require.Equal(t, 1, interrupted.code)
	// The signal may arrive when the next batch is under way already.
	var from, sent int
	_, err := fmt.Sscanf(interrupted.stderr[strings.Index(interrupted.stderr, "--from"):], "--from %d", &from)
	require.NoError(t, err, interrupted.stderr)
	_, err = fmt.Sscanf(strings.ReplaceAll(interrupted.stdout, ",", ""), "sent %d", &sent)
	require.NoError(t, err)
	require.GreaterOrEqual(t, sent, 300)
	require.Less(t, sent, 3601)
	require.Equal(t, sent+2, from, "the head, and the line after the last that was sent")

	rest := run(t, "", append(args, "--from", strconv.Itoa(from))...)
	require.Zero(t, rest.code, rest.stderr)
	require.Contains(t, rest.stdout, fmt.Sprintf("sent %s (0 duplicates)", thousands(int64(3601-sent))))
	require.Equal(t, finals(t), standings(t, p.addr, "stars"))
}

// A batch whose answer never comes may have counted: it says which lines that
// are, and until when it is safe to go on with them.
func TestReplayThatIsInterruptedWithoutAnAnswer(t *testing.T) {
	p := launch(t)
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
	file := filepath.Join(t.TempDir(), "ones.csv")
	require.NoError(t, os.WriteFile(file, []byte("member,score\n"+strings.Repeat("m,1\n", 30)), 0o600))
	args := []string{"replay", file, "--board", "stars", "--batch", "10"}
	cmd := exec.Command(binary, append(args, "--server", front.URL)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	redistest.Eventually(t, "the second batch to count", func() error {
		if points := standings(t, p.addr, "stars")["m"]; points != 20 {
			return fmt.Errorf("%d points", points)
		}
		return nil
	})
	cmd.Process.Signal(syscall.SIGINT)
	require.Error(t, cmd.Wait())
	require.Regexp(t, `--from 12 before \d\d:\d\d:\d\d: lines 12 to 21 may have counted`, stderr.String())
	rest := run(t, "", append(args, "--server", "http://"+p.addr, "--from", "12")...)
	require.Zero(t, rest.code, rest.stderr)
	require.EqualValues(t, 30, standings(t, p.addr, "stars")["m"])
}

// While the server is away it says so, and ctrl-c ends it at once.
func TestReplayToAServerThatIsAway(t *testing.T) {
	file := filepath.Join(t.TempDir(), "one.csv")
	require.NoError(t, os.WriteFile(file, []byte("member,score\nm,1\n"), 0o600))
	for target, says := range map[string]string{"--board=stars": "interrupted; go on with --from 2", "--event=gift": "interrupted before anything was sent"} {
		cmd := exec.Command(binary, "replay", file, target, "--server", fmt.Sprintf("http://127.0.0.1:%d", redistest.FreePort(t)))
		stderr, err := cmd.StderrPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := bufio.NewScanner(stderr)
		require.True(t, lines.Scan())
		require.Contains(t, lines.Text(), "does not answer, trying again")
		require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
		require.True(t, lines.Scan())
		require.Contains(t, lines.Text(), says)
		require.Error(t, cmd.Wait())
	}
}

// What another program does to the file meanwhile is noticed.
func TestReplayOfAFileThatChanges(t *testing.T) {
	p := launch(t)
	file := filepath.Join(t.TempDir(), "ones.csv")
	require.NoError(t, os.WriteFile(file, []byte("member,score\n"+strings.Repeat("m,1\n", 100_000)), 0o600))
	back := proxyTo(p)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := os.Truncate(file, 100_000); err != nil {
			t.Error(err)
		}
		back.ServeHTTP(w, r)
	}))
	defer front.Close()
	got := run(t, "", "replay", file, "--board", "stars", "--server", front.URL)
	require.Equal(t, 1, got.code)
	require.Contains(t, got.stderr, "changed while it was sent")
}

// gift is the event that a fake server has.
const gift = `{"event":"gift","updates":[
	{"board":"fans:{star}","member":"{user}","score":"{flowers}"},
	{"board":"givers","member":"{user}","score":"-{less}","op":"sum","data":{"at":"{at}","more":["{n}"]}}]}`

// fake is a server that takes everything but what is too large, and keeps it.
type fake struct {
	*httptest.Server
	event  string // as GET answers
	mu     sync.Mutex
	paths  []string
	bodies []string
}

func startFake(t *testing.T, answer func(n int, w http.ResponseWriter) bool) *fake {
	f := &fake{event: gift}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		f.mu.Lock()
		defer f.mu.Unlock()
		if r.Method == http.MethodGet && r.URL.Path == "/v1/events/gift" {
			io.WriteString(w, f.event)
			return
		}
		f.paths, f.bodies = append(f.paths, r.Method+" "+r.URL.Path), append(f.bodies, string(body))
		if answer != nil && answer(len(f.bodies), w) {
			return
		}
		var list map[string][]json.RawMessage
		if err := json.Unmarshal(body, &list); err != nil {
			t.Error(err)
		}
		event, err := definition.ParseEvent("gift", []byte(f.event))
		if err != nil {
			t.Error(err)
		}
		if len(body) > 1<<20 || len(list["events"])*len(event.Updates) > ranking.MaxEventUpdates {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			io.WriteString(w, `{"code":"too_large","detail":"comes to too much"}`)
			return
		}
		ok := `{"board":"b","member":"m","score":1,"rank":1}`
		for name, items := range list {
			if name == "events" {
				ok = `{"results":[` + ok + `]}`
			}
			io.WriteString(w, `{"results":[`+strings.TrimSuffix(strings.Repeat(ok+",", len(items)), ",")+`]}`)
		}
	}))
	t.Cleanup(f.Close)
	return f
}

func TestReplayReadsWhatWasRecorded(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		args       []string
		path, body string
	}{
		"CSV": {"a.csv", "member,score,more\nann,3,x\n\"b,\"\"b\",-4,\n", []string{"--board", "b:1"},
			"POST /v1/boards/b:1/scores", `{"updates":[{"member":"ann","score":3,"id":"p-2"},{"member":"b,\"b","score":-4,"id":"p-3"}]}`},
		"CSV with a mark, op and ids": {"a.csv", "\ufeffmember,score,op,id\r\nann,3,best,x1\r\n\r\nbob,4,,\r\n", []string{"--board", "b"},
			"POST /v1/boards/b/scores", `{"updates":[{"member":"ann","score":3,"op":"best","id":"x1"},{"member":"bob","score":4,"id":"p-4"}]}`},
		"names of its own": {"a.csv", "who,points,how,key\nann,3,last,x1\n", []string{"--board", "b", "--member", "who", "--score", "points", "--op", "how", "--id", "key"},
			"POST /v1/boards/b/scores", `{"updates":[{"member":"ann","score":3,"op":"last","id":"x1"}]}`},
		"a line of several lines": {"a.csv", "member,score,text\nann,3,\"a\nb\nc\"\nbob,4,d\n", []string{"--board", "b"},
			"POST /v1/boards/b/scores", `{"updates":[{"member":"ann","score":3,"id":"p-2"},{"member":"bob","score":4,"id":"p-5"}]}`},
		"NDJSON": {"a.ndjson", "{\"member\":\"ann\",\"score\":3,\"x\":[1]}\n\n{\"member\":\"17\",\"score\":4,\"id\":\"i\",\"op\":\"sum\"}", []string{"--board", "b"},
			"POST /v1/boards/b/scores", `{"updates":[{"member":"ann","score":3,"id":"p-1"},{"member":"17","score":4,"op":"sum","id":"i"}]}`},
		"from a line on": {"a.csv", "member,score\nann,3\nbob,4\n", []string{"--board", "b", "--from", "3"},
			"POST /v1/boards/b/scores", `{"updates":[{"member":"bob","score":4,"id":"p-3"}]}`},
		"events, CSV": {"a.csv", "id,star,user,flowers,less,n,at,more\ng1,17,007,3,-1,2,soon,x\n,s18,u5,4,0,2.50,1795161600000,\n", []string{"--event", "gift", "--numbers", "n"},
			"POST /v1/events/gift", `{"events":[{"at":"soon","flowers":3,"id":"g1","less":-1,"n":2,"star":"17","user":"007"},{"at":"1795161600000","flowers":4,"id":"p-3","less":0,"n":2.50,"star":"s18","user":"u5"}]}`},
		"events, CSV at speed": {"a.csv", "at,star,user,flowers,less,n\n2026-11-20,s17,u,3,4,5\n", []string{"--event", "gift", "--speed", "1", "--id", "user"},
			"POST /v1/events/gift", `{"events":[{"at":"2026-11-20","flowers":3,"id":"u","less":4,"n":"5","star":"s17","user":"u"}]}`},
		"events, NDJSON": {"a", `{"star":"s17","user":"u","flowers":3,"less":4,"at":{"deep":[1,2.50,null]},"n":true,"more":7}`, []string{"--event", "gift"},
			"POST /v1/events/gift", `{"events":[{"at":{"deep":[1,2.50,null]},"flowers":3,"id":"p-1","less":4,"n":true,"star":"s17","user":"u"}]}`},
		"at speed": {"a.csv", "member,score,at\nann,3,2026-11-20T08:00:00Z\nbob,4,2026-11-20T08:00:00+00:00\n", []string{"--board", "b", "--speed", "1"},
			"POST /v1/boards/b/scores", `{"updates":[{"member":"ann","score":3,"id":"p-2"},{"member":"bob","score":4,"id":"p-3"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			f := startFake(t, nil)
			got := run(t, "", append([]string{"replay", write(t, c.file, c.text), "--id-prefix", "p", "--server", f.URL}, c.args...)...)
			require.Zero(t, got.code, got.stderr)
			require.Equal(t, []string{c.path}, f.paths)
			require.JSONEq(t, c.body, f.bodies[0])
			require.Empty(t, got.stderr)
		})
	}
}

// Anything that is wrong anywhere is told with its line, before anything is sent.
func TestReplayRefusesBadInput(t *testing.T) {
	long := strings.Repeat("x", 70_000)
	for name, c := range map[string]struct {
		text string
		args []string
		says string
	}{
		"no member column":   {"who,score\nann,3\n", nil, "line 1: member: is no column"},
		"no time column":     {"member,score\nann,3\n", []string{"--speed", "2"}, "line 1: at: is no column"},
		"no column given":    {"member,score\nann,3\n", []string{"--op", "how"}, "line 1: how: is no column"},
		"a column twice":     {"member,score,score\nann,3,4\n", nil, "line 1: score: is there twice"},
		"too few fields":     {"member,score\nann,3\nbob\n", nil, "line 3: has 1 fields; want 2"},
		"a stray quote":      {"member,score\nann,3\nb\"ob,4\n", nil, `line 3: bare "`},
		"no member":          {"member,score\nann,3\n,4\n", nil, "line 3: member: is missing"},
		"no score":           {"member,score\nann,\n", nil, "line 2: score: is missing"},
		"a score in words":   {"member,score\nann,three\n", nil, `line 2: score: is "three"; want a number`},
		"a fraction":         {"member,score\nann,1.5\n", nil, "line 2: score: is 1.5; want an integer"},
		"a score too large":  {"member,score\nann,9007199254740992\n", nil, "line 2: score: is 9007199254740992"},
		"a long member":      {"member,score\n" + long[:129] + ",3\n", nil, "line 2: member: has 129 bytes"},
		"a control":          {"member,score\na\x01,3\n", nil, "line 2: member: has a control character"},
		"not UTF-8":          {"member,score\na\xff,3\n", nil, "line 2: is not UTF-8"},
		"an op":              {"member,score,op\nann,3,most\n", nil, `line 2: op: is "most"`},
		"a time":             {"member,score,at\nann,3,soon\n", []string{"--speed", "2"}, `line 2: at: is "soon"`},
		"no time":            {"member,score,at\nann,3,2026-11-20\nbob,4,\n", []string{"--speed", "2"}, "line 3: at: is missing"},
		"a quote left open":  {"member,score\nann,3\n\"" + strings.Repeat(long, 3) + ",3\n", nil, "line 3: is over 65536 bytes"},
		"a long line":        {`{"member":"ann","score":1}` + "\n" + `{"member":"` + long + `"}`, nil, "line 2: is over 65536 bytes"},
		"not JSON":           {`{"member":"ann","score":1}` + "\n" + `{"member":`, nil, "line 2: is not valid JSON"},
		"not an object":      {`{"member":"ann","score":1}` + "\n7\n", nil, "line 2: is no JSON object"},
		"a field twice":      {`{"member":"ann","score":1,"score":2}`, nil, "line 1: is not valid JSON"},
		"a list":             {`[{"member":"ann","score":1}]`, nil, "line 1: is a JSON list"},
		"a member by number": {`{"member":17,"score":1}`, nil, "line 1: member: is 17; want a string"},
		"an id by number":    {`{"member":"a","score":1,"id":7}`, nil, "line 1: id: is 7; want a string"},
		"a score as text":    {`{"member":"a","score":"1"}`, nil, `line 1: score: is "1"; want an integer`},
		"nothing":            {"", nil, "has no lines to send"},
		"a head alone":       {"member,score\n", nil, "has no lines to send"},
		"beyond its end":     {"member,score\nann,3\n", []string{"--from", "3"}, "it ends with line 2"},
	} {
		t.Run(name, func(t *testing.T) {
			f := startFake(t, nil)
			got := run(t, "", append([]string{"replay", write(t, "in", c.text), "--board", "b", "--server", f.URL}, c.args...)...)
			require.Equal(t, 1, got.code, got.stdout)
			require.Contains(t, got.stderr, c.says)
			require.Empty(t, f.bodies)
		})
	}
	const event = "star,user,flowers,less,n,at\ns17,u,3,4,5,6\n"
	for name, c := range map[string]struct {
		text, says string
		args       []string
	}{
		"no column for a field":    {"star,user,flowers,less,n\n", "line 1: at: is no column", nil},
		"nothing for a field":      {event + "s17,,3,4,5,6\n", "line 3: user: is missing; event gift has at, flowers, less, n, star, user", nil},
		"no number":                {event + "s17,u,three,4,5,6\n", `line 3: flowers: is "three"; want a number`, nil},
		"a fraction":               {event + "s17,u,1.5,4,5,6\n", "line 3: flowers: is 1.5; want an integer", nil},
		"a score too large":        {event + "s17,u,3,9007199254740992,5,6\n", "line 3: less: is 9007199254740992", nil},
		"a part that none can be":  {event + "s:17,u,3,4,5,6\n", "line 3: star: has ':', which no part may have", nil},
		"a long member":            {event + "s17," + long[:129] + ",3,4,5,6\n", "line 3: user: has 129 bytes", nil},
		"data too long":            {event + "s17,u,3,4,5," + long[:250] + "\n", "line 3: at: makes the data on board givers", nil},
		"text as a number":         {event, "--numbers: star is text", []string{"--numbers", "star"}},
		"a number that is nowhere": {event, "--numbers: what is no field of event gift; its fields are at, flowers, less, n, star, user", []string{"--numbers", "what"}},
		"a field of another type":  {`{"star":17,"user":"u","flowers":3,"less":4,"n":5,"at":6}`, "line 1: star: is 17; want a string", nil},
		"a field too few":          {`{"star":"s17","user":"u","flowers":3,"less":4,"n":5}`, "line 1: at: is missing", nil},
		"null":                     {`{"star":"s17","user":"u","flowers":3,"less":4,"n":5,"at":null}`, "line 1: at: is null", nil},
	} {
		t.Run("event, "+name, func(t *testing.T) {
			f := startFake(t, nil)
			got := run(t, "", append([]string{"replay", write(t, "in", c.text), "--event", "gift", "--server", f.URL}, c.args...)...)
			require.Equal(t, 1, got.code, got.stdout)
			require.Contains(t, got.stderr, c.says)
			require.Empty(t, f.bodies)
		})
	}
	f := startFake(t, nil)
	f.event = `{"event":"gift","updates":[{"board":"b","member":"m","score":1,"shards":2}]}`
	got := run(t, "", "replay", write(t, "in", event), "--event", "gift", "--server", f.URL)
	require.Equal(t, 1, got.code)
	require.Contains(t, got.stderr, `the server has event "gift" as this version knows none: updates[0].shards`)
	require.Empty(t, f.bodies)
	for _, args := range [][]string{{"replay", "x"}, {"replay", "x", "--board", "b", "--event", "e"}, {"replay", "x", "--board", "b", "--batch", "1001"}, {"replay", "x", "--board", "b", "--speed=-1"}} {
		require.Equal(t, 80, run(t, "", args...).code, args)
	}
	require.Contains(t, run(t, "", "replay", "/nowhere.csv", "--board", "b").stderr, "nowhere")
}

// The help says that a board or an event is wanted, and shows both; so does a run that
// has neither.
func TestReplayWantsOneTarget(t *testing.T) {
	help := run(t, "", "replay", "--help").stdout
	require.Contains(t, help, "Usage: rankcast replay <file> [flags]")
	require.Contains(t, help, "Needs either --board or --event.")
	require.Contains(t, help, "rankcast replay gifts.csv --event gift")
	for want, args := range map[string][]string{
		"give one of --board=NAME and --event=NAME":  {"replay", "x"},
		"--board and --event can't be used together": {"replay", "x", "--board", "b", "--event", "e"},
	} {
		got := run(t, "", args...)
		require.Equal(t, 80, got.code)
		require.Contains(t, got.stderr, want)
	}
	require.Equal(t, 80, run(t, "", "replay", "x", "--board", "").code)
}

// What the server refuses is counted and told; the rest is sent.
func TestReplayGoesOnAfterRefusals(t *testing.T) {
	p := launch(t)
	got := run(t, "", "replay", write(t, "a.csv", "member,score\nann,9007199254740991\nann,1\nbob,2\n"), "--board", "stars", "--server", "http://"+p.addr)
	require.Equal(t, 1, got.code)
	require.Contains(t, got.stdout, "sent 2 (0 duplicates), refused 1,")
	require.Contains(t, got.stderr, "line 3: ")
	require.Contains(t, got.stderr, "out_of_range")
	require.Contains(t, got.stderr, "1 of 3 lines were refused")
	require.Equal(t, map[string]int64{"ann": client.MaxScore, "bob": 2}, standings(t, p.addr, "stars"))
}

func TestReplayToAServerThatDoesNotKnow(t *testing.T) {
	p := launch(t)
	file := write(t, "a.csv", "member,score\nann,1\n")
	require.Contains(t, run(t, "", "replay", file, "--board", "nope", "--server", "http://"+p.addr).stderr, "unknown_board")
	require.Contains(t, run(t, "", "replay", file, "--event", "nope", "--server", "http://"+p.addr).stderr, `there is no event "nope" (unknown_event`)
	for body, says := range map[string]string{
		`{"code":"not_found","detail":"/v1/events/gift"}`:            "knows no events",
		`{"code":"unknown_event","detail":"there is no event gift"}`: "there is no event gift",
		`<html>`: "no Rankcast server",
	} {
		f := startFake(t, func(_ int, w http.ResponseWriter) bool {
			w.WriteHeader(404)
			io.WriteString(w, body)
			return true
		})
		got := run(t, "", "replay", file, "--event", "other", "--server", f.URL)
		require.Equal(t, 1, got.code)
		require.Contains(t, got.stderr, says)
		require.NotContains(t, got.stderr, "--from", "that would not help")
	}
}

// A batch is never larger than a server takes, in bytes and in what its events come to.
func TestReplayOfLargeEvents(t *testing.T) {
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
			got := run(t, "", "replay", write(t, "a", strings.Repeat(line, c.lines)), "--event", "gift", "--server", f.URL)
			require.Zero(t, got.code, got.stderr)
			require.Contains(t, got.stdout, fmt.Sprintf("sent %s (0 duplicates)", thousands(int64(c.lines))))
			require.Len(t, f.bodies, c.batches)
		})
	}
}

// An event of which one board refused its part is refused.
func TestReplayOfEventsCountsRefusals(t *testing.T) {
	f := startFake(t, func(_ int, w http.ResponseWriter) bool {
		io.WriteString(w, `{"results":[{"results":[{"duplicate":true},{"error":{"code":"out_of_range","message":"too much"}}]},{"results":[{"duplicate":true},{"duplicate":true}]},{"results":[{"duplicate":true},{}]},{"error":{"code":"invalid_request","message":"no star"}}]}`)
		return true
	})
	f.event = `{"event":"gift","updates":[{"board":"b","member":"m","score":1},{"board":"c","member":"m","score":1}]}`
	got := run(t, "", "replay", write(t, "a", strings.Repeat("{}\n", 4)), "--event", "gift", "--server", f.URL)
	require.Equal(t, 1, got.code)
	require.Contains(t, got.stdout, "sent 2 (1 duplicates), refused 2,")
	require.Contains(t, got.stderr, "line 1: too much")
	require.Contains(t, got.stderr, "line 4: no star")
}

// roundTrip is a transport without a network, so that time can be simulated.
type roundTrip func(body string) string

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(f(string(body)))), Request: r}, nil
}

// At speed each line is sent at its time, and those of one time together.
func TestReplayAtSpeed(t *testing.T) {
	const text = "member,score,at\na,1,2026-11-20T08:00:00Z\nb,1,2026-11-20T08:00:00.000Z\nc,1,2026-11-20T08:01:00Z\nd,1,2026-11-20T08:00:30Z\ne,1,2026-11-20T09:00:00Z\n"
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var sent []string
		c, err := client.New("http://server.test", client.Config{HTTP: &http.Client{Transport: roundTrip(func(body string) string {
			var batch struct{ Updates []client.Update }
			require.NoError(t, json.Unmarshal([]byte(body), &batch))
			members := ""
			for _, u := range batch.Updates {
				members += u.Member
			}
			sent = append(sent, fmt.Sprint(time.Since(start), " ", members))
			return `{"results":[` + strings.TrimSuffix(strings.Repeat("{},", len(batch.Updates)), ",") + `]}`
		})}})
		require.NoError(t, err)
		play := func(ctx context.Context, speed float64, batch, from int) (*sender, error) {
			start, sent = time.Now(), nil
			r := &replay{Board: "b", Speed: speed, Batch: batch, From: from, Member: "member", Score: "score"}
			s := &sender{replay: r, client: c, started: start, bar: progressbar.DefaultSilent(5)}
			return s, s.play(ctx, func(each func(recorded) error) error { return r.recording().read(strings.NewReader(text), each) })
		}
		_, err = play(t.Context(), 60, 1000, 1)
		require.NoError(t, err)
		require.Equal(t, []string{"0s ab", "1s cd", "1m0s e"}, sent)
		_, err = play(t.Context(), 0.5, 1000, 1)
		require.NoError(t, err)
		require.Equal(t, []string{"0s ab", "2m0s cd", "2h0m0s e"}, sent)
		_, err = play(t.Context(), 60, 1, 4)
		require.NoError(t, err)
		require.Equal(t, []string{"0s c", "0s d", "59s e"}, sent)
		_, err = play(t.Context(), 0, 2, 1)
		require.NoError(t, err)
		require.Equal(t, []string{"0s ab", "0s cd", "0s e"}, sent)

		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		s, err := play(ctx, 60, 1000, 1)
		require.True(t, errors.Is(err, context.DeadlineExceeded))
		require.Equal(t, []string{"0s ab", "1s cd"}, sent)
		require.Equal(t, 6, s.next)
	})
}

func TestParseTime(t *testing.T) {
	at := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		`"2026-11-20T08:00:00Z"`: at, `"2026-11-20T16:00:00.250+08:00"`: at.Add(250 * time.Millisecond), `"2026-11-20"`: at.Add(-8 * time.Hour),
		`1795161600250`: at.Add(250 * time.Millisecond), `"1795161600250"`: at.Add(250 * time.Millisecond), `-1000`: time.Unix(-1, 0),
	} {
		got, err := parseTime(jsontext.Value(text))
		require.NoError(t, err)
		require.True(t, want.Equal(got), "%s: %v", text, got)
	}
	for _, bad := range []string{`"20.11.2026"`, `""`, `1.5`, `null`, `true`, `[]`, `"08:00"`} {
		_, err := parseTime(jsontext.Value(bad))
		require.ErrorContains(t, err, "want a time", bad)
	}
}

// On a terminal a bar shows how far it is, and gives way to the summary.
func TestReplayInATerminal(t *testing.T) {
	f := startFake(t, nil)
	s := startIn(t, nil, append([]string{"replay", f1 + "events.csv", "--board", "b", "--server", f.URL, "--batch", "10"}, f1Columns...)...)
	require.Zero(t, s.wait())
	require.Contains(t, s.raw.String(), "/3601)")
	require.Contains(t, s.screen(), "sent 3,601 (0 duplicates), refused 0, in ")
	require.NotContains(t, s.screen(), "/3601)")
}
