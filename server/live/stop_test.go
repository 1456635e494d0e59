package live_test

import (
	"fmt"
	"net"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"rankcast/hub"
	"rankcast/hub/hubtest"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
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
	silent, err := net.Dial("tcp", n.Addr) // says nothing at all
	require.NoError(t, err)
	defer silent.Close()
	stopped := make(chan struct{})
	go func() {
		n.Stop()
		close(stopped)
	}()
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
	_, err = net.Dial("tcp", n.Addr)
	require.Error(t, err)
	http.DefaultClient.CloseIdleConnections()
	redistest.Eventually(t, "all goroutines to end", func() error {
		if now := runtime.NumGoroutine(); now > before+5 { // what the embedded store runs on
			return fmt.Errorf("%d before, %d after", before, now)
		}
		return nil
	})
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
	endless, err := net.Dial("tcp", n.Addr)
	require.NoError(t, err)
	fmt.Fprintf(endless, "POST /v1/boards/b/scores HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")

	stopped := make(chan struct{})
	go func() {
		n.Stop()
		close(stopped)
	}()
	live.Next("bye")
	_, err = live.Read()
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
	stopped := make(chan struct{})
	go func() {
		n.Stop()
		close(stopped)
	}()
	select {
	case <-stopped:
	case <-time.After(patience):
		t.Fatal("the stop waits for clients that never read")
	}
}
