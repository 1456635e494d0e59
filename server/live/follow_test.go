package live_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub"
	"rankcast/hub/hubtest"
	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// descending gives a board n members m0, m1, ... of which the first has the
// highest score, in steps of ten.
func descending(t testing.TB, n *servertest.Node, board string, members int) {
	t.Helper()
	for from := 0; from < members; from += 1000 {
		var updates []definition.Update
		for i := from; i < min(members, from+1000); i++ {
			updates = append(updates, definition.Update{Member: fmt.Sprint("m", i), Score: int64(10 * (members - i))})
		}
		_, err := n.Store.Apply(context.Background(), board, updates)
		require.NoError(t, err)
	}
}

func update(t testing.TB, n *servertest.Node, board, member string, score int64) {
	t.Helper()
	_, err := n.Store.Apply(context.Background(), board, []definition.Update{{Member: member, Score: score}})
	require.NoError(t, err)
}

// meIs waits until a socket was told that it stands there, and returns the frame.
func meIs(s *servertest.Socket, board string, rank, score int64) hubtest.Message {
	is := func(b *hubtest.Board) bool {
		return b.Me != nil && b.Me.Rank != nil && *b.Me.Rank == rank && *b.Me.Score == score
	}
	s.Until(board, fmt.Sprintf("rank %d with %d", rank, score), is)
	return *s.Boards[board].Me
}

// A follower far below the top is told where it stands, and each time it moves:
// by itself, for others, off the board and onto it.
func TestOwnRank(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		n := servertest.Start(t, url, servertest.Config{Hub: hub.Config{Interval: time.Millisecond, MeInterval: 2 * time.Millisecond}},
			definition.Board{Name: "b"})
		descending(t, n, "b", 200)
		s := servertest.Dial(t, n.Addr)
		s.Send(`{"type":"subscribe","id":1,"board":"b","top":3,"me":"m100"}`)
		var order []string
		for range 3 {
			order = append(order, s.Next("ok", "snapshot", "me").Type)
		}
		require.Equal(t, []string{"ok", "snapshot", "me"}, order)
		me := meIs(s, "b", 101, 1000)
		require.EqualValues(t, 200, me.Total)
		require.Nil(t, me.Around)

		update(t, n, "b", "m150", 1000)
		meIs(s, "b", 102, 1000)
		update(t, n, "b", "m100", 20)
		meIs(s, "b", 101, 1020)
		n.Do("DELETE", "/v1/boards/b/members/m0", "")
		meIs(s, "b", 100, 1020)
		update(t, n, "b", "m100", 5000)
		meIs(s, "b", 1, 6020)
		n.Do("DELETE", "/v1/boards/b/members/m100", "")
		s.Until("b", "nowhere", func(b *hubtest.Board) bool { return b.Me.Rank == nil && b.Me.Score == nil })
		update(t, n, "b", "m100", 25)
		meIs(s, "b", 197, 25)

		// Subscribing again changes who is followed, and ends it.
		s.Send(`{"type":"subscribe","id":2,"board":"b","top":3,"me":"nobody"}`)
		s.Next("ok")
		s.Next("snapshot")
		require.Nil(t, s.Next("me").Rank)
		s.Send(`{"type":"subscribe","id":3,"board":"b","top":3}`)
		s.Next("ok")
		s.Next("snapshot")
		update(t, n, "b", "nobody", 7)
		update(t, n, "b", "m1", 1)
		for s.Boards["b"].Top[0].Score != 1991 {
			m, err := s.Read()
			require.NoError(t, err)
			require.NotEqual(t, "me", m.Type)
		}
	})
}

// No leader has a distance to the place above, also where several share the first rank, nor does a frame or an answer
// tell one.
func TestLeadersHaveNoPlaceAbove(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		for _, ties := range []definition.Ties{definition.Shared, definition.Dense} {
			n := servertest.Start(t, url, servertest.Config{Ranking: ranking.Config{Prefix: string(ties)}},
				definition.Board{Name: "b", Kind: "user", Ties: ties})
			for _, member := range []string{"a", "b", "c"} {
				update(t, n, "b", member, 30)
			}
			update(t, n, "b", "d", 20) // before e, so d is above it
			update(t, n, "b", "e", 20)
			zero, ten := int64(0), int64(10)
			for member, want := range map[string]*int64{"a": nil, "b": nil, "c": nil, "d": &ten, "e": &zero} {
				s := servertest.Dial(t, n.Addr)
				s.Send(`{"type":"subscribe","id":1,"board":"b","top":1,"me":%q,"around":1}`, member)
				s.Until("b", "the standing of "+member, func(b *hubtest.Board) bool { return b.Me != nil && b.Me.Around != nil })
				require.Equal(t, want, s.Boards["b"].Me.ToNext, "the frame of %s with ties %s", member, ties)
				var place hubtest.Message
				require.NoError(t, json.Unmarshal([]byte(n.Do("GET", "/v1/boards/b/members/"+member, "").Body), &place))
				require.Equal(t, want, place.ToNext, "the answer about %s with ties %s", member, ties)
				var boards struct{ Boards []hubtest.Message }
				require.NoError(t, json.Unmarshal([]byte(n.Do("GET", "/v1/members/user/"+member+"/boards", "").Body), &boards))
				require.Len(t, boards.Boards, 1)
				require.Equal(t, want, boards.Boards[0].ToNext, "the boards of %s with ties %s", member, ties)
			}
		}
	})
}

// Neighbours and the distance to the next place come with a follower's own, and
// are right after every change near it, be it in the first entries or far below.
func TestAround(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		n := servertest.Start(t, url, servertest.Config{Hub: hub.Config{Interval: time.Millisecond, MeInterval: 2 * time.Millisecond}},
			definition.Board{Name: "b"})
		descending(t, n, "b", 200)
		s := servertest.Dial(t, n.Addr)
		near := func() {
			t.Helper()
			a := n.Do("GET", "/v1/boards/b/members/m100?around=2", "")
			var want hubtest.Message
			require.NoError(t, json.Unmarshal([]byte(a.Body), &want), a.Body)
			s.Until("b", a.Body, func(b *hubtest.Board) bool {
				return b.Me != nil && fmt.Sprint(b.Me.Around) == fmt.Sprint(want.Around) && *b.Me.Rank == *want.Rank &&
					fmt.Sprint(hubtest.Value(b.Me.ToNext)) == fmt.Sprint(hubtest.Value(want.ToNext))
			})
		}
		s.Send(`{"type":"subscribe","id":1,"board":"b","top":3,"me":"m100","around":2}`)
		near()
		update(t, n, "b", "m101", 3) // a neighbour's score
		near()
		update(t, n, "b", "m150", 502) // somebody comes between
		near()
		n.Do("DELETE", "/v1/boards/b/members/m99", "")
		near()
		update(t, n, "b", "m0", 5) // far above: only ranks
		update(t, n, "b", "m199", 2000)
		near()
		update(t, n, "b", "m100", 90_000) // to the top
		near()
		update(t, n, "b", "m7", 90_000)
		near()
		update(t, n, "b", "m100", -89_500)
		near()
		update(t, n, "b", "m100", -89_500) // to the end
		near()
		n.Do("DELETE", "/v1/boards/b/members/m100", "")
		s.Until("b", "nowhere", func(b *hubtest.Board) bool {
			return b.Me.Rank == nil && b.Me.ToNext == nil && b.Me.Around != nil && len(b.Me.Around) == 0
		})
	})
}
