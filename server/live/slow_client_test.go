package live_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub"
	"rankcast/hub/hubtest"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/servertest"
)

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
	redistest.Eventually(t, "the socket to be closed", func() error {
		fill(t, n, 0)
		if n.Hub.Watched() > 0 {
			return fmt.Errorf("still watched")
		}
		return nil
	})
}
