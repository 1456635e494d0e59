package live_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
	"rankcast/ranking/definition"
	"rankcast/server/servertest"
)

// Over a socket and over an event stream, clients are told that a board freezes, see each member that a host reveals, and are told the
// end. The feed of an event pauses meanwhile.
func TestHostRevealsToSocketsAndStreams(t *testing.T) {
	setup := servertest.With(servertest.Config{}, definition.Board{Name: "finale"})
	setup.OnEngines(t, func(t *testing.T, n *servertest.Node) {
		n.Require(201, "PUT", "/v1/events/vote", `{"updates":[{"board":"finale","member":"{act}","score":1}]}`)
		n.Require(200, "POST", "/v1/boards/finale/scores", `{"updates":[{"member":"a","score":30},{"member":"b","score":20}]}`)
		s, e := servertest.Dial(t, n.Addr), servertest.OpenStream(t, n.Addr, "/v1/boards/finale/live?top=10")
		s.Send(`{"type":"subscribe","id":1,"board":"finale","top":10,"me":"b","around":1}`)
		s.Next("me")
		e.Next("snapshot")
		s.Send(`{"type":"subscribe","id":2,"feed":"vote"}`)
		s.Next("feed")

		n.Require(200, "POST", "/v1/boards/finale/freeze", `{"reason":"the finish"}`)
		// A client that is more than one version behind gets a snapshot, which says the same as the frame of a board.
		s.Until("finale", "the freeze", func(b *hubtest.Board) bool { return b.Frozen != "" })
		require.Contains(t, s.Boards["finale"].Frozen, `"reveals":"host"`)
		e.Until("the freeze", func(b *hubtest.Board) bool { return b.Frozen != "" })
		require.Equal(t, s.Boards["finale"].Frozen, e.Board.Frozen)
		late := servertest.Dial(t, n.Addr)
		late.Subscribe("finale", 2)
		require.Equal(t, e.Board.Frozen, late.Boards["finale"].Frozen)

		s.Send(`{"type":"update","id":3,"board":"finale","update":{"member":"b","score":50,"id":"x"}}`)
		answer := s.Next("result")
		require.Equal(t, hubtest.Raw("true"), answer.Frozen)
		require.Nil(t, answer.Score)
		s.Send(`{"type":"update","id":4,"board":"finale","update":{"member":"b","score":50,"id":"x"}}`)
		s.Next("result")
		n.Require(200, "POST", "/v1/events/vote", `{"act":"c"}`)

		n.Require(200, "POST", "/v1/boards/finale/reveal", `{"members":["c"]}`)
		e.Until("the first one", func(b *hubtest.Board) bool { return len(b.Top) == 3 })
		require.Equal(t, []hubtest.Entry{{Rank: 1, Member: "a", Score: 30}, {Rank: 2, Member: "b", Score: 20}, {Rank: 3, Member: "c", Score: 1}},
			e.Board.Top)
		n.Require(200, "POST", "/v1/boards/finale/reveal", `{"members":["b"]}`)
		s.Until("finale", "the winner", func(b *hubtest.Board) bool { return b.Frozen == "" && b.Top[0].Member == "b" && *b.Me.Rank == 1 })
		e.Until("the end of the freeze", func(b *hubtest.Board) bool { return b.Frozen == "" })
		n.Require(200, "POST", "/v1/events/vote", `{"act":"a"}`)
		items := s.Next("feed")
		require.Len(t, items.Items, 1)
		require.Equal(t, hubtest.Raw(`{"act":"a"}`), items.Items[0].Data)
		require.Zero(t, items.Skipped)
	})
}

// A period freezes by its definition. What is written then is public with its final state, once it has ended, and announced then.
func TestPeriodFreezesAndRevealsByItself(t *testing.T) {
	board := quick
	board.Freeze = time.Second
	servertest.With(servertest.Config{}, board).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		s, feed := servertest.Dial(t, n.Addr), servertest.Dial(t, n.Addr)
		feed.Send(`{"type":"subscribe","id":1,"feed":"periods"}`)
		feed.Next("feed")
		s.Subscribe("quick", 5)
		var period string
		for { // the period may end before the update comes
			frozen := s.Next("board").Frozen
			period = s.Boards["quick"].Period
			if frozen == "null" {
				continue
			}
			require.Contains(t, frozen, `"reveals":"auto"`)
			if strings.Contains(n.Do("POST", "/v1/boards/quick/scores", `{"member":"m","score":7}`).Body, `"frozen":true`) {
				break
			}
		}
		for {
			m := s.Next("snapshot", "delta", "board")
			if m.Type == "snapshot" && m.Final && *m.Period >= period {
				break
			}
		}
		was := s.Boards["quick"]
		require.Equal(t, period, was.Period)
		require.Equal(t, []hubtest.Entry{{Rank: 1, Member: "m", Score: 7}}, was.Top)
		require.Empty(t, was.Frozen)
		require.False(t, s.Next("snapshot").Final)
		require.NotEqual(t, period, s.Boards["quick"].Period)
		item := feed.Next("feed").Items[0].Data
		require.Contains(t, item, `"period":"`+period+`"`)
		require.Contains(t, item, `"total":1`)
	})
}
