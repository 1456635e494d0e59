package ranking_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

func TestApplyTellsWhatItDid(t *testing.T) {
	onStore(t, []definition.Board{
		{Name: "b"}, {Name: "laps", Mode: definition.Best, Order: definition.Asc},
	}, func(t *testing.T, s *ranking.Store) {
		require.Equal(t, applied(5, 1, nil), applyOne(t, s, "b", definition.Update{Member: "a", Score: 5}))
		require.Equal(t, applied(9, 1, nil), applyOne(t, s, "b", definition.Update{Member: "c", Score: 9}))
		require.Equal(t, applied(10, 1, &ranking.Standing{Score: 5, Rank: 2}), applyOne(t, s, "b", definition.Update{Member: "a", Score: 5}))
		require.Equal(t, applied(0, 2, &ranking.Standing{Score: 10, Rank: 1}), applyOne(t, s, "b", definition.Update{Member: "a", Score: -10}))
		require.Equal(t, applied(-3, 2, &ranking.Standing{Score: 0, Rank: 2}),
			applyOne(t, s, "b", definition.Update{Member: "a", Score: -3, Op: definition.Last}))
		require.Equal(t, applied(9, 1, &ranking.Standing{Score: 9, Rank: 1}),
			applyOne(t, s, "b", definition.Update{Member: "c", Score: 8, Op: definition.Best}))

		require.Equal(t, applied(90, 1, nil), applyOne(t, s, "laps", definition.Update{Member: "a", Score: 90}))
		require.Equal(t, applied(80, 1, nil), applyOne(t, s, "laps", definition.Update{Member: "b", Score: 80}))
		require.Equal(t, applied(90, 2, &ranking.Standing{Score: 90, Rank: 2}), applyOne(t, s, "laps", definition.Update{Member: "a", Score: 95}))
		require.Equal(t, applied(70, 1, &ranking.Standing{Score: 90, Rank: 2}), applyOne(t, s, "laps", definition.Update{Member: "a", Score: 70}))

		info := must(s.Info(t.Context(), "b"))(t)
		require.EqualValues(t, 5, info.Seq, "an update that changes nothing counts as no change")
		require.EqualValues(t, 2, info.Total)

		gone := must(s.Remove(t.Context(), "b", "c"))(t)
		require.Equal(t, ranking.Answered(ranking.Result{Previous: &ranking.Standing{Score: 9, Rank: 1}}), gone)
		require.ErrorIs(t, errorOf(s.Remove(t.Context(), "b", "c")), definition.ErrUnknownMember)
		_, err := s.Apply(t.Context(), "nope", []definition.Update{{Member: "a", Score: 1}})
		require.ErrorIs(t, err, definition.ErrUnknownBoard)
	})
}

func TestUpdatesThatAreRefusedChangeNothing(t *testing.T) {
	onStore(t, []definition.Board{{Name: "b"}}, func(t *testing.T, s *ranking.Store) {
		applyOne(t, s, "b", definition.Update{Member: "a", Score: definition.MaxScore})
		before := must(s.Page(t.Context(), "b", 1, 10))(t)

		o := must(s.Apply(t.Context(), "b", []definition.Update{
			{Member: "a", Score: 1, ID: "over"},
			{Member: "", Score: 1},
			{Member: "x", Score: definition.MaxScore + 1},
			{Member: "x", Score: 1, Op: "times"},
			{Member: "x\n", Score: 1},
			{Member: "\xff", Score: 1},
			{Member: "x", Score: 1, ID: "i\x1fd"},
		}))(t)
		fields := []string{"score", "member", "score", "op", "member", "member", "id"}
		for i, o := range o {
			var field *definition.FieldError
			require.ErrorAs(t, o.Err, &field, "update %d", i)
			require.Equal(t, fields[i], field.Field, "update %d", i)
		}
		require.ErrorIs(t, o[0].Err, definition.ErrOutOfRange)
		require.ErrorIs(t, o[2].Err, definition.ErrOutOfRange)

		require.Equal(t, before, must(s.Page(t.Context(), "b", 1, 10))(t))

		// A refused update keeps no id: with the same one it may try again.
		require.NoError(t, applyOne(t, s, "b", definition.Update{Member: "a", Score: -1, ID: "over"}).Err)
	})
}

