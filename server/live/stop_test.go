package live_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"rankcast/hub"
	"rankcast/hub/hubtest"
	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access"
	"rankcast/server/internal/origin"
	"rankcast/server/internal/request"
	"rankcast/server/live"
	"rankcast/server/servertest"
)

// A stop tells every client when to come back, and leaves nothing behind.
// It is not parallel: it counts the goroutines of the process.
func TestGracefulStop(t *testing.T) {
	before := runtime.NumGoroutine()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Server: server.Config{StopTimeout: 2 * time.Second}},
		definition.Board{Name: "b"})
	var sockets []*servertest.Socket
	for range 20 {
		s := servertest.Dial(t, n.Addr)
		s.Subscribe("b", 10)
		sockets = append(sockets, s)
	}
	servertest.Connect(t, n.Addr) // says nothing at all
	stopped := redistest.Go(n.Stop)
	waits := make(map[int]bool)
	for _, s := range sockets {
		bye := s.Next("bye")
		require.Equal(t, "drain", bye.Reason)
		require.NotNil(t, bye.RetryMS)
		waits[*bye.RetryMS] = true
		_, err := s.Read()
		require.Equal(t, websocket.StatusGoingAway, websocket.CloseStatus(err), "%v", err)
	}
	require.Greater(t, len(waits), 10, "not all at the same moment")
	redistest.Receive(t, "the run to end", stopped)
	require.Zero(t, n.Hub.Watched(), "when it has stopped no session is left")
	_, err := net.Dial("tcp", n.Addr)
	require.Error(t, err)
	http.DefaultClient.CloseIdleConnections()
	const embedded = 5 // goroutines, on which the embedded store runs
	redistest.UntilEqual(t, "the goroutines that are left", 0, func() int { return max(0, runtime.NumGoroutine()-before-embedded) })
}

// Neither clients that are stalled nor a request that never ends keep others
// from hearing at once that the node stops.
func TestStopDoesNotWaitForStalledClients(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Start(t).URL(), servertest.Config{Hub: hub.Config{Interval: time.Millisecond},
		Server: server.Config{StopTimeout: 10 * patience, WriteTimeout: 10 * patience}}, definition.Board{Name: "b", Mode: definition.Last})
	var stalled []*servertest.Socket
	for range 80 {
		s := servertest.DialSmall(t, n.Addr)
		s.Send(`{"type":"subscribe","board":"b","top":1000}`)
		stalled = append(stalled, s)
	}
	live := servertest.Dial(t, n.Addr)
	live.Subscribe("b", 1)
	for i := range 40 { // more than their connections hold
		fill(t, n, i)
		live.Until("b", "the round", func(b *hubtest.Board) bool { return len(b.Top) > 0 && b.Top[0].Score == int64(2e9+i) })
	}
	endless := servertest.Connect(t, n.Addr)
	fmt.Fprintf(endless, "POST /v1/boards/b/scores HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")

	stopped := redistest.Go(n.Stop)
	live.Next("bye")
	_, err := live.Read()
	require.Equal(t, websocket.StatusGoingAway, websocket.CloseStatus(err), "%v", err)
	endless.Close()
	for _, s := range stalled {
		s.WS.CloseNow()
	}
	redistest.Receive(t, "the run to end", stopped)
}

// When its grace ends, a stop cuts the clients that never read, whatever the write timeout is.
func TestStopCutsClientsThatNeverRead(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Start(t).URL(), servertest.Config{Hub: hub.Config{Interval: time.Millisecond},
		Server: server.Config{StopTimeout: 10 * time.Millisecond, WriteTimeout: 10 * patience}},
		definition.Board{Name: "b", Mode: definition.Last})
	for range 4 {
		servertest.DialSmall(t, n.Addr).Send(`{"type":"subscribe","board":"b","top":1000}`)
	}
	live := servertest.Dial(t, n.Addr)
	live.Subscribe("b", 1)
	for i := range 10 { // more than their connections hold
		fill(t, n, i)
		live.Until("b", "the round", func(b *hubtest.Board) bool { return len(b.Top) > 0 && b.Top[0].Score == int64(2e9+i) })
	}
	stopped := redistest.Go(n.Stop)
	redistest.Receive(t, "the stop, beside clients that never read", stopped)
}

// stuckUpdater never answers an update before the caller gives it up.
type stuckUpdater struct{ began chan struct{} }

func (u stuckUpdater) Update(ctx context.Context, _ string, _ request.Object) ([]byte, error) {
	u.began <- struct{}{}
	<-ctx.Done()
	return nil, ctx.Err()
}

func (u stuckUpdater) Event(ctx context.Context, _ *access.Caller, _ string, fields request.Object) ([]byte, error) {
	return u.Update(ctx, "", fields)
}

// noFeed is the feed of a hub without watched boards.
type noFeed struct{}

func (noFeed) Watch(string)    {}
func (noFeed) Unwatch(string)  {}
func (noFeed) Follow(string)   {}
func (noFeed) Unfollow(string) {}

