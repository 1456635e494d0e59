package ranking

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
)

// view is all that readers see of a board, as text. Two boards with the same members have the same view, whatever their
// shards are.
func view(t testing.TB, s *Store, board string) string {
	t.Helper()
	ctx := t.Context()
	var all strings.Builder
	show := func(what string, values ...any) {
		fmt.Fprintf(&all, "%s:", what)
		for _, v := range values {
			fmt.Fprintf(&all, " %+v", v)
		}
		all.WriteByte('\n')
	}
	page := must(s.Page(ctx, board, 1, MaxPage))(t)
	show("page", page.Total, page.Count, page.Start, page.Entries)
	show("from rank 5", must(s.Page(ctx, board, 5, 4))(t).Entries)
	bounded := must(s.Read(ctx, board, Query{MinScore: new(int64(-3)), MaxScore: new(int64(40)), FromRank: 2, Limit: 5}))(t)
	show("range", bounded.Before, bounded.Count, bounded.Start, bounded.Entries)
	walked := []Entry{}
	for q := (Query{Limit: 7}); ; {
		p := must(s.Read(ctx, board, q))(t)
		walked = append(walked, p.Entries...)
		if q.After = p.Next(); q.After == nil {
			break
		}
	}
	require.Equal(t, page.Entries, walked)
	var asked []string
	for i, e := range page.Entries {
		if i%9 == 0 {
			n := must(s.Around(ctx, board, e.Member, 2))(t)
			show("around", n.Place, n.Percentile())
		}
		asked = append(asked, e.Member)
	}
	slices.Reverse(asked)
	show("among", must(s.Members(ctx, board, append(asked, "nobody")))(t).List)
	at := must(s.At(ctx, board, 7, nil, 3))(t)
	show("at", at.Rank, at.Count, at.Entries)
	for _, text := range []string{"m1", "ana"} {
		for _, f := range must(s.Search(ctx, board, text, MaxFound))(t).List {
			show("found", f.Entry, f.Profile.Name)
		}
	}
	for page, err := range s.Export(ctx, board) {
		require.NoError(t, err)
		show("export", page.Entries)
	}
	hidden := must(s.Hidden(ctx, board, "", 3))(t)
	for _, h := range hidden.Members {
		score := int64(0)
		if h.Score != nil {
			score = *h.Score
		}
		show("hidden", h.Member, score, h.Everywhere)
	}
	show("hidden", hidden.Total, hidden.Next != "")
	show("summary", must(s.Summary(ctx, board))(t).Top)
	show("info", must(s.Info(ctx, board))(t).Total)
	for _, m := range []string{"m1", "m2", "gone"} {
		for _, b := range must(s.MemberBoards(ctx, "user", m, MemberBoardsQuery{Limit: 10}))(t).Boards {
			if b.Board == board {
				show("boards of "+m, b.Place)
			}
		}
	}
	return all.String()
}