// A thousand senders, each sending every update three times with the same id,
// two of the three at once, leave exactly the sum.
func TestRetriesCountOnce(t *testing.T) {
	t.Parallel()
	const senders, updates, members = 1000, 4, 50
	redistest.Engines(t, func(t *testing.T, url string) {
		s := open(t, url, definition.Board{Name: "b"})
		want := make(map[string]int64)
		update := func(i, j int) definition.Update {
			return definition.Update{Member: fmt.Sprint("m", (i+j)%members), Score: int64(i*j + 1), ID: fmt.Sprintf("%d/%d", i, j)}
		}
		var wg sync.WaitGroup
		for i := range senders {
			for j := range updates {
				u := update(i, j)
				want[u.Member] += u.Score
			}
			wg.Go(func() {
				for j := range updates {
					u := update(i, j)
					send := func() ranking.Outcome {
						for {
							o, err := s.Apply(context.Background(), "b", []definition.Update{u})
							if err == nil {
								return o[0]
							}
						}
					}
					var twin sync.WaitGroup
					var first, second ranking.Outcome
					twin.Go(func() { first = send() })
					second = send()
					twin.Wait()
					third := send()
					if first.Err != nil || second.Err != nil || third.Err != nil {
						t.Error(first.Err, second.Err, third.Err)
						return
					}
					if first.Result.Duplicate == second.Result.Duplicate || !third.Result.Duplicate {
						t.Errorf("of three sendings %+v, %+v, %+v just one must count", first, second, third)
					}
					if *third.Result.Current != *first.Result.Current || *third.Result.Current != *second.Result.Current {
						t.Errorf("a retry must tell the first result: %+v %+v %+v", first, second, third)
					}
				}
			})
		}
		redistest.Wait(t, "the callers of the test", wg.Wait)
		require.Equal(t, want, scores(t, s, "b"))

		mismatch := applyOne(t, s, "b", definition.Update{Member: "m0", Score: 77, ID: "0/0"})
		require.ErrorIs(t, mismatch.Err, definition.ErrIDMismatch)
		mismatch = applyOne(t, s, "b", definition.Update{Member: "m0", Score: 1, Op: definition.Last, ID: "0/0"})
		require.ErrorIs(t, mismatch.Err, definition.ErrIDMismatch)
	})
}

// An update whose answer is lost is never sent again but by its sender: without
// ids a second sending would count twice.
func TestLostAnswerIsNotARetry(t *testing.T) {
	t.Parallel()
	// The clock stands still: no update is refused because the node's lease is over.
	url, _ := redistest.Clocked(t)
	p := redistest.StartProxy(t, url)
	direct, cut := open(t, url, definition.Board{Name: "b"}), open(t, p.URL(), definition.Board{Name: "b"})
	applyOne(t, cut, "b", definition.Update{Member: "m", Score: 1})
	p.CutAnswers(true)
	for sent := 0; sent < 20; {
		_, err := cut.Apply(t.Context(), "b", []definition.Update{{Member: "m", Score: 1}})
		require.ErrorIs(t, err, definition.ErrUnavailable)
		if errors.Is(err, definition.ErrOutcomeUnknown) {
			sent++
			continue
		}
		p.CutAnswers(false) // on a slow machine, the definitions have to be read again
		must(cut.Page(t.Context(), "b", 1, 1))(t)
		p.CutAnswers(true)
	}
	p.CutAnswers(false)
	got := must(direct.Around(t.Context(), "b", "m", 0))(t)
	require.EqualValues(t, 21, got.Entry.Score, "each was carried out, and once")
	require.EqualValues(t, 22, applyOne(t, cut, "b", definition.Update{Member: "m", Score: 1}).Result.Current.Score)
}

