package live

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub"
	"rankcast/ranking"
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

// heldWriter is a client that accepts what it is given leave for.
type heldWriter struct {
	*httptest.ResponseRecorder
	leave chan struct{} // closed: for everything
}

func (w *heldWriter) Write(b []byte) (int, error) {
	<-w.leave
	return w.ResponseRecorder.Write(b)
}

// runStream serves a stream of the board "b" until stop is called.
func runStream(t *testing.T, limit int, w http.ResponseWriter) (s *Sessions, stop func()) {
	h := hub.New(noBoards{}, noBoards{}, hub.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { h.Run(ctx) })
	s = New(nil, nil, h, Config{WriteTimeout: time.Minute, PingAfter: 25 * time.Second, Limits: access.New(access.Config{WaitingBytes: limit})})
	r := httptest.NewRequestWithContext(ctx, "GET", "/", nil)
	running.Go(func() { s.Stream(w, r, access.Address{}, ranking.Board{Name: "b", Instance: "b"}, hub.Watch{}) })
	synctest.Wait()
	return s, func() {
		cancel()
		running.Wait()
		require.Zero(t, s.cfg.Limits.Waiting())
		require.Empty(t, s.streams)
	}
}

// A quiet stream gets a comment every 25 s, so that no proxy takes it for idle.
func TestStreamHeartbeats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &lockedRecorder{ResponseRecorder: httptest.NewRecorder()}
		_, stop := runStream(t, 1<<20, w)
		status := w.body()
		require.Equal(t, "event: status\ndata: {\"type\":\"status\",\"stale\":true}\n\n", status)
		time.Sleep(25*time.Second - 1)
		synctest.Wait()
		require.Equal(t, status, w.body())
		time.Sleep(25*time.Second + 1)
		synctest.Wait()
		require.Equal(t, status+":\n\n:\n\n", w.body())
		stop()
	})
}

// One frame waits for a client that does not read; a stream that waits with too many bytes ends.
func TestStreamHoldsOneFrame(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &heldWriter{httptest.NewRecorder(), make(chan struct{}, 100)}
		for range cap(w.leave) {
			w.leave <- struct{}{}
		}
		s, stop := runStream(t, 100, w)
		var st *stream
		for st = range s.streams {
		}
		for len(w.leave) > 0 {
			<-w.leave
		}
		f := hub.NewFrame([]byte(`{"type":"x"}`))
		require.True(t, st.Free())
		require.True(t, st.Send(f))
		synctest.Wait()
		require.False(t, st.Free())
		require.False(t, st.Send(f))
		require.EqualValues(t, f.Size(), s.cfg.Limits.Waiting())
		close(w.leave)
		synctest.Wait()
		require.True(t, st.Free())
		require.True(t, st.Send(hub.NewFrame(make([]byte, 200))), "it is dropped")
		synctest.Wait()
		require.Empty(t, s.streams, "and ends the stream")
		stop()
	})
}
