package ranking

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/feed"
	"rankcast/ranking/internal/script"
	"rankcast/ranking/redistest"
)

// earlier has what is in a window have been so much earlier, where which says so of its
// member and score.
func earlier(t testing.TB, s *Store, board string, by time.Duration, which func(member string, score int64) bool) {
	t.Helper()
	events := s.keys.Board(board, "").Window[0]
	rows := must(s.rdb.ZRangeWithScores(t.Context(), events, 0, -1).Result())(t)
	var moved []redis.Z
	for _, row := range rows {
		member, _, score, ok := parseWindowEvent(row.Member.(string))
		require.True(t, ok)
		if which(member, score) {
			moved = append(moved, redis.Z{Score: row.Score - float64(by.Milliseconds()), Member: row.Member})
		}
	}
	require.NoError(t, s.rdb.ZAdd(t.Context(), events, moved...).Err())
}

func everyOne(string, int64) bool { return true }

// hears hands out the changes of a board from now on; none is missing before what enough
// is content with.
func hears(t testing.TB, s *Store, board string) (until func(enough func(*feed.Changes) bool) []*feed.Changes) {
	t.Helper()
	sub := s.rdb.Subscribe(t.Context(), s.keys.Channel(board))
	t.Cleanup(func() { sub.Close() })
	must(sub.Receive(t.Context()))(t)
	return func(enough func(*feed.Changes) bool) (all []*feed.Changes) {
		t.Helper()
		for {
			ctx, cancel := context.WithTimeout(t.Context(), redistest.CallTimeout)
			m, err := sub.ReceiveMessage(ctx)
			cancel()
			require.NoError(t, err)
			c := must(feed.ParseChanges(m.Payload))(t)
			if all = append(all, c); enough(c) {
				return all
			}
		}
	}
}

// sweep removes all points from a board that are out of its window.
func sweep(t testing.TB, s *Store, board string) {
	t.Helper()
	run := s.startSweep(board)
	redistest.Receive(t, "the end of the sweep", run.done)
	require.NoError(t, run.err)
}

// noneLeft requires that nothing of a window is kept but what counts.
func noneLeft(t testing.TB, s *Store, board string) {
	t.Helper()
	for _, key := range s.keys.Board(board, "").Window {
		require.Zero(t, s.rdb.Exists(t.Context(), key).Val(), key)
	}
}

// What is over goes in steps, the oldest first, none larger than a call may be long: on a
// live board each member is told of, in one row of seq without a gap.
func TestWindowIsSweptInSteps(t *testing.T) {
	t.Parallel()
	const members = 2*sweepBuilt + 50
	redistest.Engines(t, func(t *testing.T, url string) {
		for board, most := range map[string]int64{"live": sweepLive, "built": sweepBuilt} {
			s := newNode(t, url)
			define(t, s, definition.Board{Name: board, Window: time.Hour,
				Refresh: map[string]time.Duration{"live": definition.Live}[board], Ties: definition.Dense})
			events := s.keys.Board(board, "").Window[0]
			applyScores(t, s, board, members, func(i int) int64 { return int64(i / 2) })
			send(t, s, board, definition.Update{Member: "stays", Score: 1})
			before, until := whole(t, s, board), hears(t, s, board)
			redistest.Wait(t, "the builds of the node", s.builds.running.Wait) // for the sweep that comes with a build
			earlier(t, s, board, time.Hour, func(member string, _ int64) bool { return member != "stays" })
			knows(t, s, script.Sweep)
			left, calls := s.rdb.ZCard(t.Context(), events).Val(), int64(0)
			s.rdb.AddHook(&cutter{answered: func(sc string) {
				if sc == script.Sweep.Name {
					now := s.rdb.ZCard(context.Background(), events).Val()
					assert.LessOrEqual(t, left-now, most)
					left, calls = now, calls+1
				}
			}})
			sweep(t, s, board)
			require.EqualValues(t, 1, left)
			require.Equal(t, (members+most-1)/most, calls)
			if board == "live" {
				seq, told := before.Seq, make(map[string]bool)
				for _, c := range until(func(c *feed.Changes) bool { return c.Last() == before.Seq+members }) {
					require.Equal(t, before.Epoch, c.Epoch)
					require.Equal(t, seq+1, c.Seq)
					require.LessOrEqual(t, len(c.List), int(most))
					seq = c.Last()
					for _, change := range c.List {
						require.Nil(t, change.New)
						require.False(t, told[change.Member])
						told[change.Member] = true
					}
				}
				require.Equal(t, State{before.Epoch, seq}, whole(t, s, board).State)
			}
			if board != "live" {
				old(t, 2*time.Minute, board, s)
			}
			require.Equal(t, map[string]int64{"stays": 1}, scoresOf(whole(t, s, board)))
			tiers(t, s, board)
			require.Equal(t, map[string]string{"stays": "1 1 0"}, s.rdb.HGetAll(t.Context(), s.keys.Board(board, "").Window[1]).Val())
		}
	})
}