// Places come in the order asked, with the state that they belong to.
func TestPlaces(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s, ctx := open(t, url, definition.Board{Name: "b"}), t.Context()
		none := must(s.Places(ctx, "b", []ranking.Lookup{{Member: "a"}}))(t)
		require.Equal(t, ranking.Places{Head: ranking.Head{Kind: "member", Shards: ranking.IfSharded(none.Shards)}, Ties: definition.First,
			List: []ranking.Place{{Entry: ranking.Entry{Member: "a"}}}, ByShard: ranking.IfSharded(none.ByShard)}, none)

		for i, m := range []string{"a", "b", "c", "d", "e"} {
			applyOne(t, s, "b", definition.Update{Member: m, Score: int64(100 - 10*i)})
		}
		page := must(s.Page(ctx, "b", 1, 10))(t)
		all := page.Entries
		require.EqualValues(t, 100, all[0].Score)
		got := must(s.Places(ctx, "b", []ranking.Lookup{
			{Member: "e", Around: 1}, {Member: "nobody", Around: 3}, {Member: "a", Around: 2}, {Member: "c"}, {Member: "c", Around: 1},
		}))(t)
		head := ranking.Head{State: page.State, Kind: "member", Total: 5, Shards: ranking.IfSharded(got.Shards)}
		require.Equal(t, ranking.Places{Head: head, Ties: definition.First, ByShard: ranking.IfSharded(got.ByShard), List: []ranking.Place{
			{Entry: all[4], Position: 5, Around: all[3:5]},
			{Entry: ranking.Entry{Member: "nobody"}},
			{Entry: all[0], Position: 1, Below: 4, Around: all[:3]},
			{Entry: all[2], Position: 3, Below: 2, Around: all[2:3]},
			{Entry: all[2], Position: 3, Below: 2, Around: all[1:4]},
		}}, got)
		require.Equal(t, all[3:], must(s.Page(ctx, "b", 4, 10))(t).Entries)
		require.Empty(t, must(s.Page(ctx, "b", 10_000, 10))(t).Entries)

		n := must(s.Around(ctx, "b", "c", 1))(t)
		require.Equal(t, [2]int64{3, 80}, [2]int64{n.Entry.Rank, n.Entry.Score})
		require.EqualValues(t, 10, *n.ToNext())
		require.Equal(t, 50.0, n.Percentile())
		require.Equal(t, []string{"b", "c", "d"}, names(n.Around))
		top := must(s.Around(ctx, "b", "a", 2))(t)
		require.Nil(t, top.ToNext())
		require.Equal(t, 100.0, top.Percentile())
		require.Len(t, top.Around, 3)
		last := must(s.Around(ctx, "b", "e", 0))(t)
		require.Equal(t, 0.0, last.Percentile())
		require.EqualValues(t, 10, *last.ToNext())
		require.Len(t, last.Around, 2, "the one above is always there")
		require.ErrorIs(t, errorOf(s.Around(ctx, "b", "nobody", 0)), definition.ErrUnknownMember)

		some := must(s.Members(ctx, "b", []string{"e", "nobody", "a"}))(t)
		require.Equal(t, []ranking.Member{{Entry: all[4], Among: 2}, {Entry: ranking.Entry{Member: "nobody"}}, {Entry: all[0], Among: 1}},
			some.List)

		for field, lookups := range map[string][]ranking.Lookup{
			"members": make([]ranking.Lookup, ranking.MaxLookups+1),
			"member":  {{Member: "\n"}},
			"around":  {{Member: "a", Around: ranking.MaxAround + 1}},
		} {
			ranking.Refuses(t, field, definition.ErrInvalid, errorOf(s.Places(t.Context(), "b", lookups)))
		}
		tooMany := errorOf(s.Places(ctx, "b", slices.Repeat([]ranking.Lookup{{Member: "a", Around: 100}}, 6)))
		require.ErrorIs(t, tooMany, definition.ErrInvalid, "more entries than a call may hold Redis for")
	})
}

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
					ranking.Refuses(t, "score", definition.ErrOutOfRange, o.Err, "%+v", c)
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
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s := open(t, url, definition.Board{Name: "b:{x}", Max: new(int64(10)), MaxInstances: 1})
		o := must(s.Apply(t.Context(), "b:1", []definition.Update{
			{Member: "m", Score: 11, ID: "1", Data: "1"},
			{Member: "m", Score: 1, If: definition.Exists, Data: "1"},
			{Member: "m", Op: "no"},
		}))(t)
		require.ErrorIs(t, o[0].Err, definition.ErrOutOfRange)
		require.NoError(t, o[1].Err)
		require.ErrorIs(t, errorOf(s.Remove(t.Context(), "b:1", "m")), definition.ErrUnknownMember)
		require.Equal(t, []string{"rc:{/}:definitions"}, allKeys(t, url))
		require.NoError(t, applyOne(t, s, "b:2", definition.Update{Member: "m", Score: 10}).Err, "the one place is free")
	})
}

// Scores from before the bounds were drawn stay, and may come back within them.
func TestBoundsDrawnLater(t *testing.T) {
	onStore(t, []definition.Board{{Name: "b"}}, func(t *testing.T, s *ranking.Store) {
		applyOne(t, s, "b", definition.Update{Member: "m", Score: 1000})
		require.NoError(t, s.Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: "b", Max: new(int64(100))}}}))
		require.ErrorIs(t, applyOne(t, s, "b", definition.Update{Member: "m", Score: -1}).Err, definition.ErrOutOfRange)
		require.Equal(t, applied(100, 1, &ranking.Standing{Score: 1000, Rank: 1}),
			applyOne(t, s, "b", definition.Update{Member: "m", Score: -900}))
	})
}
