package process

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/cmd/rankcast/internal/example"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// sender runs rankcast send against a server.
func sender(t *testing.T, server string) func(args ...string) e2etest.Ran {
	return func(args ...string) e2etest.Ran {
		return e2etest.Run(t, "", append([]string{"send", "--server", server}, args...)...)
	}
}

func TestSend(t *testing.T) {
	t.Parallel()
	file := e2etest.Write(t, "boards.yaml", string(example.Boards)+`
  visit: [{board: points, member: all, score: 1}]
  when:  [{board: points, member: "{at}", score: 1, data: {note: "{note}"}}]
`)
	p := e2etest.Launch(t, "--boards", file)
	send := sender(t, "http://"+p.Addr)
	says := func(want string, args ...string) {
		t.Helper()
		send(args...).Is(t, 0, want+"\n", "")
	}
	says("points: ana has 40, rank 1 (new)", "points", "ana", "40")
	says("points: eli has 1,050, rank 1 (new)", "points", "eli", "1050")
	says("points: ana has 2,040, rank 1 (was 2)", "points", "ana", "2000")
	says("points: ana has 2,035, rank 1", "points", "ana", "-5")
	says("points: ana has 2,035, rank 1 (unchanged)", "points", "ana", "0")
	says("points: ana has 7, rank 2 (was 1)", "points", "ana", "7", "--op", "last")
	says("laps: -7 has 40, rank 1 (new)", "laps", "-7", "40", "--id", "-5")
	require.Contains(t, p.Request("GET", "/v1/boards/laps/top", "").Body, `"member":"-7"`)
	require.Contains(t, p.Request("POST", "/v1/boards/laps/scores", `{"member":"-7","score":40,"id":"-5"}`).Body, `"duplicate":true`)
	says("laps: \u22127 has 30, rank 1 (new)", "laps", "\u22127", "30")
	p.Answers(200, "DELETE", "/v1/boards/laps/members/-7", "")
	p.Answers(200, "DELETE", "/v1/boards/laps/members/\u22127", "")
	says("points: mia has 5, rank 3 (new)", "points", "mia", "5", "--id", "m1")
	says("points: mia has 5, rank 3 (sent before with this id; counts once)", "points", "mia", "5", "--id", "m1")
	says("points: leo has no score; --if exists changed nothing", "points", "leo", "5", "--if", "exists")
	says("points: mia has 5, rank 3 (unchanged)", "points", "mia", "5", "--if", "absent")
	says("laps: ana has 61,500, rank 1 (new)", "laps", "ana", "61500", "--data", `{ "car": 44 }`)
	require.Contains(t, p.Request("GET", "/v1/boards/laps/top", "").Body, `"data":{"car":44}`)
	says(`{"board":"laps","period":"","member":"ana","score":61500,"rank":1,"previous":{"score":61500,"rank":1},"duplicate":false}`,
		"laps", "ana", "62000", "--json")
	p.Answers(204, "PUT", "/v1/boards/points/hidden/ana", "{}")
	says("points: ana has 8, and no rank: it is hidden, or a shard of the board does not answer", "points", "ana", "1")

	require.Zero(t, e2etest.Run(t, "", "put", "hot", "{window: 3h}", "--server", "http://"+p.Addr).Code)
	require.Zero(t, e2etest.Run(t, "", "put", "best", "{mode: best, limit: 1}", "--server", "http://"+p.Addr).Code)
	says("hot: ana was counted; the board shows no score of it now", "hot", "ana", "5")
	require.Zero(t, e2etest.Run(t, "", "put", "votes", "{shards: 4}", "--server", "http://"+p.Addr).Code)
	says("votes: ana has 5, rank 1 (new)", "votes", "ana", "5")
	says("votes: eli has 7, rank 1 (new)", "votes", "eli", "7")
	says("votes: ana has 6, rank 2", "votes", "ana", "1")
	says("votes: ana has 6, rank 2 (unchanged)", "votes", "ana", "0")
	says("best: ana has 5, rank 1 (new)", "best", "ana", "5")
	says("best: mia was counted; the board shows no score of it now", "best", "mia", "4")

	says("stars: s17 has 3, rank 1 (new)\nfans:s17: mochi has 3, rank 1 (new)\nfans3h:s17: mochi has 3, rank 1 "+
		"(new)\ngivers-week: mochi has 3, rank 1 (new)\ngivers-month: mochi has 3, rank 1 (new)\n"+
		"total: all has 3, rank 1 (new)",
		"--event", "gift", "star=s17", "user=mochi", "flowers=3")
	says("points: all has 1, rank 3 (new)", "--event", "visit")
	says("points: 7=x has 1, rank 4 (new)", "--event", "when", "at=7=x", "note=3")
	require.Contains(t, p.Request("GET", "/v1/boards/points/top", "").Body, `"data":{"note":"3"}`, "what is no score is text")
	got := send("--event", "gift", "star=s17", "user=mochi", "flowers=2", "--json", "--id", "g2")
	require.Zero(t, got.Code, got.Stderr)
	require.Regexp(t, `^\{"results":\[\{"board":"stars","period":"[^"]+","member":"s17","score":5,"rank":1,`+
		`"previous":\{"score":3,"rank":1\},"duplicate":false\},`, got.Stdout)

	// A board that refuses is named, and the exit code says so.
	got = send("--event", "gift", "star=s18", "user=mochi", "flowers=9007199254740990", "--id", "g3")
	require.Equal(t, 1, got.Code)
	require.Contains(t, got.Stdout, "stars: s18 has 9,007,199,254,740,990, rank 1 (new)\n")
	require.Contains(t, got.Stdout, "givers-week: refused: score: ")
	require.Contains(t, got.Stderr, "3 of 6 boards did not take the event; send it again within ten minutes with --id g3")
	got = send("--event", "gift", "star=s18", "user=mochi", "flowers=9007199254740990", "--id", "g3", "--json")
	require.Equal(t, 1, got.Code)
	require.Contains(t, got.Stdout, `{"board":"givers-week","error":{"code":"out_of_range","message":"score: `)
}

