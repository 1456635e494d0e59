package live

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub"
	"rankcast/ranking"
	"rankcast/ranking/redistest"
	"rankcast/server/access"
)

// lockedRecorder is a client whose events a test may read at any time: simulated time alone orders nothing.
type lockedRecorder struct {
	mu sync.Mutex
	*httptest.ResponseRecorder
}

func (w *lockedRecorder) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ResponseRecorder.Write(b)
}

func (w *lockedRecorder) body() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.Body.String()
}

// heldWriter is a client that accepts what it is given leave for. The end of its connection ends its writes.
type heldWriter struct {
	*httptest.ResponseRecorder
	leave  chan struct{} // closed: for everything
	closed chan struct{} // closed: the connection is
}

func (w *heldWriter) Write(b []byte) (int, error) {
	select {
	case <-w.leave:
		return w.ResponseRecorder.Write(b)
	case <-w.closed:
		return 0, net.ErrClosed
	}
}

// heldConn is the connection of a heldWriter.
type heldConn struct {
	net.Conn
	w *heldWriter
}

func (c heldConn) Close() error {
	close(c.w.closed)
	return nil
}

// runStream serves a stream of the board "b" until stop is called.
func runStream(t *testing.T, limit int, w http.ResponseWriter) (s *Sessions, stop func()) {
	h := hub.New(noBoards{}, noBoards{}, hub.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { h.Run(ctx) })
	s = New(nil, nil, h, Config{WriteTimeout: time.Minute, PingAfter: 25 * time.Second, Guard: access.NewOpenGuard(),
		Limits: access.New(access.Config{WaitingBytes: limit})})
	of := ctx
	if held, ok := w.(*heldWriter); ok {
		of = ConnContext(ctx, heldConn{w: held})
	}
	r := httptest.NewRequestWithContext(of, "GET", "/", nil)
	running.Go(func() {
		s.Stream(w, r, access.Address{}, s.cfg.Guard.Anonymous(), ranking.Board{Name: "b", Instance: "b"}, hub.Watch{})
	})
	synctest.Wait()
	return s, func() {
		cancel()
		redistest.Wait(t, "the end of running", running.Wait)
		require.Zero(t, s.cfg.Limits.Waiting())
		require.Empty(t, s.clients)
	}
}

// A quiet stream gets a comment every 25 s, so that no proxy takes it for idle.
func TestStreamHeartbeats(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		w := &lockedRecorder{ResponseRecorder: httptest.NewRecorder()}
		_, stop := runStream(t, 1<<20, w)
		status := w.body()
		require.Equal(t, "retry: 3000\nevent: status\ndata: {\"type\":\"status\",\"stale\":true}\n\n", status)
		time.Sleep(25*time.Second - 1)
		synctest.Wait()
		require.Equal(t, status, w.body())
		time.Sleep(25*time.Second + 1)
		synctest.Wait()
		require.Equal(t, status+":\n\n:\n\n", w.body())
		stop()
	})
}

// heldStream is a stream whose client has accepted all so far, and accepts nothing more.
func heldStream(t *testing.T, limit int) (w *heldWriter, s *Sessions, st *stream, stop func()) {
	w = &heldWriter{ResponseRecorder: httptest.NewRecorder(), leave: make(chan struct{}, 100), closed: make(chan struct{})}
	for range cap(w.leave) {
		w.leave <- struct{}{}
	}
	s, stop = runStream(t, limit, w)
	for c := range s.clients {
		st = c.(*stream)
	}
	for len(w.leave) > 0 {
		redistest.Receive(t, "a value from w.leave", w.leave)
	}
	return w, s, st, stop
}

// One frame waits for a client that does not read. The hub is told when the client has accepted it.
func TestStreamHoldsOneFrame(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		w, s, st, stop := heldStream(t, 100)
		f := hub.NewFrame([]byte(`{"type":"x"}`))
		require.True(t, st.Free())
		require.True(t, st.Send(f, time.Time{}))
		synctest.Wait()
		require.False(t, st.Free())
		require.False(t, st.Send(f, time.Time{}))
		require.EqualValues(t, f.Size(), s.cfg.Limits.Waiting())
		close(w.leave)
		synctest.Wait()
		require.True(t, st.Free())
		require.Zero(t, s.cfg.Limits.Waiting())
		stop()
	})
}

