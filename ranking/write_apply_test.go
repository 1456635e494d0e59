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
		require.Equal(t, ranking.Result{Previous: &ranking.Standing{Score: 9, Rank: 1}}, gone)
		require.ErrorIs(t, errorOf(s.Remove(t.Context(), "b", "c")), ranking.ErrUnknownMember)
		_, err := s.Apply(t.Context(), "nope", []definition.Update{{Member: "a", Score: 1}})
		require.ErrorIs(t, err, ranking.ErrUnknownBoard)
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
			var field *ranking.FieldError
			require.ErrorAs(t, o.Err, &field, "update %d", i)
			require.Equal(t, fields[i], field.Field, "update %d", i)
		}
		require.ErrorIs(t, o[0].Err, ranking.ErrOutOfRange)
		require.ErrorIs(t, o[2].Err, ranking.ErrOutOfRange)

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
		var wg sync.WaitGroup
		for i := range senders {
			for j := range updates {
				u := definition.Update{Member: fmt.Sprint("m", (i+j)%members), Score: int64(i*j + 1), ID: fmt.Sprintf("%d/%d", i, j)}
				want[u.Member] += u.Score
			}
			wg.Go(func() {
				for j := range updates {
					u := definition.Update{Member: fmt.Sprint("m", (i+j)%members), Score: int64(i*j + 1), ID: fmt.Sprintf("%d/%d", i, j)}
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
		page := must(s.Page(t.Context(), "b", 1, members))(t)
		got := make(map[string]int64)
		for _, e := range page.Entries {
			got[e.Member] = e.Score
		}
		require.Equal(t, want, got)

		mismatch := applyOne(t, s, "b", definition.Update{Member: "m0", Score: 77, ID: "0/0"})
		require.ErrorIs(t, mismatch.Err, ranking.ErrIDMismatch)
		mismatch = applyOne(t, s, "b", definition.Update{Member: "m0", Score: 1, Op: definition.Last, ID: "0/0"})
		require.ErrorIs(t, mismatch.Err, ranking.ErrIDMismatch)
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
		require.ErrorIs(t, err, ranking.ErrUnavailable)
		if errors.Is(err, ranking.ErrOutcomeUnknown) {
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
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		s, ctx := open(t, url, definition.Board{Name: "b"}), t.Context()
		none := must(s.Places(ctx, "b", []ranking.Lookup{{Member: "a"}}))(t)
		require.Equal(t, ranking.Places{Kind: "member", Ties: definition.First, List: []ranking.Place{{Entry: ranking.Entry{Member: "a"}}}}, none)

		for i, m := range []string{"a", "b", "c", "d", "e"} {
			applyOne(t, s, "b", definition.Update{Member: m, Score: int64(100 - 10*i)})
		}
		page := must(s.Page(ctx, "b", 1, 10))(t)
		all := page.Entries
		require.EqualValues(t, 100, all[0].Score)
		got := must(s.Places(ctx, "b", []ranking.Lookup{{"e", 1}, {"nobody", 3}, {"a", 2}, {"c", 0}, {"c", 1}}))(t)
		require.Equal(t, ranking.Places{State: page.State, Kind: "member", Ties: definition.First, Total: 5, List: []ranking.Place{
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
		require.ErrorIs(t, errorOf(s.Around(ctx, "b", "nobody", 0)), ranking.ErrUnknownMember)

		some := must(s.Members(ctx, "b", []string{"e", "nobody", "a"}))(t)
		require.Equal(t, []ranking.Member{{Entry: all[4], Among: 2}, {Entry: ranking.Entry{Member: "nobody"}}, {Entry: all[0], Among: 1}}, some.List)

		for field, lookups := range map[string][]ranking.Lookup{
			"members": make([]ranking.Lookup, ranking.MaxLookups+1),
			"member":  {{Member: "\n"}},
			"around":  {{Member: "a", Around: ranking.MaxAround + 1}},
		} {
			ranking.Refuses(t, field, ranking.ErrInvalid, errorOf(s.Places(t.Context(), "b", lookups)))
		}
		tooMany := errorOf(s.Places(ctx, "b", slices.Repeat([]ranking.Lookup{{"a", 100}}, 6)))
		require.ErrorIs(t, tooMany, ranking.ErrInvalid, "more entries than a call may hold Redis for")
	})
}
