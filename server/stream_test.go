package server_test

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/servertest"
)

// A stream sends what a socket sends: the snapshot, the standing, and each change. Only events that a
// client can resume from have an id.
func TestStreamShowsTheBoard(t *testing.T) {
	setup := servertest.With(servertest.Config{}, definition.Board{Name: "b", Mode: definition.Last})
	setup.OnEngines(t, func(t *testing.T, n *servertest.Node) {
		score := func(member string, points int) {
			n.Require(200, "POST", "/v1/boards/b/scores", fmt.Sprintf(`{"member":%q,"score":%d}`, member, points))
		}
		for i := range 20 {
			score(fmt.Sprint("m", i), 100-i)
		}
		s := servertest.OpenStream(t, n.Addr, "/v1/boards/b/live?top=10&me=m9&around=1")
		first := s.Next("snapshot")
		require.Regexp(t, `^[A-Z0-9]+-10:20$`, first.ID)
		me := s.Next("me")
		require.Empty(t, me.ID)
		require.EqualValues(t, 10, *s.Board.Me.Rank)
		require.Len(t, s.Board.Me.Around, 3)
		score("m2", 1000)
		require.Equal(t, strings.TrimSuffix(first.ID, "20")+"21", s.Next("delta").ID, "the same life")
		top, _ := n.Top("b", 10)
		require.Equal(t, top, s.Board.Top)

		// A client that comes back to a watched board gets what it missed, and no more.
		servertest.OpenStream(t, n.Addr, "/v1/boards/b/live").Next("snapshot")
		s.Close()
		score("m1", 2000)
		again := servertest.OpenStream(t, n.Addr, "/v1/boards/b/live?top=10", "Last-Event-ID: "+s.ID)
		again.Board = s.Board
		require.Contains(t, again.Next("delta").Data, `"from":21,`)
		again.Until("the change", func(b *hubtest.Board) bool { return b.Top[0].Score == 2000 })
		top, _ = n.Top("b", 10)
		require.Equal(t, top, again.Board.Top)
		// A browser sends back whatever id it got last, and gives a stream up that is refused: it gets a snapshot.
		life := strings.TrimSuffix(first.ID, "20")
		for _, id := range []string{"another:21", "", "21", ":21", "\xff", strings.TrimSuffix(life, ":"), life, life + "x", life + "-1",
			life + "21:8", life + "22x", life + "99", life + "9007199254740993", strings.Repeat("e", 65) + ":7"} {
			other := servertest.OpenStream(t, n.Addr, "/v1/boards/b/live?top=10", "Last-Event-ID: "+id)
			require.Equal(t, "snapshot", other.Next("snapshot").Type, id)
			other.Close()
		}
	})
}

// With info, the first snapshot tells what the board is. No later frame does.
func TestStreamTellsWhatTheBoardIs(t *testing.T) {
	setup := servertest.With(servertest.Config{},
		definition.Board{Name: "fans:{star}", Title: definition.Label{"": "Fans of {star}"}, Kind: "user"})
	setup.OnEngines(t, func(t *testing.T, n *servertest.Node) {
		s := servertest.OpenStream(t, n.Addr, "/v1/boards/fans:s17/live?info=true")
		require.Contains(t, s.Next("snapshot").Data, `,"info":{"title":"Fans of s17","kind":"user","period":null}}`)
		n.Require(200, "POST", "/v1/boards/fans:s17/scores", `{"member":"u","score":1}`)
		require.NotContains(t, s.Next("snapshot").Data, `"info"`)
		require.NotContains(t, servertest.OpenStream(t, n.Addr, "/v1/boards/fans:s17/live?info=false").Next("snapshot").Data, `"info"`)
		require.Equal(t, "invalid_request info", code(n.Do("GET", "/v1/boards/fans:s17/live?info=yes", "")))
	})
}