// Five nodes that watch a quiet live board sweep it at the same time: points go once, and
// the changes told come to just what the board is.
func TestWindowThatManyNodesSweep(t *testing.T) {
	t.Parallel()
	const nodes, members = 5, 1000
	redistest.Engines(t, func(t *testing.T, url string) {
		stores := make([]*Store, nodes)
		for i := range stores {
			stores[i] = newNode(t, url)
		}
		s := stores[0]
		define(t, s, definition.Board{Name: "b", Window: time.Hour, Refresh: definition.Live, Ties: definition.Dense})
		applyScores(t, s, "b", members, func(i int) int64 { return 10 })
		applyScores(t, s, "b", members, func(i int) int64 { return int64(i%7) - 3 })
		before, until := whole(t, s, "b"), hears(t, s, "b")
		earlier(t, s, "b", time.Hour, func(_ string, score int64) bool { return score == 10 })
		var wg sync.WaitGroup
		for _, node := range stores {
			wg.Go(func() {
				for range 3 {
					if state := node.States(context.Background(), []string{"b"})[0]; state.Err != nil {
						t.Error(state.Err)
					}
				}
				node.builds.running.Wait()
			})
		}
		redistest.Wait(t, "the callers of the test", wg.Wait)
		for _, node := range stores { // one that came late may have begun when all was done
			node.States(t.Context(), []string{"b"})
			redistest.Wait(t, "the builds of the node", node.builds.running.Wait)
		}
		seq, scores := before.Seq, scoresOf(before)
		for _, c := range until(func(c *feed.Changes) bool { return c.Last() == before.Seq+members }) {
			require.Equal(t, before.Epoch, c.Epoch)
			require.Equal(t, seq+1, c.Seq)
			seq = c.Last()
			for _, change := range c.List {
				require.NotNil(t, change.New, "each has one that counts")
				scores[change.Member] = change.New.Score(definition.Desc)
			}
		}
		state := s.States(t.Context(), []string{"b"})[0].State
		require.Equal(t, State{before.Epoch, before.Seq + members}, state, "and no change more")
		after := whole(t, s, "b")
		require.Equal(t, scores, scoresOf(after))
		for i := range members {
			require.EqualValues(t, int64(i%7)-3, scores[fmt.Sprint("m", i)])
		}
		require.EqualValues(t, members, s.rdb.ZCard(t.Context(), s.keys.Board("b", "").Window[0]).Val())
		tiers(t, s, "b")
	})
}

