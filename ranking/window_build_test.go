package ranking

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
	"rankcast/ranking/redistest"
)

// applyScores sends updates of members m0, m1 and so on, whose scores are told by their number.
func applyScores(t testing.TB, s *Store, board string, members int, score func(i int) int64) {
	t.Helper()
	updates := make([]definition.Update, members)
	for i := range updates {
		updates[i] = definition.Update{Member: fmt.Sprint("m", i), Score: score(i)}
	}
	for some := range slices.Chunk(updates, 1000) {
		for _, o := range must(s.Apply(t.Context(), board, some))(t) {
			require.NoError(t, o.Err)
		}
	}
}

// send is an update that counts.
func send(t testing.TB, s *Store, board string, u definition.Update) Result {
	t.Helper()
	o := apply(t, s, board, u)
	require.NoError(t, o.Err)
	return o.Result
}

// ago is a moment so long ago, as an update may have it.
func ago(d time.Duration) time.Time { return time.Now().Add(-d).Truncate(time.Millisecond) }

// knows makes a script known to Redis. A node sends an unknown script twice, and a test would count both.
func knows(t testing.TB, s *Store, sc script.Script) {
	t.Helper()
	require.NoError(t, s.rdb.ScriptLoad(t.Context(), sc.Source).Err())
}

// Wherever in a build its node is killed, or goes, nobody ever sees a part of what it has
// built: all there is is the old result or the new one. Another builds as soon as the
// lease of one who was killed is over, and at once where the node has gone by itself;
// nothing stays of what was begun.
func TestWindowWhoseBuilderDies(t *testing.T) {
	t.Parallel()
	const members = gatherItems + 6
	for _, killed := range []bool{true, false} {
		t.Run(fmt.Sprintf("killed %t", killed), func(t *testing.T) {
			t.Parallel()
			w, s := simulatedNode(t, definition.Board{Name: "b", Window: day24, Mode: definition.Last, Ties: definition.Dense})
			k, its := s.keys.Board("b", ""), s.keys.Build("b")
			score := int64(0)
			write := func() {
				score++
				applyScores(t, s, "b", members, func(int) int64 { return score })
			}
			of := func(score int64) []string {
				seen := []string{fmt.Sprint(members)}
				return append(seen, fmt.Sprint(score), fmt.Sprint(-score))
			}
			// shown is how many there are, which scores they have, and those told apart.
			shown := func() []string {
				rows := must(w.rdb.ZRangeWithScores(t.Context(), k.Members, 0, -1).Result())(t)
				scores := make(map[string]bool)
				for _, row := range rows {
					scores[fmt.Sprint(int64(-math.Floor(row.Score)))] = true
				}
				seen := append([]string{fmt.Sprint(len(rows))}, slices.Sorted(maps.Keys(scores))...)
				return append(seen, w.rdb.ZRange(t.Context(), k.Distinct, 0, -1).Val()...)
			}
			for range 600 / members { // so that they are read in more than one call
				write()
			}
			whole(t, s, "b")
			dies, reached, swapped := 0, true, 0
			for ; reached; dies += redistest.Stride {
				write()
				w.tendAfter(5 * time.Minute)
				dead := w.store(patient)
				w.stores = w.stores[:1]
				must(dead.Board(t.Context(), "b"))(t)
				_, err := dead.housekeepDue(t.Context()) // by which it hears what time it is
				require.NoError(t, err)
				dead.rdb.AddHook(&cutter{answered: func(string) {
					require.Contains(t, [][]string{of(score - 1), of(score)}, shown(), "at call %d", dies)
				}})
				calls := at(dead.rdb, dies, func() error {
					if killed {
						return errCut
					}
					dead.builds.stop()
					return nil
				})
				b := dead.builds.start("b", "b", s.builds.known("b"), false)
				redistest.Receive(t, "the end of b.done", b.done)
				redistest.Wait(t, "the builds of the node", dead.builds.running.Wait)
				reached = calls.sent.Load() > int64(dies)
				now := shown()
				require.Contains(t, [][]string{of(score - 1), of(score)}, now, "at call %d", dies)
				if !reached {
					require.NoError(t, b.err)
				}
				if slices.Equal(now, of(score)) {
					swapped++
				}
				if killed && w.rdb.Exists(t.Context(), its.Lock).Val() == 1 {
					lasts := w.rdb.PTTL(t.Context(), its.Lock).Val()
					require.Positive(t, lasts)
					require.LessOrEqual(t, lasts, buildLease)
					w.pass(buildLease - time.Millisecond)
					must(s.catalog.readFresh(t.Context()))(t)
					next := &build{instance: "b", seen: s.builds.known("b")}
					require.NoError(t, s.build(t.Context(), next))
					require.Equal(t, builtElsewhere, next.came, "another waits for the lease to be over")
					w.pass(time.Millisecond)
				}
				write() // so that nothing which was left may be of use
				old(t, time.Hour, "b", s)
				// It hears what time it is, and that alone: what was left is the next builder's to see to.
				must(s.catalog.readFresh(t.Context()))(t)
				require.Equal(t, map[string]int64{}, without(scoresOf(whole(t, s, "b")), score), "at call %d", dies)
				require.Equal(t, of(score), shown(), "at call %d", dies)
				require.NoError(t, s.scheduleNow(t.Context(), "b"))
				w.tend()
				require.Zero(t, w.rdb.Exists(t.Context(), its.All()...).Val(), "at call %d", dies)
			}
			require.Greater(t, dies, 8)
			require.Positive(t, swapped)
			require.Less(t, swapped*redistest.Stride, dies, "in some rounds the old result stays")
		})
	}
}

