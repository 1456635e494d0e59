package ranking

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
	"rankcast/ranking/redistest"
)

// memberOf returns the nth member that belongs to a shard.
func memberOf(shard, shards, nth int) string {
	for i := 0; ; i++ {
		if m := fmt.Sprint("m", i); ShardOf(m, shards) == shard {
			if nth--; nth < 0 {
				return m
			}
		}
	}
}

// A node that dies between the shards of a period that it drops leaves nothing that another node would deliver as a second result.
func TestHalfDroppedPeriodHasNoSecondResult(t *testing.T) {
	t.Parallel()
	boards := []definition.Board{{Name: "b", Period: "hour", Keep: new(0), Shards: 3}}
	simulatedWorlds(t, 2, Config{Deliver: []string{AllBoards}}, boards, func(t *testing.T, w *world) {
		for shard := range 3 {
			w.write(w.stores[0], "b", memberOf(shard, 3, 0), 1)
		}
		w.tendAfter(time.Hour)
		w.tendAfter(time.Second)
		_, list := w.due(w.stores[0], 10)
		require.Len(t, list, 1)
		// Redis knows the script, so each further call of it is one shard.
		require.ErrorIs(t, errorOf(w.stores[0].callDrop(t.Context(), "b", dropCall{})), errStaleDefinitions)
		var drops atomic.Int64
		for _, s := range w.stores {
			cut(s, script.Drop, func() fate {
				if drops.Add(1) > 1 {
					return isLost
				}
				return passes
			})
		}
		require.NoError(t, w.stores[0].Delivered(t.Context(), list[0]))
		w.pass(definition.ClosedGrace)
		require.Error(t, w.tryTend())
		require.Greater(t, drops.Load(), int64(1))
		drops.Store(-1000)
		w.until("the shards to be dropped", func() error {
			for _, key := range w.allKeys() {
				if strings.HasSuffix(key, ":z") {
					return fmt.Errorf("there is still %s", key)
				}
			}
			return nil
		})
		_, again := w.due(w.stores[1], 10)
		require.Empty(t, again)
		w.quiet()
		require.NoError(t, w.nothingLeft())
	})
}

// A board that was defined anew has no life in common with what it was, whatever its shards are.
func TestLivesOfAnotherNumberOfShards(t *testing.T) {
	t.Parallel()
	was := States{{}, {Epoch: "a", Seq: 1}}
	require.True(t, was.sameLives(States{{Epoch: "b", Seq: 1}, {Epoch: "a", Seq: 1}}))
	require.False(t, was.sameLives(States{{Epoch: "b", Seq: 1}}))
	require.False(t, was.sameLives(States{{}, {Epoch: "a", Seq: 1}, {}}))
}

// The scores of hidden members are those of their shards, also where a shard has none of the members asked for.
func TestHiddenMembersOfShards(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s := newNode(t, url)
		define(t, s, definition.Board{Name: "b", Shards: 3})
		first, second := memberOf(1, 3, 0), memberOf(1, 3, 1)
		apply(t, s, "b", definition.Update{Member: first, Score: 7})
		require.NoError(t, s.Hide(t.Context(), "b", first, Moderator{}))
		m := must(s.resolve(t.Context(), "b", 0))(t)
		l := hiddenList{s: s, shards: m.eachShard(), order: definition.Desc}
		keys := must(l.readKeys(t.Context(), []string{first, second}))(t)
		require.NotEmpty(t, keys[0])
		require.Empty(t, keys[1])
	})
}

// Updates that wait together, and were meant for different numbers of shards, go to no shard that does not own them.
func TestUpdatesByTwoNumbersOfShards(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s := newNode(t, url)
		define(t, s, definition.Board{Name: "b", Shards: 2})
		member := ""
		for i := 0; member == ""; i++ {
			if m := memberOf(1, 2, i); ShardOf(m, 3) != 1 {
				member = m
			}
		}
		before := targetOf(t, s, "b")
		define(t, s, definition.Board{Name: "b", Shards: 3})
		after := targetOf(t, s, "b")
		items := []updateItem{
			{write{Update: definition.Update{Member: member, Score: 1}}, before, new(Outcome)},
			{write{Update: definition.Update{Member: memberOf(1, 3, 0), Score: 1}}, after, new(Outcome)},
		}
		require.ErrorIs(t, s.applyBatch(t.Context(), ShardName("b", 1), items, func() {}), definition.ErrUnavailable)
		require.Zero(t, must(s.Page(t.Context(), "b", 1, 10))(t).Total)
	})
}