// A board with shards shows what the same board without shards shows, after each kind of change and of moderation.
func TestShardsShowWhatOneBoardShows(t *testing.T) {
	for _, shards := range []int{2, 3, 16} {
		t.Run(fmt.Sprint(shards), func(t *testing.T) {
			boards := []definition.Board{{Name: "sharded", Shards: shards}, {Name: "whole"}, {Name: "sum-sharded"}, {Name: "sum-whole"}}
			for i := range boards {
				boards[i].Kind, boards[i].Ties = "user", definition.ByMember
			}
			for i := range 2 {
				boards[2+i].Union = &definition.Union{Of: []string{boards[i].Name}, Refresh: time.Second}
				boards[i].Min, boards[i].Max = new(int64(-100)), new(int64(1000))
			}
			onSimulatedNode(t, boards, func(t *testing.T, w *world, s *Store) {
				for _, board := range boards[:2] {
					e := definition.Event{Name: "to-" + board.Name, Updates: []definition.Target{
						{Board: board.Name, Member: "{user}", Score: "{n}"}, {Board: board.Name, Member: "{other}", Score: "1"}}}
					require.NoError(t, s.DefineEvent(t.Context(), e, Moderator{}))
				}
				must(s.SetProfile(t.Context(), "user", "m17", Profile{Name: "Ana"}))(t)
				why := Moderator{Reason: "test", By: "desk"}
				for _, step := range []struct {
					name string
					do   func(ctx context.Context, board string) error
				}{
					{"empty", func(context.Context, string) error { return nil }},
					{"a batch", func(ctx context.Context, board string) error {
						var batch []definition.Update
						for i := range 60 {
							batch = append(batch, definition.Update{Member: fmt.Sprint("m", i), Score: int64(i*i%53 - 5),
								ID: fmt.Sprint("b", i), Data: `{"n":1}`})
						}
						for range 2 { // the ids make the retry count once
							for i, o := range must(s.Apply(ctx, board, batch))(t) {
								require.NoError(t, o.Err)
								require.Equal(t, batch[i].Score, o.Result.Current.Score)
							}
						}
						return nil
					}},
					{"refusals", func(ctx context.Context, board string) error {
						all := must(s.Apply(ctx, board, []definition.Update{{Member: "m1", Score: 5000}, {Member: "m2", Score: 2}}))(t)
						require.ErrorIs(t, all[0].Err, definition.ErrOutOfRange)
						return all[1].Err
					}},
					{"a condition", func(ctx context.Context, board string) error {
						return errorOf(s.Apply(ctx, board, []definition.Update{
							{Member: "m3", Score: 9, If: definition.Absent}, {Member: "new", Score: 9, If: definition.Absent}}))
					}},
					{"events", func(ctx context.Context, board string) error {
						for range 2 {
							results := must(s.ApplyEvents(ctx, "to-"+board, []EventCall{
								occurs("1", "user", "m4", "other", "m5", "n", 20), occurs("2", "user", "m6", "other", "m7", "n", 30)}))(t)
							for _, r := range results {
								require.NoError(t, r.Err)
							}
						}
						return nil
					}},
					{"take back", func(ctx context.Context, board string) error {
						return errorOf(s.TakeBack(ctx, "to-"+board, "1", nil, why))
					}},
					{"set", func(ctx context.Context, board string) error { return errorOf(s.SetScore(ctx, board, "m8", 77, why)) }},
					{"hide", func(ctx context.Context, board string) error {
						var failed error
						for _, m := range []string{"m9", "m10", "m11", "m12", "never"} {
							failed = errors.Join(failed, s.Hide(ctx, board, m, why))
						}
						return errors.Join(failed, errorOf(s.Apply(ctx, board, []definition.Update{{Member: "m9", Score: 3}})))
					}},
					{"show", func(ctx context.Context, board string) error { return s.Show(ctx, board, "m9", why) }},
					{"remove", func(ctx context.Context, board string) error { return errorOf(s.Remove(ctx, board, "m13")) }},
					{"import", func(ctx context.Context, board string) error {
						i := 0
						return errorOf(s.Import(ctx, board, func() (Row, error) {
							if i++; i > 40 {
								return Row{}, io.EOF
							}
							return Row{Line: int64(i), Member: fmt.Sprint("i", i), Score: int64(i), Data: `"x"`}, nil
						}))
					}},
				} {
					for _, board := range boards[:2] {
						require.NoError(t, step.do(t.Context(), board.Name), "%s on %s", step.name, board.Name)
					}
					require.Equal(t, view(t, s, "whole"), view(t, s, "sharded"), step.name)
				}
				require.NoError(t, s.HideEverywhere(t.Context(), "user", "m20", why))
				w.tend()
				require.Equal(t, view(t, s, "whole"), view(t, s, "sharded"))
				must(s.Erase(t.Context(), "user", "m21", why))(t)
				w.tend()
				require.Equal(t, view(t, s, "whole"), view(t, s, "sharded"))
				require.NotContains(t, view(t, s, "sharded"), "m21")
				w.pass(2 * time.Second)
				w.tend()
				require.Equal(t, entriesOf(t, s, "whole"), entriesOf(t, s, "sum-whole"))
				require.Equal(t, entriesOf(t, s, "whole"), entriesOf(t, s, "sum-sharded"))

				page := must(s.Page(t.Context(), "sharded", 1, MaxPage))(t)
				var members []string
				var results []*Result
				for _, e := range page.Entries {
					members, results = append(members, e.Member), append(results, &Result{Current: &Standing{Score: e.Score}})
				}
				s.CountRanks(t.Context(), "sharded", members, results)
				for i, e := range page.Entries {
					require.Equal(t, e.Rank, results[i].Current.Rank, e.Member)
				}
				Refuses(t, "from_rank", definition.ErrInvalid, errorOf(s.Page(t.Context(), "sharded", MaxShardedRank+1, 1)))

				// Nothing of it stays behind.
				require.NoError(t, s.DeleteEvent(t.Context(), "to-sharded", why))
				for _, name := range []string{"sum-sharded", "sharded"} {
					require.NoError(t, s.Delete(t.Context(), name, why))
				}
				w.until("the deletion", func() error {
					for _, key := range w.allKeys() {
						tag, _, _ := strings.Cut(strings.TrimPrefix(key, "rc:{"), "}:")
						if instance, _ := keyspace.ParseShard(tag); instance == "sharded" {
							return fmt.Errorf("there is still %s", key)
						}
					}
					return nil
				})
			})
		})
	}
}