// A live window of which nothing counts any more, and that would take more than one step,
// goes at once, and watchers are told that it was replaced. What is written then counts
// from nothing.
func TestWindowThatIsWhollyOver(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		for _, c := range []struct {
			events int
			how    string
			anew   bool
		}{{sweepLive - 1, "sweep", false}, {sweepLive, "sweep", true}, {3*sweepLive + 9, "sweep", true},
			{3*sweepLive + 9, "write", true}, {16, "write", false}} {
			s, board := newNode(t, url), fmt.Sprintf("b%d-%s", c.events, c.how)
			define(t, s, definition.Board{Name: board, Window: time.Hour, Refresh: definition.Live, Ties: definition.Dense})
			applyScores(t, s, board, c.events-2, func(i int) int64 { return int64(i) })
			send(t, s, board, definition.Update{Member: "m0", Score: 0, Data: `"of m0"`})
			must(s.Remove(t.Context(), board, "m1"))(t)
			send(t, s, board, definition.Update{Member: "m1", Score: 1})
			require.NoError(t, s.Hide(t.Context(), board, "m2", Moderator{}))
			before, until := whole(t, s, board), hears(t, s, board)
			earlier(t, s, board, time.Hour, everyOne)
			knows(t, s, script.Sweep)
			calls := count(s)
			if c.how == "sweep" {
				sweep(t, s, board)
			}
			r := send(t, s, board, definition.Update{Member: "m3", Score: 3, Data: `1`})
			require.Equal(t, Result{Current: &Standing{3, 1}}, r, board)
			after := whole(t, s, board)
			require.Equal(t, map[string]int64{"m3": 3}, scoresOf(after))
			require.Equal(t, "1", after.Entries[0].Data)
			told := until(func(ch *feed.Changes) bool { return ch.Last() == after.Seq && ch.Epoch == after.Epoch })
			if c.anew {
				if c.how == "sweep" {
					require.Equal(t, 1, calls.times(script.Sweep), "it takes one call")
				}
				require.NotEqual(t, before.Epoch, after.Epoch)
				require.Len(t, told, 2)
				require.Empty(t, told[0].List)
				require.EqualValues(t, 1, told[0].Seq)
				require.Equal(t, after.Epoch, told[0].Epoch)
				require.EqualValues(t, 2, told[1].Seq)
				require.EqualValues(t, 2, after.Seq)
			} else {
				require.Equal(t, before.Epoch, after.Epoch)
				require.Equal(t, before.Seq+before.Total+1, after.Seq, "each goes by itself")
			}
			send(t, s, board, definition.Update{Member: "m2", Score: 9})
			require.Len(t, whole(t, s, board).Entries, 1, "who is hidden stays so")
			require.NoError(t, s.Show(t.Context(), board, "m2", Moderator{}))
			require.Equal(t, map[string]int64{"m3": 3, "m2": 9}, scoresOf(whole(t, s, board)))
			require.EqualValues(t, 3, send(t, s, board, definition.Update{Member: "m1", Score: 3}).Current.Score, "and his old life says nothing")
			tiers(t, s, board)
			require.Equal(t, []string{"m3"}, s.rdb.HKeys(t.Context(), s.keys.Board(board, "").Data).Val())
		}
	})
}

// Whoever reads a live board that was left alone for long is shown nothing that is over,
// however much of it there is.
func TestReadOfALongBacklog(t *testing.T) {
	t.Parallel()
	const members = 2*sweepLive + 30
	redistest.Engines(t, func(t *testing.T, url string) {
		for how, read := range map[string]func(s *Store){
			"page": func(s *Store) {
				for member, score := range scoresOf(whole(t, s, "page")) {
					require.EqualValues(t, 1, score, member)
				}
			},
			"members": func(s *Store) {
				m := must(s.Members(t.Context(), "members", []string{"m0", fmt.Sprint("m", members-1)}))(t)
				require.EqualValues(t, 1, m.List[0].Score)
				require.EqualValues(t, 1, m.List[1].Score)
			},
			"around": func(s *Store) {
				n := must(s.Around(t.Context(), "around", fmt.Sprint("m", members-30), 3))(t)
				require.EqualValues(t, 1, n.Entry.Score)
			},
			"info": func(s *Store) {
				require.EqualValues(t, members, must(s.Info(t.Context(), "info"))(t).Total)
			},
		} {
			s := newNode(t, url)
			define(t, s, definition.Board{Name: how, Window: time.Hour, Refresh: definition.Live})
			applyScores(t, s, how, members, func(int) int64 { return 10 })
			applyScores(t, s, how, members, func(int) int64 { return 1 })
			send(t, s, how, definition.Update{Member: "gone", Score: 10})
			earlier(t, s, how, time.Hour, func(_ string, score int64) bool { return score == 10 })
			read(s)
			require.EqualValues(t, members, s.rdb.ZCard(t.Context(), s.keys.Board(how, "").Window[0]).Val())
		}
	})
}