// without leaves those out who have a score.
func without(scores map[string]int64, score int64) map[string]int64 {
	maps.DeleteFunc(scores, func(_ string, s int64) bool { return s == score })
	return scores
}

// What comes while a result is built, before or after the events were read, is not in it,
// and in the next: it is as of the moment that it was begun.
func TestWindowIsAsOfWhenItsBuildBegan(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		for _, mode := range []definition.Mode{definition.Sum, definition.Best, definition.Last} {
			for _, when := range []script.Script{script.Hold, script.Events, script.Gather} {
				s, other := newNode(t, url), newNode(t, url)
				board := fmt.Sprintf("%s-%s", mode, when.Name)
				define(t, s, definition.Board{Name: board, Window: 3 * time.Hour, Mode: mode})
				const members = windowPage + 10 // so that one who comes anew may be read in a later call
				applyScores(t, other, board, members, func(int) int64 { return 5 })
				first := whole(t, s, board)
				send(t, other, board, definition.Update{Member: "m0", Score: 7})
				want := map[definition.Mode]int64{definition.Sum: 12, definition.Best: 7, definition.Last: 7}[mode]
				old(t, time.Hour, board, s)
				after(t, s, when, 0, func() {
					for _, m := range []string{"m0", "m1", fmt.Sprint("m", members-1), "new"} {
						// Late ones too, which stand before all others.
						send(t, other, board, definition.Update{Member: m, Score: 9, At: ago(time.Hour)})
						send(t, other, board, definition.Update{Member: m, Score: 9})
					}
				})
				got := scoresOf(whole(t, s, board))
				require.Len(t, got, members)
				require.Equal(t, want, got["m0"], board)
				require.EqualValues(t, 5, got["m1"], board)
				require.EqualValues(t, 5, got[fmt.Sprint("m", members-1)], board)
				require.EqualValues(t, members, first.Total)
				old(t, time.Hour, board, s)
				got = scoresOf(whole(t, s, board))
				require.Len(t, got, members+1)
				next := map[definition.Mode]int64{definition.Sum: 18, definition.Best: 9, definition.Last: 9}[mode]
				require.Equal(t, next, got["new"], board)
				require.Equal(t, map[definition.Mode]int64{definition.Sum: 30, definition.Best: 9, definition.Last: 9}[mode], got["m0"], board)
				require.Equal(t, map[definition.Mode]int64{definition.Sum: 23, definition.Best: 9, definition.Last: 9}[mode], got["m1"], board)
			}
		}
	})
}

