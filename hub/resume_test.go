package hub

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A client that resumes gets the difference.
func TestResumeSendsTheDifference(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(50)
		_, stays, _ := join(t, h, 10)
		h.FeedSubscribed("b")
		synctest.Wait()
		held := stays.board
		h.FeedChanges(f.set("m007", 445))
		pass(time.Minute) // a verification
		require.Greater(t, len(f.pages), 1)
		h.FeedChanges(f.set("m003", 465))
		pass(time.Second)
		conn := &fakeConn{board: held}
		_, err := h.Subscribe(h.Join(conn, nil), theBoard, Watch{Top: 10, Me: "m040", Resume: Position{held.Life, held.Seq}}, nil, func() {})
		require.NoError(t, err)
		synctest.Wait()
		require.Equal(t, f.top(10), conn.board.Top)
		require.Equal(t, []string{"delta", "me"}, conn.take(t))
		h.FeedChanges(f.set("m000", 5000))
		pass(time.Second)
		require.Equal(t, []string{"delta"}, conn.take(t))
		require.Equal(t, f.top(10), conn.board.Top)
	})
}

// Clients that resume from one state share the difference. The hub keeps it only while a client has it.
func TestResumedClientsShareTheDifference(t *testing.T) {
	t.Parallel()
	s := largePublication()
	s.life, s.modified = "l", make([]int64, 1000)
	for i := range 300 {
		s.modified[i] = 7
	}
	from := func(n int, seq int64) Position { return Position{s.position(n).Life, seq} }
	f := s.resumeFrame("b", 1000, from(1000, 6))
	require.Same(t, f, s.resumeFrame("b", 1000, from(1000, 6)))
	other := s.resumeFrame("b", 900, from(900, 6))
	require.NotSame(t, f, other)
	require.NotSame(t, other, s.resumeFrame("b", 900, from(900, 5)))
	last := s.resumeFrame("b", 1000, from(1000, 6))
	require.Equal(t, string(jsonOf(f)), string(jsonOf(last)))
	runtime.KeepAlive(last)
	runtime.GC()
	runtime.GC()
	require.Nil(t, s.resumed.frame.Value())
}

// A client that resumes at the final state of a period is told that it is final, also by a
// node that has just begun to watch the board.
func TestResumeAtPeriodEnd(t *testing.T) {
	t.Parallel()
	withPeriods(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		_, conn := watch(t, h, "b@0", Watch{Top: 10})
		h.FeedSubscribed("b")
		pass(time.Second)
		held := conn.board
		resume := func() {
			t.Helper()
			_, back := watch(t, h, "b@0", Watch{Top: 10, Resume: Position{held.Life, held.Seq}})
			h.FeedSubscribed("b")
			pass(time.Second)
			require.Equal(t, []string{"final"}, back.take(t))
		}
		pass(every)
		resume()
		for _, s := range h.shards {
			var all []*Client
			s.do(func() {
				for _, list := range s.deliveries {
					for _, d := range list {
						all = append(all, d.client)
					}
				}
			})
			for _, c := range all {
				h.Leave(c)
			}
		}
		require.Zero(t, h.Watched())
		resume()
	})
}

// A client that resumes gets the rows whose data has changed.
func TestResumeWithData(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(50)
		_, stays, _ := join(t, h, 10)
		h.FeedSubscribed("b")
		synctest.Wait()
		held := stays.board
		h.FeedChanges(f.setData("m007", `7`))
		pass(time.Second)
		back := &fakeConn{board: held}
		_, err := h.Subscribe(h.Join(back, nil), theBoard, Watch{Top: 10, Resume: Position{held.Life, held.Seq}}, nil, func() {})
		require.NoError(t, err)
		synctest.Wait()
		require.Equal(t, []string{"delta"}, back.take(t))
		require.Equal(t, f.top(10), back.board.Top)
	})
}