// The number of shards stays. A board that is deleted may come back with another one, and what an export gives is imported there.
func TestAnotherNumberOfShards(t *testing.T) {
	onSimulatedNode(t, nil, func(t *testing.T, w *world, s *Store) {
		votes := func(shards int) error {
			return s.DefineBoard(t.Context(), definition.Board{Name: "votes", Shards: shards, Ties: definition.ByMember}, Moderator{})
		}
		require.NoError(t, votes(3))
		for i := range 30 {
			apply(t, s, "votes", definition.Update{Member: fmt.Sprint("m", i), Score: int64(i % 7), Data: `{"a":1}`})
		}
		for _, shards := range []int{0, 2, 4} {
			Refuses(t, "shards", definition.ErrConflict, votes(shards))
		}
		var all []Entry
		for page, err := range s.Export(t.Context(), "votes") {
			require.NoError(t, err)
			all = append(all, page.Entries...)
		}
		for _, shards := range []int{2, 16, 0, 3} {
			require.NoError(t, s.Delete(t.Context(), "votes", Moderator{}))
			w.until("the deletion", func() error { return votes(shards) })
			require.Empty(t, entriesOf(t, s, "votes"))
			line := 0
			done := must(s.Import(t.Context(), "votes", func() (Row, error) {
				if line == len(all) {
					return Row{}, io.EOF
				}
				line++
				return Row{Line: int64(line), Member: all[line-1].Member, Score: all[line-1].Score, Data: all[line-1].Data}, nil
			}))(t)
			require.EqualValues(t, len(all), done.Rows)
			require.Equal(t, all, must(s.Page(t.Context(), "votes", 1, MaxPage))(t).Entries)
		}
	})
}

// A node may die before or after any of the calls with which it settles the shards of a period, and lets them go. The node that goes
// on announces the period once, as it stands over all shards, and leaves nothing behind.
func TestShardsSettleOnceWhereverANodeDies(t *testing.T) {
	t.Parallel()
	for name, dies := range map[string]fate{"before": isLost, "after": isDone} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachStep(t, func(t *testing.T, step int) (reached bool) {
				w := simulated(t, 2, Config{Announce: 3, Deliver: []string{AllBoards}},
					definition.Board{Name: "fans:{star}", Shards: 3, Period: "hour", Keep: new(1), Retain: 5 * time.Hour, Ties: definition.ByMember})
				var period string
				for i := range 7 { // all shards, see below
					period = w.write(w.stores[1], "fans:s1", fmt.Sprint("m", i), int64(i)).Period
				}
				var calls atomic.Int64
				w.stores[0].rdb.AddHook(&cutter{fate: fateAt(&calls, int64(step), dies, isLost)})
				w.pass(time.Hour + time.Second)
				_, err := w.stores[0].housekeepDue(t.Context())
				w.stores = w.stores[1:]
				w.tendAfter(relistAfter)
				require.Len(t, w.words(), 1)
				word := w.words()[0]
				require.Equal(t, definition.Qualify("fans:s1", period), word.name())
				require.EqualValues(t, 7, word.Data.Total)
				require.JSONEq(t, `[{"rank":1,"member":"m6","score":6},{"rank":2,"member":"m5","score":5},{"rank":3,"member":"m4","score":4}]`,
					string(word.Data.Top))
				page := must(w.stores[0].Page(t.Context(), word.name(), 1, 10))(t)
				require.True(t, page.Final)
				require.Len(t, page.Entries, 7)
				_, due := w.due(w.stores[0], 10)
				require.Len(t, due, 1)
				require.Contains(t, string(due[0].Body), `"total":7`)
				require.NoError(t, w.stores[0].Delivered(t.Context(), due[0]))
				w.until("all to go", w.nothingLeft)
				require.Len(t, w.words(), 1)
				return err != nil
			})
		})
	}
}