// tiers requires that the distinct scores noted are just those that there are.
func tiers(t testing.TB, s *Store, board string) {
	t.Helper()
	k := s.keys.Board(board, "")
	want := make(map[string]bool)
	for _, row := range s.rdb.ZRangeWithScores(t.Context(), k.Members, 0, -1).Val() {
		want[strconv.FormatInt(int64(math.Floor(row.Score)), 10)] = true
	}
	got := s.rdb.ZRange(t.Context(), k.Distinct, 0, -1).Val()
	slices.Sort(got)
	require.Equal(t, slices.Sorted(maps.Keys(want)), slices.Clip(got))
	// And so the ranks that are told are those of the scores.
	rank, last := int64(0), int64(math.MaxInt64)
	for _, e := range whole(t, s, board).Entries {
		if e.Score != last {
			rank++
		}
		last = e.Score
		require.Equal(t, rank, e.Rank, e.Member)
	}
}

// Who is removed while a result is built is not in it, though he was counted, be it a few
// or more than one call sees to; whose score is set stays as the result has it, and is in
// the next as he was set. Tiers are right all the same.
func TestRemovedWhileAWindowIsBuilt(t *testing.T) {
	t.Parallel()
	// On the embedded store, which takes long to remove many, the builder's lease of 10 s
	// is not over before: the clock stands still.
	worlds(t, 1, patient, func(time.Time) []definition.Board { return nil }, func(t *testing.T, w *world) {
		for _, c := range []struct {
			removed int
			when    script.Script
			first   bool // there is no result yet
		}{{3, script.Events, false}, {3, script.Gather, false}, {3, script.Hold, true}, {600, script.Events, false}, {600, script.Events, true}} {
			s, other := w.store(patient), w.store(patient)
			board := fmt.Sprintf("b%d-%s-%t", c.removed, c.when.Name, c.first)
			define(t, s, definition.Board{Name: board, Window: 3 * time.Hour, Ties: definition.Dense})
			const members = 700
			applyScores(t, other, board, members, func(i int) int64 { return int64(i / 2) })
			if !c.first {
				whole(t, s, board)
				// All but the last hundred are elsewhere in what is built.
				applyScores(t, other, board, members-100, func(int) int64 { return 1000 })
				old(t, time.Hour, board, s)
			}
			after(t, s, c.when, 0, func() {
				// All at once, so that they go in few calls.
				var wg sync.WaitGroup
				errs := make([]error, c.removed)
				for i := range errs {
					wg.Go(func() { _, errs[i] = other.Remove(t.Context(), board, fmt.Sprint("m", i)) })
				}
				redistest.Wait(t, "the callers of the test", wg.Wait)
				require.NoError(t, errors.Join(errs...))
				// One comes again, one is set who has an old score of its own.
				send(t, other, board, definition.Update{Member: "m0", Score: 77})
				for i := 650; i < 652; i++ {
					must(other.SetScore(t.Context(), board, fmt.Sprint("m", i), 5000, Moderator{Reason: "set"}))(t)
				}
				must(other.SetScore(t.Context(), board, "m620", 5000, Moderator{Reason: "set"}))(t)
			})
			knows(t, s, script.Swap)
			calls := count(s)
			got := scoresOf(whole(t, s, board))
			require.Equal(t, 1+c.removed/swapMost, calls.times(script.Swap), board)
			for i := range c.removed {
				require.NotContains(t, got, fmt.Sprint("m", i), board)
			}
			lost := 0
			if c.first { // it had none
				lost = 3
				require.NotContains(t, got, "m620")
			} else {
				require.EqualValues(t, 310, got["m620"])
				require.EqualValues(t, 325, got["m650"])
				require.EqualValues(t, 325, got["m651"])
				if c.removed < 600 {
					require.EqualValues(t, 1000+int64(c.removed/2), got[fmt.Sprint("m", c.removed)], board)
				}
			}
			require.Len(t, got, members-c.removed-lost, board)
			tiers(t, s, board)
			redistest.Wait(t, "the builds of the node", s.builds.running.Wait) // as some were set, the next is due at once
			old(t, time.Hour, board, s)
			got = scoresOf(whole(t, s, board))
			require.Len(t, got, members-c.removed+1, board)
			require.EqualValues(t, 77, got["m0"], board)
			for _, m := range []string{"m620", "m650", "m651"} {
				require.EqualValues(t, 5000, got[m], board)
			}
			tiers(t, s, board)
		}
	})
}

