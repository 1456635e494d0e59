package hub

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
)

func TestFrameHeaders(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 125, 126, 65535, 65536, 200_000} {
		body := bytes.Repeat([]byte("x"), n)
		f := NewFrame(body)
		require.Equal(t, body, jsonOf(f))
		head := map[bool]int{true: 2, false: 4}[n < 126]
		if n > 65535 {
			head = 10
		}
		require.Equal(t, n+head, f.Size())
		require.EqualValues(t, 0x81, f.WebSocket()[0][0])
	}
}

// The wire format of times, period ends and data.
func TestSnapshotOnTheWire(t *testing.T) {
	t.Parallel()
	s := &publication{period: "2026-W47", life: "1m2n", state: ranking.State{Epoch: "k3f9", Seq: 120}, total: 9821, top: []ranking.Entry{
		{Rank: 1, Member: "s17", Score: 321, Data: `{"a":"\u2028"}`}, {Rank: 2, Member: "s3", Score: -5},
	}}
	head := `{"type":"snapshot","board":"stars@-1","period":"2026-W47","epoch":"k3f9","life":"1m2n-10","seq":120,"total":9821,"ends":`
	top := `"top":[{"rank":1,"member":"s17","score":321,"data":{"a":"\u2028"}},{"rank":2,"member":"s3","score":-5}]}`
	require.Equal(t, head+`null,`+top, string(jsonOf(snapshotFrame("stars@-1", s, 10))))
	s.ends = time.Date(2026, 11, 23, 0, 0, 0, 123456, time.FixedZone("", 8*3600))
	require.Equal(t, head+`"2026-11-22T16:00:00.000Z",`+top, string(jsonOf(snapshotFrame("stars@-1", s, 10))))
	end := s.asFinal()
	end.life = s.life
	require.Equal(t, head+`"2026-11-22T16:00:00.000Z","final":true,`+top, string(jsonOf(snapshotFrame("stars@-1", end, 10))))
}

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
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		conn := &fakeConn{full: true}
		c, _ := subscribe(t, h, conn, "b", Watch{Top: 10, Me: "a"})
		h.FeedSubscribed("b")
		for i := range 20 {
			deliver(h, f.set("a", int64(i)), time.Second)
		}
		require.NotZero(t, conn.refused, "the connection was asked")
		require.Zero(t, conn.wasted, "and was offered no frame")
		free(c, conn)
		require.Equal(t, []string{"snapshot", "me"}, conn.take(t))
	})
}