func TestSendRefusesBadInput(t *testing.T) {
	t.Parallel()
	p := e2etest.LaunchBoards(t, string(example.Boards))
	send := sender(t, "http://"+p.Addr)
	for _, c := range []struct {
		says string
		args []string
	}{
		{"score: is 61.5; want an integer: send seconds as milliseconds with display.format time_ms", []string{"laps", "ana", "61.5"}},
		{"score: is -0.5; want an integer: send seconds", []string{"laps", "ana", "-0.5"}},
		{`score: is "three"; want an integer`, []string{"laps", "ana", "three"}},
		{"score: is 9007199254740992; want an integer within", []string{"laps", "ana", "9007199254740992"}},
		{"member: is empty", []string{"laps", "", "1"}},
		{"board: is a family; name one of its boards", []string{"fans:{star}", "ana", "1"}},
		{"--data: is not valid JSON", []string{"laps", "ana", "1", "--data", "{car:44}"}},
		{"--at: is", []string{"laps", "ana", "1", "--at", "-1"}},
		{`--at: is "soon"; want a time`, []string{"laps", "ana", "1", "--at", "soon"}},
		{"at: applies only to a board with a window", []string{"laps", "ana", "1", "--at", "2026-11-20T08:00:00Z"}},
		{"--id: has the control character", []string{"laps", "ana", "1", "--id", "a\tb"}},
		{"there is no board \"nope\" (unknown_board, status 404)\n          check the name, or define it with: rankcast put " +
			"nope\n          if it is an event: rankcast send --event nope\n", []string{"nope", "ana", "1"}},
		{`there is no event "nope"; the events are gift (unknown_event`, []string{"--event", "nope", "a=1"}},
		{"flowers: is missing; event gift has flowers, star, user", []string{"--event", "gift", "star=s17", "user=u4"}},
		{"flower: is not a field of event gift, which has flowers, star, user", []string{"--event", "gift", "star=s17", "user=u4", "flower=3"}},
		{"s17: is not NAME=VALUE, such as star=s17", []string{"--event", "gift", "s17", "user=u4", "flowers=3"}},
		{"star: is given twice", []string{"--event", "gift", "star=s17", "star=s18", "user=u4", "flowers=3"}},
		{`flowers: is "three"; want an integer`, []string{"--event", "gift", "star=s17", "user=u4", "flowers=three"}},
		{"flowers: is 3.5; want an integer: send", []string{"--event", "gift", "star=s17", "user=u4", "flowers=3.5"}},
		{"star: has ':', which no part may have", []string{"--event", "gift", "star=a:b", "user=u4", "flowers=3"}},
	} {
		got := send(c.args...)
		got.Fails(t, 1, c.says)
		require.Empty(t, got.Stdout)
	}
	for _, args := range [][]string{{}, {"points", "ana"}, {"points", "ana", "1", "2"}, {"points", "ana", "1", "--op", "most"},
		{"--event", "gift", "star=s17", "--op", "sum"}} {
		require.Equal(t, 80, send(args...).Code, args)
	}
	for _, board := range []string{"laps", "points", "stars"} {
		_, total := servertest.Top(t, p.Addr, board, 1)
		require.Zero(t, total)
	}
}