// That a build and what comes meanwhile are told apart is not for the clock, which may
// stand, but for the board's.
func TestRemovedWhileTheClockStands(t *testing.T) {
	t.Parallel()
	w := simulated(t, 2, patient, definition.Board{Name: "b", Window: time.Hour})
	s, other := w.stores[0], w.stores[1]
	for n, when := range []script.Script{script.Hold, script.Events, script.Gather} {
		w.write(other, "b", "x", 5)
		w.write(other, "b", "y", 5)
		if n > 0 {
			old(t, time.Hour, "b", s)
		}
		after(t, s, when, 0, func() {
			must(other.Remove(t.Context(), "b", "x"))(t)
			w.write(other, "b", "y", 1)
		})
		require.Equal(t, map[string]int64{"y": int64(6*n + 5)}, scoresOf(whole(t, s, "b")), when.Name)
	}
}

// swapMost is how many who were taken off meanwhile one call of swap.lua sees to.
const swapMost = 250

// Who is removed while it turns out that the result would be the same stays away.
func TestRemovedWhileAWindowIsTheSame(t *testing.T) {
	onTwoNodes(t, []definition.Board{{Name: "b", Window: 3 * time.Hour}}, func(t *testing.T, s, other *Store) {
		applyScores(t, s, "b", compareItems+9, func(i int) int64 { return int64(i) })
		before := whole(t, s, "b")
		for n, times := range []int{0, 1} { // before and after all have been compared
			old(t, time.Hour, "b", s)
			after(t, s, script.Differs, times, func() {
				for _, m := range []string{fmt.Sprint("m", n), fmt.Sprint("m", compareItems+n)} {
					must(other.Remove(t.Context(), "b", m))(t)
				}
			})
			require.EqualValues(t, before.Total-int64(2*(n+1)), whole(t, s, "b").Total)
		}
		old(t, time.Hour, "b", s)
		require.EqualValues(t, before.Total-4, whole(t, s, "b").Total)
	})
}

// traces are the keys that have a text in their name or in what they hold, but for those
// that belong to no board.
func (w *world) traces(text string) (found []string) {
	w.t.Helper()
	for _, key := range w.boardKeys() {
		held := key
		switch kind := w.rdb.Type(w.t.Context(), key).Val(); kind {
		case "zset":
			held += fmt.Sprint(w.rdb.ZRange(w.t.Context(), key, 0, -1).Val())
		case "hash":
			held += fmt.Sprint(w.rdb.HGetAll(w.t.Context(), key).Val())
		case "string":
			held += w.rdb.Get(w.t.Context(), key).Val()
		default:
			require.Empty(w.t, kind, key)
		}
		if strings.Contains(held, text) {
			found = append(found, key)
		}
	}
	return found
}

// Who is erased while a result is built is not in it, and nothing of him stays anywhere,
// also where his events are more than one call goes through.
func TestErasedWhileAWindowIsBuilt(t *testing.T) {
	t.Parallel()
	windows := func(time.Time) []definition.Board {
		return []definition.Board{{Name: "b", Kind: "user", Window: 3 * time.Hour, Ties: definition.Dense},
			{Name: "live", Kind: "user", Window: 3 * time.Hour, Refresh: definition.Live}}
	}
	for _, when := range []script.Script{script.Hold, script.Events, script.Differs, script.Gather} {
		for _, first := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s first %t", when.Name, first), func(t *testing.T) {
				if first && when.Name == script.Differs.Name {
					return // there is nothing to compare with
				}
				worlds(t, 2, patient, windows, func(t *testing.T, w *world) {
					s, other := w.stores[0], w.stores[1]
					for _, board := range []string{"b", "live"} {
						applyScores(t, other, board, purgePage, func(i int) int64 { return 1 })
						send(t, other, board, definition.Update{Member: "xavier|", Score: 5, ID: "an id"})
						send(t, other, board, definition.Update{Member: "xavier|", Score: 5})
						send(t, other, board, definition.Update{Member: "xav", Score: 3})
					}
					if !first {
						whole(t, s, "b")
						send(t, other, "b", definition.Update{Member: "m0", Score: 5})
						send(t, other, "b", definition.Update{Member: "xavier|", Score: 5})
						old(t, time.Hour, "b", s)
					}
					after(t, s, when, 0, func() {
						must(other.Erase(context.Background(), "user", "xavier|", Moderator{}))(t)
						w.until("the erasure", func() error { return w.erased("user", "xavier|") })
					})
					got := scoresOf(whole(t, s, "b"))
					require.NotContains(t, got, "xavier|")
					require.EqualValues(t, 3, got["xav"])
					require.Len(t, got, purgePage+1)
					require.Empty(t, w.traces("xavier"))
					tiers(t, s, "b")
					require.Len(t, scoresOf(whole(t, s, "live")), purgePage+1)
					// He counts anew.
					send(t, other, "b", definition.Update{Member: "xavier|", Score: 1})
					old(t, time.Hour, "b", s)
					require.EqualValues(t, 1, scoresOf(whole(t, s, "b"))["xavier|"])
				})
			})
		}
	}
}

