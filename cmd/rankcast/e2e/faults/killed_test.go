package faults

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/hub/hubtest"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// fiveBoards is a boards file with an event that touches each of five boards.
const fiveBoards = `
boards: {a: {}, b: {mode: last}, "c:{star}": {period: week}, d: {mode: best, order: asc}, e: {period: day, timezone: Asia/Kolkata}}
events:
  gift:
    - {board: a, member: "{user}", score: "{flowers}"}
    - {board: b, member: "{user}", score: "{flowers}"}
    - {board: "c:{star}", member: "{user}", score: "{flowers}"}
    - {board: d, member: "{user}", score: "{flowers}"}
    - {board: e, member: "{user}", score: "{flowers}"}
`

// A server is killed in the middle of an event, once between any two of its trips to Redis. When a client sends the event again
// to another node, each board counts it once, and the feed has it once.
func TestKilledInTheMiddleOfAnEvent(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	file := e2etest.Write(t, "boards.yaml", fiveBoards)
	other := e2etest.Launch(t, "--redis", r.URL(), "--boards", file)
	other.Ready()
	feed := servertest.Dial(t, other.Addr)
	feed.Send(`{"type":"subscribe","id":1,"feed":"gift"}`)
	feed.Next("ok")
	feed.Next("feed")
	gift := func(id, star string) string {
		return fmt.Sprintf(`{"id":%q,"star":%q,"user":%q,"flowers":7}`, id, star, id)
	}
	send := func(id, star string) servertest.Answer {
		return other.Request("POST", "/v1/events/gift", gift(id, star))
	}
	toldOnce := func(id string) {
		items := feed.Next("feed").Items
		require.Len(t, items, 1, "%s", items)
		require.Contains(t, string(items[0].Data), id)
	}
	const ofEvent = "{/gift}"             // in the first trip
	known := []string{"a", "b", "d", "e"} // boards that exist
	require.Equal(t, 200, send("first", "s").Status)
	toldOnce("first")
	points := []struct {
		name string
		star string // the board of a star that has none yet takes a trip of its own, and so does the feed then
		hold string // what Redis does not get, when something is done once it has carried out the first trip
		done []string
	}{
		{"before all", "before-all", ofEvent, nil},
		{"before a new board", "before-a-new-board", "{c:before-a-new-board}", known},
		{"before the feed", "before-the-feed", "f:gift", append([]string{"c:before-the-feed"}, known...)},
		{"after all", "s", "", append([]string{"c:s"}, known...)},
	}
	for _, point := range points {
		t.Run(point.name, func(t *testing.T) {
			id := strings.ReplaceAll(point.name, " ", "-")
			proxy := redistest.StartProxy(t, r.URL())
			dies := e2etest.Launch(t, "--redis", proxy.URL(), "--boards", file)
			dies.Ready()
			first := proxy.Gate(ofEvent)
			if point.done == nil {
				proxy.Hold(point.hold)
			}
			answered := make(chan int, 1)
			go func() {
				a, _ := servertest.Try(t, "POST", "http://"+dies.Addr+"/v1/events/gift", gift(id, point.star))
				answered <- a.Status
			}()
			if point.done != nil {
				redistest.Receive(t, "the call to reach the gate", first.Reached())
			}
			if point.hold != "" {
				proxy.Hold(point.hold)
				first.Open()
				redistest.Eventually(t, "the event to be half way", func() error {
					if proxy.Held() == 0 {
						return fmt.Errorf("nothing is held")
					}
					return nil
				})
			}
			dies.Kill()
			require.NotEqual(t, 200, redistest.Receive(t, "a value from answered", answered), "it died before it had answered")
			for _, board := range point.done {
				other.Answers(200, "GET", "/v1/boards/"+board+"/members/"+id, "")
			}

			a := send(id, point.star)
			require.Equal(t, 200, a.Status, a.Body)
			var answer struct {
				Results []struct {
					Board     string
					Score     int64
					Duplicate bool
				}
			}
			a.Into(&answer)
			require.Len(t, answer.Results, 5)
			for _, result := range answer.Results {
				require.Equal(t, slices.Contains(point.done, result.Board), result.Duplicate, result.Board)
			}
			again := send(id, point.star)
			require.Equal(t, strings.ReplaceAll(a.Body, `"duplicate":false`, `"duplicate":true`), again.Body)
			toldOnce(id)
		})
	}
	members := map[string]int{"a": 5, "b": 5, "d": 5, "e": 5, "c:s": 2}
	for _, point := range points[:3] {
		members["c:"+point.star] = 1
	}
	for board, want := range members {
		top, total := servertest.Top(t, other.Addr, board, 10)
		require.EqualValues(t, want, total, board)
		for _, e := range top {
			require.EqualValues(t, 7, e.Score, board)
		}
	}
}