// A stop waits for the calls of clients until its grace ends, and not for longer, however long the
// store takes.
func TestStopGivesUpCallsWhenItsGraceEnds(t *testing.T) {
	t.Parallel()
	for _, message := range []string{
		`{"type":"update","id":1,"board":"b","update":{"member":"m","score":1}}`,
		`{"type":"event","id":1,"event":"e","data":{}}`,
	} {
		log := slog.New(slog.DiscardHandler)
		rdb := redistest.Dial(t, redistest.Embedded(t))
		store := ranking.New(rdb, ranking.Config{CallTimeout: redistest.CallTimeout})
		defer store.Close()
		h := hub.New(store, noFeed{}, hub.Config{Log: log})
		ctx, cancel := context.WithCancel(t.Context())
		ended := redistest.Go(func() { h.Run(ctx) })
		updater := stuckUpdater{make(chan struct{})}
		guard := access.NewOpenGuard()
		sessions := live.New(store, updater, h, live.Config{MaxTop: 10, WriteTimeout: patience, Origins: origin.New(nil, nil, log),
			Guard: guard, Limits: access.New(access.Config{})})
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := sessions.Accept(w, r, access.Address{}, func() (*access.Caller, error) { return guard.Anonymous(), nil }); err != nil {
				t.Error(err)
			}
		}))
		s := servertest.Dial(t, web.Listener.Addr().String())
		s.Send("%s", message)
		redistest.Receive(t, "a value from updater.began", updater.began)

		grace, end := context.WithCancel(t.Context())
		stopped := redistest.Go(func() { sessions.Stop(grace) })
		s.Next("bye")
		select {
		case <-stopped:
			t.Fatal("the stop did not wait for the call")
		default:
		}
		end()
		redistest.Receive(t, "the stop, whose grace has ended", stopped)
		web.Close()
		cancel()
		redistest.Receive(t, "the run to end", ended)
	}
}

// fill gives the board "b" (of mode last) a thousand new scores under long
// names: frames so large that what a connection holds by itself is soon full.
// The first entry tells the round.
func fill(t testing.TB, n *servertest.Node, round int) {
	t.Helper()
	updates := []definition.Update{{Member: "round", Score: int64(2e9 + round)}}
	for i := range 1000 {
		updates = append(updates, definition.Update{Member: fmt.Sprintf("m%03d-%s", i, strings.Repeat("x", 100)), Score: rand.Int64N(1e9)})
	}
	_, err := n.Store.Apply(context.Background(), "b", updates)
	require.NoError(t, err)
}

// A client that reads nothing holds up nobody, skips what it missed, and is cut
// off only when it accepts nothing for the write timeout.
func TestStalledClient(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Start(t).URL(),
		servertest.Config{Hub: hub.Config{Interval: time.Millisecond}, Server: server.Config{WriteTimeout: time.Hour}}, // longer than all rounds
		definition.Board{Name: "b", Mode: definition.Last})
	stalled, quick := servertest.DialSmall(t, n.Addr), servertest.Dial(t, n.Addr)
	fill(t, n, 0)
	stalled.Subscribe("b", 1000)
	quick.Subscribe("b", 1000)
	const rounds = 40
	for round := range rounds {
		fill(t, n, round+1)
		quick.Until("b", "the round", func(b *hubtest.Board) bool { return b.Top[0].Score == int64(2e9+round+1) })
	}
	frames := 0
	for b := stalled.Boards["b"]; b.Top[0].Score < 2e9+rounds; frames++ {
		_, err := stalled.Read()
		require.NoError(t, err)
	}
	require.Less(t, frames, rounds, "the stalled client must skip")
	want, _ := n.Top("b", 1000)
	stalled.Until("b", "the board", func(b *hubtest.Board) bool { return fmt.Sprint(b.Top) == fmt.Sprint(want) })
}

// A deadline is for one write: a socket that has been quiet for longer is as
// good as before.
func TestQuietSocketOutlivesTheWriteTimeout(t *testing.T) {
	t.Parallel()
	const timeout = 200 * time.Millisecond
	n := servertest.Start(t, redistest.Embedded(t),
		servertest.Config{Hub: hub.Config{Interval: 2 * timeout}, Server: server.Config{WriteTimeout: timeout}}, definition.Board{Name: "b"})
	s := servertest.Dial(t, n.Addr)
	s.Subscribe("b", 10)
	for i := range 3 { // frames two timeouts apart
		n.Do("POST", "/v1/boards/b/scores", `{"member":"a","score":1}`)
		s.Until("b", "the score", func(b *hubtest.Board) bool { return len(b.Top) > 0 && b.Top[0].Score == int64(i+1) })
	}
	s.Send(`{"type":"ping","id":1}`)
	s.Next("pong")
}

func TestClientThatAcceptsNothingIsDisconnected(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Start(t).URL(),
		servertest.Config{Hub: hub.Config{Interval: time.Millisecond}, Server: server.Config{WriteTimeout: 50 * time.Millisecond}},
		definition.Board{Name: "b", Mode: definition.Last})
	conn := servertest.DialSmall(t, n.Addr)
	conn.Subscribe("b", 1000)
	// It reads nothing from here on.
	redistest.Until(t, "the socket to be closed", func() bool { fill(t, n, 0); return n.Hub.Watched() == 0 })
}