// A stream that the node gives up ends at once, in the middle of an event.
func TestStreamIsGivenUp(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		_, s, st, stop := heldStream(t, 100)
		began := time.Now()
		require.True(t, st.Send(hub.NewFrame(make([]byte, 80)), time.Time{}))
		synctest.Wait()
		require.NotEmpty(t, s.clients, "there is room for it")
		near, client := net.Pipe()
		other := newSocket(near, nil, time.Minute, &s.running, slotOf(t, s.cfg.Limits), noMetrics())
		require.True(t, sendNow(other, hub.NewFrame(make([]byte, 80))))
		synctest.Wait()
		require.Empty(t, s.clients)
		require.Positive(t, s.cfg.Limits.Waiting(), "the other one goes on")
		client.Close()
		synctest.Wait()
		require.Zero(t, time.Since(began))
		stop()
	})
}

// A stream ends at once if its frame is larger than all that may wait: before it writes a byte.
func TestStreamWithoutRoom(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		_, s, st, stop := heldStream(t, 100)
		began := time.Now()
		require.True(t, st.Send(hub.NewFrame(make([]byte, 200)), time.Time{}))
		synctest.Wait()
		require.Empty(t, s.clients)
		require.Zero(t, time.Since(began))
		stop()
	})
}

// When too much waits on the node, the socket that has waited longest is closed at once, and the others go
// on: also the one whose frame is one too many.
func TestLongestWaitIsGivenUp(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		limits := access.New(access.Config{WaitingBytes: 250_000})
		var running sync.WaitGroup
		var clients []net.Conn
		var sockets []*socket
		f := hub.NewFrame(bytes.Repeat([]byte("x"), 100_000))
		began := time.Now()
		for range 3 {
			near, client := net.Pipe()
			s := newSocket(near, nil, time.Minute, &running, slotOf(t, limits), noMetrics())
			require.True(t, sendNow(s, f))
			clients, sockets = append(clients, client), append(sockets, s)
			time.Sleep(time.Second)
			io.ReadFull(client, make([]byte, 5000)) // the write has begun
			synctest.Wait()
		}
		_, err := clients[0].Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
		require.True(t, isFree(sockets[0]), "a broken connection drops frames")
		require.Equal(t, 3*time.Second, time.Since(began))
		require.EqualValues(t, 2*f.Size(), limits.Waiting())
		for _, client := range clients[1:] {
			got := make([]byte, f.Size()-5000)
			_, err := io.ReadFull(client, got)
			require.NoError(t, err)
			require.Equal(t, wire(f)[5000:], got)
			client.Close()
		}
		running.Wait()
		require.Zero(t, limits.Waiting(), "what was sent or dropped does not wait")
		require.EqualValues(t, 1, maps.Collect(limits.Counts())["waiting_bytes"])
	})
}

// A frame that is larger than all that may wait ends the socket that waits for it.
func TestFrameLargerThanTheLimit(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		limits := access.New(access.Config{WaitingBytes: 1000})
		near, client := net.Pipe()
		var running sync.WaitGroup
		s := newSocket(near, nil, time.Minute, &running, slotOf(t, limits), noMetrics())
		began := time.Now()
		require.True(t, sendNow(s, hub.NewFrame(make([]byte, 2000))))
		running.Wait()
		require.Zero(t, time.Since(began))
		_, err := client.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
		require.Zero(t, limits.Waiting())
	})
}

// writeHook is a connection that calls hook after each write.
type writeHook struct {
	net.Conn
	hook func()
}

func (c writeHook) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.hook()
	return n, err
}

// A socket that the node gives up is closed, even if its client accepts the rest of the frame at that moment.
func TestGivenUpWhileTheLastByteGoes(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		limits := access.New(access.Config{WaitingBytes: 1000})
		near, client := net.Pipe()
		conn := writeHook{near, func() {
			slotOf(t, limits).Hold(access.Memory{Own: 1000}, func() { t.Error("the newer one is given up") })
		}}
		var running sync.WaitGroup
		s := newSocket(conn, nil, time.Minute, &running, slotOf(t, limits), noMetrics())
		f := hub.NewFrame([]byte("short"))
		require.True(t, sendNow(s, f))
		all, err := io.ReadAll(client)
		require.NoError(t, err, "the connection ends")
		require.Equal(t, wire(f), all)
		running.Wait()
	})
}