// The command sends a score without an answer again, with the same id.
func TestSendTriesAgainWithTheSameID(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var bodies []string
	f := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		bodies = append(bodies, string(body))
		if len(bodies) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, `{"board":"points","period":"","member":"ana","score":40,"rank":1,"previous":null,"duplicate":false}`)
	}))
	t.Cleanup(f.Close)
	got := sender(t, f.URL)("points", "ana", "40")
	require.Zero(t, got.Code, got.Stderr)
	require.Equal(t, "points: ana has 40, rank 1 (new)\n", got.Stdout)
	require.Contains(t, got.Stderr, "does not answer, trying again")
	require.Len(t, bodies, 2)
	require.Regexp(t, `"id":"[A-Z2-7]{26}"`, bodies[0])
	require.Equal(t, bodies[0], bodies[1])

	// An answer that leaves the outcome open comes with the id to send again.
	open := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
		_ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
	}))
	t.Cleanup(open.Close)
	got = sender(t, open.URL)("points", "ana", "40", "--id", "mine")
	got.Fails(t, 1, "\n          the score may have counted: send it again within ten minutes with --id mine\n")

	other := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	got = sender(t, other.URL)("points", "ana", "40")
	require.Contains(t, got.Stderr, "no Rankcast server answers at "+other.URL+" (404)")
}

// If the server is away, the command says after an interrupt that the score has not counted.
func TestSendToAServerThatIsAway(t *testing.T) {
	t.Parallel()
	server := fmt.Sprintf("http://127.0.0.1:%d", redistest.FreePort(t))
	for _, args := range [][]string{{"points", "ana", "40"}, {"--event", "gift", "star=s17"}} {
		before, after := interrupted(t, append([]string{"send", "--server", server}, args...)...)
		require.Equal(t, "rankcast: "+server+
			" does not answer, trying again for a minute: connection refused. Is the server running, and is this its address?", before)
		require.Equal(t, "rankcast: interrupted; the score has not counted", after)
	}
}

// An interrupt says that the score has not counted, if each answer has said so.
func TestSendThatIsInterrupted(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"code":"unavailable","detail":"the disk is full","counted":false}`: `^rankcast: interrupted; the score has not ` +
			`counted: the disk is full \(unavailable, status 503\)$`,
		`{"code":"unavailable","detail":"the store failed"}`: `^rankcast: interrupted; the score may have ` +
			`counted: send it again within ten minutes with --id mine$`,
	} {
		f := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "30")
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, body)
		}))
		t.Cleanup(f.Close)
		before, after := interrupted(t, "send", "points", "ana", "40", "--id", "mine", "--server", f.URL)
		require.Contains(t, before, "trying again")
		require.Regexp(t, want, after)
	}
}

// interrupted runs a command that fails, and interrupts it once its standard error has a line. It returns this line and the next.
func interrupted(t *testing.T, args ...string) (before, after string) {
	cmd := exec.Command(e2etest.Binary, args...)
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(stderr)
	require.True(t, lines.Scan())
	before = lines.Text()
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	require.True(t, lines.Scan())
	after = lines.Text()
	require.Error(t, cmd.Wait())
	return before, after
}
