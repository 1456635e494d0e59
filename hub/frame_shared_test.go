package hub

import (
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
)

// Large frames of all N share their rows, as long as one of them exists; small ones are one
// piece.
func TestLargeFramesShareTheirRows(t *testing.T) {
	t.Parallel()
	s := largePublication()
	whole, half := snapshotFrame("b", s, 1000), snapshotFrame("b", s, 500)
	require.Same(t, &whole.rows[0], &half.rows[0])
	require.Less(t, len(half.first)+len(half.last), 256)
	require.Empty(t, snapshotFrame("b", s, 3).rows)
	first := strings.SplitAfter(string(jsonOf(whole)), `"rank":500`)[0]
	require.True(t, strings.HasPrefix(string(jsonOf(half)), strings.Replace(first, s.position(1000).Life, s.position(500).Life, 1)))
	require.True(t, strings.HasSuffix(string(jsonOf(half)), `"score":-499}]}`))

	d := s.follow(&publication{state: ranking.State{Epoch: "e", Seq: 6}}, 1000)
	require.Same(t, &deltaFrame("b", s, 900, 6, d).rows[0], &deltaFrame("b", s, 800, 6, d).rows[0])
	require.True(t, strings.HasSuffix(string(jsonOf(deltaFrame("b", s, 900, 6, d))), `"score":-899}]],"len":900}`))
	runtime.KeepAlive(whole)
}

// A copy with info shares the rows too, and says the same otherwise.
func TestFrameWithInfo(t *testing.T) {
	t.Parallel()
	s := largePublication()
	for _, n := range []int{3, 1000} {
		f := snapshotFrame("b", s, n)
		with := f.withInfo([]byte(`{"title":"T"}`))
		require.Equal(t, strings.TrimSuffix(string(jsonOf(f)), "}")+`,"info":{"title":"T"}}`, string(jsonOf(with)))
		require.Equal(t, f.Type(), with.Type())
		require.Equal(t, f.Position(), with.Position())
		require.Same(t, f.from, with.from)
		if n == 1000 {
			require.Same(t, &f.rows[0], &with.rows[0])
		}
		require.Equal(t, string(jsonOf(snapshotFrame("b", s, n))), string(jsonOf(f)), "the first frame is as before")
	}
}

// The rows of a publication are kept only while a frame has them.
func TestRowsAreNotKept(t *testing.T) {
	t.Parallel()
	s := largePublication()
	f := snapshotFrame("b", s, 1000)
	runtime.GC()
	require.NotNil(t, s.encoded.Value())
	require.Same(t, f.from, s.rows())
	runtime.KeepAlive(f)
	runtime.GC()
	runtime.GC()
	require.Nil(t, s.encoded.Value())
	require.Equal(t, 1000, len(s.top))
}

// No frame is made for a connection that does not take it.
func TestNoFrameForAFullConnection(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		conn := &fakeConn{full: true}
		c := h.Join(conn, nil)
		_, err := h.Subscribe(c, theBoard, Watch{Top: 10, Me: "a"}, nil, func() {})
		require.NoError(t, err)
		h.FeedSubscribed("b")
		for i := range 20 {
			h.FeedChanges(f.set("a", int64(i)))
			pass(time.Second)
		}
		require.NotZero(t, conn.refused, "the connection was asked")
		require.Zero(t, conn.wasted, "and was offered no frame")
		conn.setFull(false)
		c.Ready()
		synctest.Wait()
		require.Equal(t, []string{"snapshot", "me"}, conn.take(t))
	})
}