// Points fall out of a live window that is watched though nobody reads or writes.
func TestWindowThatIsWatched(t *testing.T) {
	t.Parallel()
	w, s := simulatedNode(t, definition.Board{Name: "b", Window: time.Hour, Refresh: definition.Live})
	members := s.keys.Board("b", "").Members
	w.write(s, "b", "x", 5)
	w.pass(30 * time.Minute)
	w.write(s, "b", "x", 2)
	until := hears(t, s, "b")
	look := func() State {
		require.NoError(t, s.rdb.Del(t.Context(), s.keys.Agenda()).Err()) // that what is due is not it
		must(s.housekeepDue(t.Context()))(t)
		require.NoError(t, s.States(t.Context(), []string{"b"})[0].Err)
		redistest.Wait(t, "the builds of the node", s.builds.running.Wait)
		return s.States(t.Context(), []string{"b"})[0].State
	}
	w.pass(30*time.Minute - time.Millisecond)
	require.EqualValues(t, 2, look().Seq)
	w.pass(time.Millisecond)
	require.EqualValues(t, 3, look().Seq)
	c := until(func(*feed.Changes) bool { return true })[0]
	require.EqualValues(t, 2, c.List[0].New.Score(definition.Desc))
	require.InDelta(t, -1.5, w.rdb.ZScore(t.Context(), members, "x").Val(), 0.5)
	w.pass(30 * time.Minute)
	require.EqualValues(t, 4, look().Seq)
	require.Nil(t, until(func(*feed.Changes) bool { return true })[0].List[0].New)
	require.Zero(t, w.rdb.Exists(t.Context(), members).Val())
	noneLeft(t, s, "b")
}

// What a member did before it was removed, or set, is not taken off what it comes to
// later; and what says so goes when all of that is over.
func TestRemovedAndCameAgain(t *testing.T) {
	t.Parallel()
	for _, refresh := range []time.Duration{time.Second, definition.Live} {
		w, s := simulatedNode(t, definition.Board{Name: "b", Window: time.Hour, Refresh: refresh})
		forgotten := s.keys.Board("b", "").Window[2]
		look := func(want map[string]int64) Page {
			t.Helper()
			p := w.seen(s, "b")
			require.Equal(t, want, scoresOf(p), refresh)
			return p
		}
		for _, m := range []string{"removed", "set"} {
			w.write(s, "b", m, 5)
		}
		w.pass(20 * time.Minute)
		for _, m := range []string{"removed", "set"} {
			w.write(s, "b", m, 5)
		}
		look(map[string]int64{"removed": 10, "set": 10})
		w.pass(10 * time.Minute)
		must(s.Remove(t.Context(), "b", "removed"))(t)
		require.ErrorIs(t, errorOf(s.Remove(t.Context(), "b", "removed")), definition.ErrUnknownMember)
		must(s.SetScore(t.Context(), "b", "set", 1, Moderator{Reason: "anew"}))(t)
		w.pass(10 * time.Minute)
		w.write(s, "b", "removed", 3)
		was := look(map[string]int64{"removed": 3, "set": 1})
		w.pass(20*time.Minute + time.Second)
		require.Equal(t, was.State, look(map[string]int64{"removed": 3, "set": 1}).State, "nothing is told")
		require.EqualValues(t, 2, w.rdb.ZCard(t.Context(), forgotten).Val())
		w.pass(20 * time.Minute)
		look(map[string]int64{"removed": 3, "set": 1})
		w.write(s, "b", "removed", 1)
		w.pass(10 * time.Minute)
		look(map[string]int64{"removed": 4})
		require.Equal(t, map[string]string{"removed": "2 4 0"}, w.rdb.HGetAll(t.Context(), s.keys.Board("b", "").Window[1]).Val())
		w.pass(10 * time.Minute)
		look(map[string]int64{"removed": 1})
		w.write(s, "b", "removed", 1) // as any write, or look, does
		look(map[string]int64{"removed": 2 - map[bool]int64{true: 0, false: 1}[refresh == definition.Live]})
		require.Zero(t, w.rdb.Exists(t.Context(), forgotten).Val(), refresh)
	}
}