// When several members are read together, each one has the total of the states at which it was counted.
func TestTotalOfReadsTogether(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		a, b := newNode(t, url), newNode(t, url)
		define(t, a, definition.Board{Name: "b", Shards: 2})
		members := []string{memberOf(0, 2, 0), memberOf(1, 2, 0)}
		for _, m := range members {
			apply(t, a, "b", definition.Update{Member: m, Score: 10})
		}
		must(b.Places(t.Context(), "b", []Lookup{{Member: members[0]}}))(t) // so that Redis knows the script
		asked := 0
		b.rdb.AddHook(&cutter{answered: func(sc string) {
			if sc != script.Beside.Name {
				return
			}
			if asked++; asked == 2 { // both own shards have answered
				for i := range 5 {
					apply(t, a, "b", definition.Update{Member: memberOf(0, 2, 1+i), Score: 1})
				}
			}
		}})
		reads := make([]*singleRead, 2)
		for i, member := range members {
			reads[i] = &singleRead{m: must(b.resolve(t.Context(), "b", 0))(t), lookup: Lookup{Member: member}}
		}
		require.NoError(t, b.readTogether(t.Context(), "", reads, func() {}))
		for _, r := range reads {
			n := Neighbourhood{r.places.Head, r.places.List[0]}
			require.LessOrEqual(t, n.Percentile(), 100.0, "%+v", n)
		}
	})
}

// The neighbours of many members cost a fixed number of round trips.
func TestRoundTripsOfNeighbours(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s := newNode(t, url)
		define(t, s, definition.Board{Name: "b", Shards: 3, Ties: definition.Shared})
		var updates []definition.Update
		var lookups []Lookup
		for i := range 60 {
			updates = append(updates, definition.Update{Member: fmt.Sprint("m", i), Score: int64(i / 2)})
			lookups = append(lookups, Lookup{Member: fmt.Sprint("m", i), Around: 1})
		}
		must(s.Apply(t.Context(), "b", updates))(t)
		must(s.Places(t.Context(), "b", lookups[:1]))(t) // so that Redis knows the script
		trips := 0
		s.rdb.AddHook(redistest.Hook(func(ctx context.Context, cmds []redis.Cmder, send redis.ProcessPipelineHook) error {
			trips++
			return send(ctx, cmds)
		}))
		must(s.Places(t.Context(), "b", lookups))(t)
		require.LessOrEqual(t, trips, 3)
	})
}

// Whenever another member moves while the shards are asked about a place, the answer is as of the states that it says, the ranks of the
// neighbours too: a view brings it forward from there.
func TestPlaceIsAsOfItsStates(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s, other := newNode(t, url), newNode(t, url)
		require.NoError(t, s.DefineBoard(t.Context(), definition.Board{Name: "b", Shards: 2, Ties: definition.Shared}, Moderator{}))
		leader, me := memberOf(0, 2, 0), memberOf(1, 2, 0)
		updates := []definition.Update{{Member: leader, Score: 1000}, {Member: me, Score: 400}}
		for i := range 20 {
			for shard := range 2 {
				updates = append(updates, definition.Update{Member: memberOf(shard, 2, 1+i), Score: int64(380 + i/3*10)})
			}
		}
		require.NoError(t, errorOf(s.Apply(t.Context(), "b", updates)))
		var trips, moved int
		before := func() {}
		s.rdb.AddHook(redistest.Hook(func(ctx context.Context, cmds []redis.Cmder, send redis.ProcessPipelineHook) error {
			trips++
			before()
			return send(ctx, cmds)
		}))
		place := func() Places { return must(s.Places(t.Context(), "b", []Lookup{{Member: me, Around: 7}}))(t) }
		ofSeq := map[int64]Place{} // by the seq of the leader's shard
		is := place()
		ofSeq[is.ByShard[1].Shards[0].Seq] = is.List[0]
		for at := 1; at <= trips; at++ {
			trips = 0
			before = func() {
				if trips == at {
					moved++
					apply(t, other, "b", definition.Update{Member: leader, Score: []int64{800, -800}[moved%2]})
				}
			}
			during := place()
			before = func() {}
			after := place()
			ofSeq[after.ByShard[1].Shards[0].Seq] = after.List[0]
			require.Equal(t, ofSeq[during.ByShard[1].Shards[0].Seq], during.List[0], "a move before trip %d", at)
		}
		require.GreaterOrEqual(t, moved, 2)
	})
}
