package live_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub"
	"rankcast/hub/hubtest"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// Who comes back is sent one delta from what it has, if the server knows what
// changed since, and a snapshot otherwise.
func TestResume(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		n := servertest.Start(t, url, servertest.Config{Hub: hub.Config{Interval: time.Millisecond, MeInterval: time.Millisecond}},
			definition.Board{Name: "b"})
		descending(t, n, "b", 50)
		stays, first := servertest.Dial(t, n.Addr), servertest.Dial(t, n.Addr)
		stays.Subscribe("b", 10)
		first.Subscribe("b", 10)
		held := *first.Boards["b"]
		rank := int64(31) // of m30
		resume := func(life string, seq int64) (*servertest.Socket, hubtest.Message) {
			s := servertest.Dial(t, n.Addr)
			before := held
			s.Boards["b"] = &before
			s.Send(`{"type":"subscribe","id":1,"board":"b","top":10,"me":"m30","resume":{"life":%q,"seq":%d}}`, life, seq)
			s.Next("ok")
			m := s.Next("snapshot", "delta")
			meIs(s, "b", rank, 200)
			return s, m
		}
		_, m := resume(held.Life, held.Seq)
		require.Equal(t, "delta", m.Type, "nothing has changed, and it is told so")
		require.Empty(t, m.Rows)
		require.Equal(t, held.Seq, m.From)
		require.Equal(t, held.Seq, m.Seq)

		first.WS.CloseNow()
		update(t, n, "b", "m5", 7)
		update(t, n, "b", "m49", 450) // in between
		rank = 32
		want, total := n.Top("b", 10)
		stays.Until("b", "the change", func(b *hubtest.Board) bool { return fmt.Sprint(b.Top) == fmt.Sprint(want) })
		s, m := resume(held.Life, held.Seq)
		require.Equal(t, "delta", m.Type)
		require.Equal(t, held.Seq, m.From)
		require.Len(t, m.Rows, 5)
		require.Equal(t, want, s.Boards["b"].Top)
		require.Equal(t, total, s.Boards["b"].Total)
		update(t, n, "b", "m1", 1000) // and from there on by deltas, like everybody
		want, _ = n.Top("b", 10)
		stays.Until("b", "m1", func(b *hubtest.Board) bool { return fmt.Sprint(b.Top) == fmt.Sprint(want) })
		s.Until("b", "m1", func(b *hubtest.Board) bool { return fmt.Sprint(b.Top) == fmt.Sprint(want) })

		for name, at := range map[string]hub.Position{
			"another life":    {Life: "another", Seq: held.Seq},
			"before the life": {Life: held.Life, Seq: 0},
			"ahead":           {Life: held.Life, Seq: held.Seq + 1000},
		} {
			s, m := resume(at.Life, at.Seq)
			require.Equal(t, "snapshot", m.Type, name)
			require.Equal(t, stays.Boards["b"].Top, s.Boards["b"].Top)
		}
		descending(t, n, "b", 10) // all places change: a snapshot is smaller
		want, _ = n.Top("b", 10)
		stays.Until("b", "new scores", func(b *hubtest.Board) bool { return fmt.Sprint(b.Top) == fmt.Sprint(want) })
		_, m = resume(held.Life, held.Seq)
		require.Equal(t, "snapshot", m.Type)
	})
}
