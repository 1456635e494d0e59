package ranking_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// A score or a change beyond the board's bounds is refused, and the bounds are told.
func TestBounds(t *testing.T) {
	t.Parallel()
	const inRange, outside, tooMuch = "", "outside -10 to 100", "by more than 20"
	for _, order := range []definition.Order{definition.Desc, definition.Asc} {
		t.Run(string(order), func(t *testing.T) {
			redistest.Engines(t, func(t *testing.T, url string) {
				s := open(t, url, definition.Board{Name: "b", Order: order, Min: new(int64(-10)), Max: new(int64(100)), MaxChange: 20})
				better := int64(1)
				if order == definition.Asc {
					better = -1
				}
				for i, c := range []struct {
					had    int64
					op     definition.Mode
					score  int64
					reason string
				}{
					{90, definition.Sum, 10, inRange},
					{90, definition.Sum, 11, outside},
					{0, definition.Sum, -10, inRange},
					{0, definition.Sum, -11, outside},
					{50, definition.Sum, 20, inRange},
					{50, definition.Sum, 21, tooMuch},
					{50, definition.Sum, -20, inRange},
					{50, definition.Sum, -21, tooMuch},
					{95, definition.Sum, 21, outside}, // the first that is wrong
					{50, definition.Sum, definition.MaxScore, outside},

					{90, definition.Last, 100, inRange},
					{90, definition.Last, 101, outside},
					{0, definition.Last, -10, inRange},
					{0, definition.Last, -11, outside},
					{50, definition.Last, 70, inRange},
					{50, definition.Last, 71, tooMuch},
					{50, definition.Last, 30, inRange},
					{50, definition.Last, 29, tooMuch},

					{50, definition.Best, 50 + 20*better, inRange},
					{50, definition.Best, 50 + 21*better, tooMuch},
					{50, definition.Best, 50 - 40*better, inRange}, // changes nothing
					{90, definition.Best, 101, outside},
					{0, definition.Best, -11, outside},
				} {
					m := fmt.Sprint("m", i)
					require.NoError(t, applyOne(t, s, "b", definition.Update{Member: m, Score: c.had, Op: definition.Last}).Err,
						"a first score is no change")
					before := must(s.Info(t.Context(), "b"))(t)
					u := definition.Update{Member: m, Score: c.score, Op: c.op, ID: m, Data: `1`}
					o := applyOne(t, s, "b", u)
					if c.reason == inRange {
						require.NoError(t, o.Err, "%+v", c)
						continue
					}
					ranking.Refuses(t, "score", ranking.ErrOutOfRange, o.Err, "%+v", c)
					require.ErrorContains(t, o.Err, c.reason, "%+v", c)
					require.Equal(t, before, must(s.Info(t.Context(), "b"))(t))
					require.Empty(t, data(t, s, "b")[m])
					u.Score = 0 // what was refused kept no id
					if c.op != definition.Sum {
						u.Score = c.had
					}
					require.NoError(t, applyOne(t, s, "b", u).Err)
				}
				for _, c := range []struct {
					op     definition.Mode
					score  int64
					reason string
				}{
					{definition.Sum, 20, inRange}, {definition.Sum, 21, tooMuch}, {definition.Sum, -11, outside},
					{definition.Last, 100, inRange}, {definition.Last, 101, outside},
					{definition.Best, 100, inRange}, {definition.Best, -11, outside},
				} {
					o := applyOne(t, s, "b", definition.Update{Member: fmt.Sprint("new ", c), Score: c.score, Op: c.op})
					require.Equal(t, c.reason != inRange, o.Err != nil, "%+v: %v", c, o.Err)
				}
			})
		})
	}
}

// What is refused is not remembered, gives no one a place on the board and no
// instance one in its family.
func TestWhatIsRefusedLeavesNothing(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		s := open(t, url, definition.Board{Name: "b:{x}", Max: new(int64(10)), MaxInstances: 1})
		o := must(s.Apply(t.Context(), "b:1", []definition.Update{
			{Member: "m", Score: 11, ID: "1", Data: "1"},
			{Member: "m", Score: 1, If: definition.Exists, Data: "1"},
			{Member: "m", Op: "no"},
		}))(t)
		require.ErrorIs(t, o[0].Err, ranking.ErrOutOfRange)
		require.NoError(t, o[1].Err)
		require.ErrorIs(t, errorOf(s.Remove(t.Context(), "b:1", "m")), ranking.ErrUnknownMember)
		require.Equal(t, []string{"rc:{/}:definitions"}, allKeys(t, url))
		require.NoError(t, applyOne(t, s, "b:2", definition.Update{Member: "m", Score: 10}).Err, "the one place is free")
	})
}

// Scores from before the bounds were drawn stay, and may come back within them.
func TestBoundsDrawnLater(t *testing.T) {
	onStore(t, []definition.Board{{Name: "b"}}, func(t *testing.T, s *ranking.Store) {
		applyOne(t, s, "b", definition.Update{Member: "m", Score: 1000})
		require.NoError(t, s.Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: "b", Max: new(int64(100))}}}))
		require.ErrorIs(t, applyOne(t, s, "b", definition.Update{Member: "m", Score: -1}).Err, ranking.ErrOutOfRange)
		require.Equal(t, applied(100, 1, &ranking.Standing{Score: 1000, Rank: 1}),
			applyOne(t, s, "b", definition.Update{Member: "m", Score: -900}))
	})
}