// A mistake is answered before the stream begins.
func TestStreamRefusesBadInput(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, definition.Board{Name: "b"})
	for _, c := range []struct {
		path        string
		status      int
		code, field string
	}{
		{"b/live?top=-1", 400, "invalid_request", "top"},
		{"b/live?top=1001", 400, "invalid_request", "top"},
		{"b/live?top=ten", 400, "invalid_request", "top"},
		{"b/live?around=1", 400, "invalid_request", "around"},
		{"b/live?me=a&around=21", 400, "invalid_request", "around"},
		{"b/live?me=" + strings.Repeat("x", 500), 400, "invalid_request", "me"},
		{"b/live?resume=1", 400, "invalid_request", "resume"},
		{"b/live?top=1&top=2", 400, "invalid_request", "top"},
		{"nosuch/live", 404, "unknown_board", "board"},
	} {
		servertest.RequireProblem(t, n.Do("GET", "/v1/boards/"+c.path, ""), c.status, c.code, c.field)
	}
	require.Zero(t, n.Hub.Watched())
}

// A node that stops tells the clients of streams when to come back, and a client that leaves leaves nothing
// behind.
func TestStreamsEnd(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, definition.Board{Name: "b"})
	gone, stays := servertest.OpenStream(t, n.Addr, "/v1/boards/b/live"), servertest.OpenStream(t, n.Addr, "/v1/boards/b/live?me=a")
	first, err := gone.Read()
	require.NoError(t, err)
	require.Equal(t, "3000", first.Retry, "a browser keeps the last one, which was random after a bye")
	if first.Type != "snapshot" { // the status, where the board is not read yet
		gone.Next("snapshot")
	}
	stays.Next("me")
	require.Equal(t, 1, n.Hub.Followed())
	gone.Close()
	stopped := make(chan struct{})
	go func() { n.Stop(); close(stopped) }()
	bye := stays.Next("bye")
	require.Contains(t, bye.Data, `"retry_ms":`+bye.Retry+`}`)
	retry, err := strconv.Atoi(bye.Retry)
	require.NoError(t, err)
	require.GreaterOrEqual(t, retry, 1000)
	_, err = stays.Read()
	require.ErrorIs(t, err, io.EOF)
	redistest.Receive(t, "the run to end", stopped)
	require.Zero(t, n.Hub.Watched())
}

// A client that does not read skips to the newest state, and delays no other client.
func TestSlowStreamSkips(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Start(t).URL(), servertest.Config{Server: server.Config{WriteTimeout: time.Hour}},
		definition.Board{Name: "b", Mode: definition.Last})
	slow, quick := servertest.OpenStream(t, n.Addr, "/v1/boards/b/live?top=1000"), servertest.Dial(t, n.Addr)
	slow.Shrink()
	slow.Next("snapshot")
	quick.Subscribe("b", 1000)
	const rounds = 30
	for round := range rounds {
		var updates []definition.Update
		for i := range 500 {
			updates = append(updates, definition.Update{Member: fmt.Sprintf("m%03d-%s", i, strings.Repeat("x", 100)), Score: int64(round*1000 + i)})
		}
		_, err := n.Store.Apply(t.Context(), "b", updates)
		require.NoError(t, err)
		quick.Until("b", "the round", func(b *hubtest.Board) bool {
			return len(b.Top) == 500 && b.Top[0].Score == int64(round*1000+499)
		})
	}
	events := 0
	for ; len(slow.Board.Top) == 0 || slow.Board.Top[0].Score < (rounds-1)*1000+499; events++ {
		_, err := slow.Read()
		require.NoError(t, err)
	}
	require.Less(t, events, rounds, "it must skip")
	top, _ := n.Top("b", 1000)
	slow.Until("the board", func(b *hubtest.Board) bool { return fmt.Sprint(b.Top) == fmt.Sprint(top) })
}

// The answer to HEAD would be a stream without events: it is refused.
func TestStreamByHead(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, definition.Board{Name: "b"})
	require.Equal(t, http.StatusMethodNotAllowed, n.Do("HEAD", "/v1/boards/b/live", "").Status)
}