// A node dies while the receiver of its webhook is down. The next node sends the closed period, under the id that the first
// node has tried.
func TestWebhookOutlivesItsNode(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	var works atomic.Bool
	r := &servertest.Receiver{T: t, Answer: func(_ int, w http.ResponseWriter, _ *http.Request) {
		if !works.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}}
	s := httptest.NewServer(r)
	defer s.Close()
	args := []string{"--redis", redis.URL(), "--webhook", s.URL, "--webhook-secret", servertest.WebhookSecret, "--webhook-top",
		"1", "--webhook-boards", "cup"}
	dies := e2etest.Launch(t, args...)
	ends := time.Now().Add(5 * time.Second).UTC().Format("2006-01-02T15:04:05.000Z")
	for _, board := range []string{"cup", "other"} {
		answer := dies.Request("PUT", "/v1/boards/"+board, fmt.Sprintf(`{"ends":%q}`, ends))
		require.Less(t, answer.Status, 300, answer.Body)
		answer = dies.Post(board, e2etest.Scores("a", 1, "b", 2))
		require.Equal(t, 200, answer.Status, answer.Body)
	}
	redistest.Eventually(t, "a try", func() error {
		next, err := redis.Admin().ZScore(t.Context(), "rc:{/}:deliveries:cup/0", "cup").Result()
		if err != nil || len(r.Messages()) == 0 {
			return fmt.Errorf("none yet: %v", err)
		}
		// Killed before it has noted that, its claim would have to run out first.
		if left := time.Until(time.UnixMicro(int64(next))); left > 10*time.Second {
			return fmt.Errorf("under way, for %v", left)
		}
		return nil
	})
	dies.Logs("the receiver answers 503") // the node logs that after it has noted the try
	dies.Kill()
	require.NotContains(t, dies.Output(), servertest.WebhookSecret)
	works.Store(true)
	failed := len(r.Messages())
	e2etest.Launch(t, args...)
	redistest.Eventually(t, "another try", func() error {
		if len(r.Messages()) == failed {
			return errors.New("none yet")
		}
		return nil
	})
	messages := r.Messages()
	last := messages[len(messages)-1]
	require.Equal(t, messages[0], last)
	require.Equal(t, "cup", last.Board)
	require.EqualValues(t, 2, last.Total)
	require.Equal(t, "[{1 b 2}]", fmt.Sprint(last.Top))
	_, ids := r.Tries()
	require.Equal(t, map[string]int{"cup": 1}, ids)
}

// A node dies while it builds the result of a window, with half of the result in Redis already. The other node never shows
// that half: it shows the whole old result, or none while it waits for the end of the dead node's lease, and then the whole
// new result. Redis keeps nothing of the half.
func TestWindowOutlivesItsBuilder(t *testing.T) {
	t.Parallel()
	const members, page = 6_000, 1000
	redis := redistest.Start(t)
	proxy := redistest.StartProxy(t, redis.URL())
	dies, stays := e2etest.Launch(t, "--redis", proxy.URL()), e2etest.Launch(t, "--redis", redis.URL())
	dies.Ready()
	stays.Ready()
	answer := stays.Request("PUT", "/v1/boards/hot", `{"window":"3h","refresh":"1s"}`)
	require.Less(t, answer.Status, 300, answer.Body)
	member := func(i int) string { return fmt.Sprintf("m%05d", i) }
	store := e2etest.OpenStore(t, redis.URL())
	load := func() {
		for first := 0; first < members; first += page {
			updates := make([]definition.Update, page)
			for i := range updates {
				updates[i] = definition.Update{Member: member(first + i), Score: 1}
			}
			outcomes, err := store.Apply(t.Context(), "hot", updates)
			require.NoError(t, err)
			for _, o := range outcomes {
				require.NoError(t, o.Err)
			}
		}
	}
	// shown reads a page of the board, whose entries must have one score, and returns that score.
	shown := func() (score int64, err error) {
		a := servertest.Request(t, "GET", fmt.Sprintf("http://%s/v1/boards/hot/top?limit=%d", stays.Addr, page), "")
		if a.Status != 200 {
			require.Equal(t, 503, a.Status, a.Body)
			return 0, fmt.Errorf("%s", a.Body)
		}
		var body struct {
			Top   []hubtest.Entry
			Total int64
		}
		a.Into(&body)
		require.EqualValues(t, members, body.Total)
		require.Len(t, body.Top, page)
		for _, e := range body.Top {
			require.Equal(t, body.Top[0].Score, e.Score, e.Member)
		}
		return body.Top[0].Score, nil
	}
	until := func(want int64) {
		t.Helper()
		redistest.Eventually(t, "the result", func() error {
			score, err := shown()
			if err == nil && score != want {
				require.Equal(t, want-1, score)
				err = fmt.Errorf("it is still the old one")
			}
			return err
		})
	}
	load()
	until(1)
	load()

	// The proxy holds what the node sends about the members in the middle, and all that follows.
	proxy.Hold(member(members/2), member(members/2+1), member(members/2+2))
	var readers sync.WaitGroup
	redistest.Eventually(t, "a build", func() error {
		readers.Go(func() { servertest.Try(t, "GET", "http://"+dies.Addr+"/v1/boards/hot/top", "") })
		if proxy.Held() == 0 {
			return fmt.Errorf("it has not begun")
		}
		return nil
	})
	dies.Kill()
	redistest.Wait(t, "the callers of the test", readers.Wait)
	db := redis.Admin()
	const lock, aside, distinct = "rc:{hot}::bl", "rc:{hot}::b", "rc:{hot}::bd"
	lease := db.PTTL(t.Context(), lock).Val()
	require.Positive(t, lease)
	require.LessOrEqual(t, lease, 10*time.Second)
	begun := db.ZCard(t.Context(), aside).Val()
	require.Positive(t, begun)
	require.Less(t, begun, int64(members))
	scores := db.ZRangeWithScores(t.Context(), "rc:{hot}::z", 0, -1).Val()
	require.Len(t, scores, members)
	for _, row := range slices.Concat(scores[:1], scores[members-1:]) {
		require.InDelta(t, -0.5, row.Score, 0.5)
	}
	until(2)
	redistest.Eventually(t, "what was begun to go", func() error {
		if n := db.Exists(t.Context(), lock, aside, distinct).Val(); n > 0 {
			return fmt.Errorf("there are %d keys", n)
		}
		return nil
	})
}