// A clock that is set back has nothing counted twice, and what was counted goes all the
// same when its time has come.
func TestWindowWhenTheClockIsSetBack(t *testing.T) {
	t.Parallel()
	for _, refresh := range []time.Duration{time.Second, definition.Live} {
		w := simulated(t, 2, patient, definition.Board{Name: "b", Window: time.Hour, Refresh: refresh})
		s := w.stores[0]
		seq := int64(0)
		look := func(want map[string]int64) {
			t.Helper()
			for _, s := range w.stores {
				must(s.housekeepDue(t.Context()))(t)
			}
			if refresh != definition.Live {
				old(t, time.Hour, "b", w.stores...)
			}
			for _, s := range w.stores {
				p := whole(t, s, "b")
				redistest.Wait(t, "the builds of the node", s.builds.running.Wait)
				require.Equal(t, want, scoresOf(p), refresh)
				if refresh == definition.Live {
					require.GreaterOrEqual(t, p.Seq, seq)
					seq = p.Seq
				}
			}
		}
		w.write(s, "b", "x", 5)
		whole(t, s, "b")
		look(map[string]int64{"x": 5})
		w.pass(-2 * time.Hour)
		look(map[string]int64{"x": 5})
		w.write(s, "b", "x", 3)
		w.write(s, "b", "y", 1)
		look(map[string]int64{"x": 8, "y": 1})
		must(s.Remove(t.Context(), "b", "y"))(t)
		w.write(s, "b", "y", 2)
		look(map[string]int64{"x": 8, "y": 2})
		w.pass(2 * time.Hour)
		look(map[string]int64{"x": 5})
		w.write(s, "b", "y", 7)
		w.pass(-30 * time.Minute)
		look(map[string]int64{"x": 5, "y": 7})
		w.pass(90 * time.Minute)
		look(map[string]int64{})
		k := s.keys.Board("b", "")
		w.until("all that is over to go", func() error { return redistest.Differs(0, w.rdb.Exists(t.Context(), k.Window[:]...).Val()) })
	}
}

// A window stays as long as it is, whatever retain says, and goes some time after, of
// itself, with all there is of it.
func TestWindowGoes(t *testing.T) {
	t.Parallel()
	for _, d := range []definition.Board{
		{Name: "b:{x}", Window: 3 * time.Hour, Retain: time.Minute},
		{Name: "b:{x}", Window: 3 * time.Hour, Retain: time.Minute, Refresh: definition.Live},
		{Name: "b:{x}", Window: 3 * time.Hour},
		{Name: "b:{x}", Window: 3 * time.Hour, Refresh: definition.Live},
	} {
		w := simulated(t, 2, patient, d)
		s := w.stores[0]
		w.write(s, "b:1", "x", 5)
		send(t, s, "b:1", definition.Update{Member: "y", Score: 5, ID: "an id"})
		require.Len(t, whole(t, s, "b:1").Entries, 2)
		must(s.Remove(t.Context(), "b:1", "y"))(t)
		for left := 3*time.Hour - time.Second; left > 0; left -= 10 * time.Minute {
			w.tendAfter(min(left, 10*time.Minute))
			w.cared(true)
		}
		require.Equal(t, map[string]int64{"x": 5}, scoresOf(whole(t, s, "b:1")), "%+v", d)
		until := w.now.Add(d.Window + time.Hour) // a build, and points that go, are the last that was written
		w.quiet()
		require.NoError(t, w.nothingLeft())
		require.Less(t, w.now, until)
		require.Empty(t, whole(t, s, "b:1").Entries)
	}
}