// Who is erased whose events are over, though they were not when the build began that has
// counted them, is not in what it builds.
func TestErasedWhoHasNothingInTheWindowAnyMore(t *testing.T) {
	t.Parallel()
	w := simulated(t, 2, patient, definition.Board{Name: "b", Kind: "user", Window: time.Hour})
	s, other := w.stores[0], w.stores[1]
	w.write(s, "b", "xavier", 5)
	w.pass(30 * time.Minute)
	w.write(s, "b", "m", 5)
	w.tendAfter(30*time.Minute - time.Millisecond)
	after(t, s, script.Events, 0, func() {
		w.pass(time.Second)
		w.write(other, "b", "m", 5) // with which what is over goes
		must(other.Erase(context.Background(), "user", "xavier", Moderator{}))(t)
		for err := w.erased("user", "xavier"); err != nil; err = w.erased("user", "xavier") {
			must(other.eraseDue(context.Background()))(t)
		}
	})
	require.NotContains(t, scoresOf(whole(t, s, "b")), "xavier")
	require.Empty(t, w.traces("xavier"))
}

// Who is still in a result is removed from it though nothing of his is in the window any
// more.
func TestRemovedWhoHasNothingInTheWindowAnyMore(t *testing.T) {
	t.Parallel()
	w, s := simulatedNode(t, definition.Board{Name: "b", Window: time.Hour, Refresh: 2 * time.Hour})
	w.write(s, "b", "x", 5)
	w.pass(30 * time.Minute)
	w.write(s, "b", "m", 5)
	require.Len(t, whole(t, s, "b").Entries, 2)
	w.pass(30 * time.Minute)
	w.write(s, "b", "m", 5) // with which what is over goes
	require.Len(t, whole(t, s, "b").Entries, 2)
	must(s.Remove(t.Context(), "b", "x"))(t)
	require.Equal(t, map[string]int64{"m": 5}, scoresOf(whole(t, s, "b")))
	require.ErrorIs(t, errorOf(s.Remove(t.Context(), "b", "x")), definition.ErrUnknownMember)
}

// Who is hidden while a result is built is not in it, and counts on: shown again he is in
// the next.
func TestHiddenWhileAWindowIsBuilt(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		for _, when := range []script.Script{script.Hold, script.Events, script.Gather} {
			for _, first := range []bool{true, false} {
				s, other := newNode(t, url), newNode(t, url)
				board := fmt.Sprintf("b-%s-%t", when.Name, first)
				define(t, s, definition.Board{Name: board, Window: 3 * time.Hour})
				applyScores(t, other, board, 10, func(int) int64 { return 1 })
				if !first {
					whole(t, s, board)
					applyScores(t, other, board, 10, func(int) int64 { return 1 })
					old(t, time.Hour, board, s)
				}
				after(t, s, when, 0, func() {
					require.NoError(t, other.Hide(context.Background(), board, "m3", Moderator{Reason: "cheats"}))
				})
				got := scoresOf(whole(t, s, board))
				require.NotContains(t, got, "m3", board)
				require.Len(t, got, 9, board)
				send(t, other, board, definition.Update{Member: "m3", Score: 5})
				old(t, time.Hour, board, s, other)
				require.NotContains(t, scoresOf(whole(t, other, board)), "m3", board)
				require.NoError(t, s.Show(t.Context(), board, "m3", Moderator{}))
				want := int64(6)
				if !first {
					want = 7
				}
				require.Equal(t, want, scoresOf(whole(t, s, board))["m3"], board)
			}
		}
	})
}