// A window that is deleted leaves nothing, whatever was going on.
func TestWindowIsDeleted(t *testing.T) {
	t.Parallel()
	boards := func(time.Time) []definition.Board {
		return []definition.Board{{Name: "b:{x}", Window: time.Hour, Ties: definition.Dense},
			{Name: "live", Window: time.Hour, Refresh: definition.Live, Ties: definition.Dense}}
	}
	worlds(t, 1, patient, boards, func(t *testing.T, w *world) {
		s := w.stores[0]
		for _, board := range []string{"b:1", "live"} {
			applyScores(t, s, board, 300, func(i int) int64 { return int64(i) })
			require.Len(t, whole(t, s, board).Entries, 300)
			must(s.Remove(t.Context(), board, "m7"))(t)
			require.NoError(t, s.Hide(t.Context(), board, "m8", Moderator{}))
			keys := w.rdb.Keys(t.Context(), "rc:{"+board+"}*").Val()
			for _, key := range s.keys.Board(board, "").Window {
				require.Contains(t, keys, key)
			}
		}
		require.NoError(t, s.Delete(t.Context(), "b:1", Moderator{}))
		require.Empty(t, w.rdb.Keys(t.Context(), "rc:{b:1}*").Val())
		require.NoError(t, s.Delete(t.Context(), "live", Moderator{}))
		require.NoError(t, s.Delete(t.Context(), "b:{x}", Moderator{}))
		w.until("all to go", func() error { return redistest.Differs("[]", fmt.Sprint(w.boardKeys())) })
	})
}

// A window that nobody reads or writes to, and that stays, holds nothing that is over for
// long.
func TestWindowIsLookedAfter(t *testing.T) {
	t.Parallel()
	for _, refresh := range []time.Duration{time.Minute, definition.Live} {
		w := simulated(t, 2, patient, definition.Board{Name: "b", Window: time.Hour, Refresh: refresh, Retain: 30 * day24})
		s := w.stores[0]
		applyScores(t, s, "b", 600, func(i int) int64 { return int64(i) })
		w.pass(30 * time.Minute)
		applyScores(t, s, "b", 5, func(i int) int64 { return int64(i) })
		w.pass(30*time.Minute + windowInterval)
		due := w.now
		w.until("what is over to go", func() error { // in several slices where a slice is over before
			return redistest.Differs(5, w.rdb.ZCard(t.Context(), s.keys.Board("b", "").Window[0]).Val())
		})
		require.Equal(t, due, w.now, "at once")
		require.EqualValues(t, 5, w.rdb.HLen(t.Context(), s.keys.Board("b", "").Window[1]).Val())
		w.tendAfter(20*time.Minute + windowInterval)
		noneLeft(t, s, "b")
		require.NotEmpty(t, w.boardKeys())
	}
}

// Where many will be over soon it is looked sooner, so that not too many wait for who
// comes to read.
func TestBusyWindowIsLookedAfterMoreOften(t *testing.T) {
	t.Parallel()
	w, s := simulatedNode(t, definition.Board{Name: "b", Window: time.Hour, Refresh: definition.Live})
	rule := must(s.compiledNamed(t.Context(), "b"))(t)
	look := func() time.Duration {
		return must(s.nextSweepIn(t.Context(), "b", rule, w.now.UnixMicro()))(t)
	}
	require.Equal(t, windowInterval, look(), "there is nothing")
	add := func(from, to int) {
		events := make([]redis.Z, 0, to-from)
		for i := from; i < to; i++ {
			events = append(events, redis.Z{Score: float64(w.now.UnixMilli()), Member: fmt.Sprintf("m|%x|1", i)})
		}
		require.NoError(t, w.rdb.ZAdd(t.Context(), s.keys.Board("b", "").Window[0], events...).Err())
	}
	add(0, windowDue)
	require.Equal(t, windowInterval, look(), "they are over later")
	w.pass(time.Hour - windowInterval)
	require.Equal(t, windowInterval, look())
	w.pass(-time.Hour + windowInterval)
	add(windowDue, 4*windowDue)
	w.pass(time.Hour - windowInterval)
	require.Equal(t, windowInterval/4, look())
}
