package ranking

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
	"rankcast/ranking/redistest"
)

// Erasures that take for ever delay no other housekeeping, however many are pending.
func TestErasuresDelayNoHousekeeping(t *testing.T) {
	t.Parallel()
	boards := func(time.Time) []definition.Board {
		return []definition.Board{{Name: "b", Kind: "user"}, {Name: "round", Period: "1s", Base: friday, Kind: "star"},
			{Name: "gone", Kind: "star"}}
	}
	worlds(t, 1, Config{CallTimeout: redistest.CallTimeout}, boards, func(t *testing.T, w *world) {
		s := w.stores[0]
		const erasures = housekeepingWorkers + 1
		for i := range erasures {
			w.write(s, "b", fmt.Sprint("u", i), 1)
			must(s.Erase(t.Context(), "user", fmt.Sprint("u", i), Moderator{}))(t)
		}
		held, release := make(chan struct{}), make(chan struct{})
		var first sync.Once
		cut(s, script.Erase, func() fate {
			first.Do(func() { close(held) })
			<-release
			return passes
		})
		ctx, cancel := context.WithCancel(t.Context())
		var role sync.WaitGroup
		role.Go(func() { s.RunHousekeeping(ctx, slog.New(slog.DiscardHandler)) })
		end := sync.OnceFunc(func() { close(release) })
		defer func() { end(); cancel(); redistest.Wait(t, "the end of role", role.Wait) }()
		redistest.Receive(t, "a value from held", held)

		w.write(s, "round", "a", 1)
		w.write(s, "gone", "a", 1)
		require.NoError(t, s.Delete(t.Context(), "gone", Moderator{}))
		w.skip(grace + time.Second)
		redistest.Eventually(t, "the period and the deletion", func() error {
			if !slices.ContainsFunc(w.words(), func(word feedWord) bool { return word.Data.Board == "round" }) {
				return fmt.Errorf("the period is not announced: %v", w.announced())
			}
			if n := w.rdb.Exists(t.Context(), s.keys.Board("gone", "").Members).Val(); n > 0 {
				return fmt.Errorf("the deleted board still has data")
			}
			return nil
		})
		end()
		redistest.Eventually(t, "the erasures", func() error {
			w.skip(time.Second)
			return w.erased("user", fmt.Sprint("u", erasures-1))
		})
		require.Zero(t, w.total("b"))
	})
}

// Many members are erased by one walk: a board is looked at once for all of them, and each member is removed
// from all boards that it is on.
func TestErasuresShareAWalk(t *testing.T) {
	t.Parallel()
	const erasures = findAtOnce + 40
	boards := func(time.Time) []definition.Board {
		return []definition.Board{{Name: "big", Kind: "user"}, {Name: "fans:{star}", Kind: "user"},
			{Name: "hours", Kind: "user", Window: time.Hour, Refresh: definition.Live},
			{Name: "veiled", Kind: "user"}, {Name: "stars", Kind: "star"}}
	}
	worlds(t, 1, patient, boards, func(t *testing.T, w *world) {
		s := w.stores[0]
		var all []definition.Update
		for i := range erasures {
			all = append(all, definition.Update{Member: fmt.Sprint("u", i), Score: 1}, definition.Update{Member: fmt.Sprint("kept", i), Score: 1})
		}
		for _, board := range []string{"big", "hours"} {
			for some := range slices.Chunk(all, 100) {
				require.NoError(t, must(s.Apply(t.Context(), board, some))(t)[0].Err)
			}
		}
		for i := range 3 * walkStep {
			w.write(s, fmt.Sprint("fans:", i), fmt.Sprint("u", i), 1)
			w.write(s, fmt.Sprint("fans:", i), fmt.Sprint("kept", i), 1)
		}
		w.write(s, "veiled", "u7", 1)
		require.NoError(t, s.Hide(t.Context(), "veiled", "u7", Moderator{}))
		w.write(s, "stars", "u7", 1)
		for i := range erasures {
			must(s.Erase(t.Context(), "user", fmt.Sprint("u", i), Moderator{}))(t)
		}
		var mu sync.Mutex
		sent := make(map[string]int) // commands, by name or by script
		s.rdb.AddHook(redistest.Hook(func(ctx context.Context, cmds []redis.Cmder, send redis.ProcessPipelineHook) error {
			mu.Lock()
			for _, cmd := range cmds {
				name := cmd.Name()
				if call, ok := cmd.(interface{ Script() string }); ok {
					name = call.Script()
				}
				sent[name]++
			}
			mu.Unlock()
			return send(ctx, cmds)
		}))
		calls := 0
		for w.rdb.ZCard(t.Context(), s.keys.PendingErasures("user")).Val() > 0 { // each call goes on for a while
			must(s.eraseDue(t.Context()))(t)
			calls++
			w.skip(time.Second)
		}
		const instances = 3 + 3*walkStep
		looks := instances + calls*walkStep // a call that ends has looked ahead
		require.Positive(t, sent["hkeys"])
		require.LessOrEqual(t, sent["hkeys"], looks, "no board is looked at for each erasure")
		require.Positive(t, sent[script.Seek.Name])
		require.LessOrEqual(t, sent[script.Seek.Name], 2*looks, "nor a period")

		require.EqualValues(t, erasures, w.total("big"))
		require.EqualValues(t, erasures, w.total("hours"))
		require.Equal(t, []string{"kept7 1 #1"}, entriesOf(t, s, "fans:7"))
		require.Equal(t, []string{"u7 1 #1"}, entriesOf(t, s, "stars"))
		for i := range erasures {
			require.NoError(t, w.erased("user", fmt.Sprint("u", i)))
			e := must(s.Erasure(t.Context(), "user", fmt.Sprint("u", i)))(t)
			require.EqualValues(t, instances, e.Boards)
			want := 2
			if i < 3*walkStep {
				want++
			}
			if i == 7 {
				want++
			}
			require.EqualValues(t, want, e.Removed, i)
		}
		for _, key := range w.allKeys() {
			if kind := w.rdb.Type(t.Context(), key).Val(); kind == "zset" && key != s.keys.Board("stars", "").Members {
				require.Error(t, w.rdb.ZScore(t.Context(), key, "u7").Err(), key)
			}
		}
		require.Empty(t, w.rdb.ZRangeByScore(t.Context(), s.keys.Board("hours", "").Window[2], &redis.ZRangeBy{Min: "-inf", Max: "+inf"}).Val())
		for _, event := range w.rdb.ZRange(t.Context(), s.keys.Board("hours", "").Window[0], 0, -1).Val() {
			require.Regexp(t, "^kept", event)
		}
	})
}

// pend makes many erasures pending at once, without their states.
func (w *world) pend(kind string, n int) {
	w.t.Helper()
	s := w.stores[0]
	for from := 0; from < n; from += 1000 {
		var members []redis.Z
		for i := from; i < min(from+1000, n); i++ {
			members = append(members, redis.Z{Score: 1, Member: fmt.Sprint("waits", i)})
		}
		require.NoError(w.t, w.rdb.ZAdd(w.t.Context(), s.keys.PendingErasures(kind), members...).Err())
	}
	require.NoError(w.t, w.rdb.ZAdd(w.t.Context(), s.keys.ErasureAgenda(), redis.Z{Score: 1, Member: kind}).Err())
}

// The pending erasures of a kind are bounded. One too many is refused and changes nothing, until the walk
// has ended some.
func TestPendingErasuresAreBounded(t *testing.T) {
	t.Parallel()
	boards := func(time.Time) []definition.Board {
		return []definition.Board{{Name: "a", Kind: "user"}, {Name: "b", Kind: "star"}}
	}
	worlds(t, 1, patient, boards, func(t *testing.T, w *world) {
		s := w.stores[0]
		w.write(s, "a", "u", 1)
		w.pend("user", maxErasures)
		Refuses(t, "kind", definition.ErrOverloaded, errorOf(s.Erase(t.Context(), "user", "u", Moderator{})))
		require.Empty(t, audited(t, s))
		require.ErrorIs(t, errorOf(s.Erasure(t.Context(), "user", "u")), definition.ErrUnknownMember)

		must(s.Erase(t.Context(), "star", "u", Moderator{}))(t, "other kinds have a bound of their own")
		must(s.Erase(t.Context(), "user", "waits7", Moderator{}))(t, "it is among them already")

		w.until("the others", func() error { return w.erased("user", "waits7") })
		require.EqualValues(t, 1, w.total("a"))
		must(s.Erase(t.Context(), "user", "u", Moderator{}))(t)
		w.untilErased("user", "u")
		require.Zero(t, w.total("a"))
	})
}

// An erasure of a kind that no board has ends at once, so kinds that are made up make no work.
func TestErasuresOfKindsWithoutBoards(t *testing.T) {
	t.Parallel()
	worlds(t, 2, patient, two, func(t *testing.T, w *world) {
		s, other := w.stores[0], w.stores[1]
		e := must(s.Erase(t.Context(), "made-up", "u", Moderator{}))(t)
		require.Equal(t, e.Began, e.Ended)
		require.NoError(t, w.erased("made-up", "u"))
		require.Zero(t, w.rdb.Exists(t.Context(), s.keys.PendingErasures("made-up")).Val())
		require.Error(t, w.rdb.ZScore(t.Context(), s.keys.ErasureAgenda(), "made-up").Err())

		// Another node has defined a board of the kind a moment ago.
		must(s.Boards(t.Context()))(t)
		define(t, other, definition.Board{Name: "new", Kind: "made-up"})
		w.write(other, "new", "u", 1)
		e = must(s.Erase(t.Context(), "made-up", "u", Moderator{}))(t)
		require.True(t, e.Ended.IsZero())
		w.untilErased("made-up", "u")
		require.Empty(t, entriesOf(t, other, "new"))
	})
}

// A member that is erased while a walk is under way waits for the next one, which begins at the first board.
func TestErasureDuringAWalk(t *testing.T) {
	t.Parallel()
	worlds(t, 2, Config{CallTimeout: redistest.CallTimeout}, two, func(t *testing.T, w *world) {
		other := w.stores[1]
		for _, member := range []string{"u", "v"} {
			w.write(other, "a", member, 1)
			w.write(other, "b", member, 1)
		}
		must(other.Erase(t.Context(), "user", "u", Moderator{}))(t)
		var err error
		whileErasing(t, w.stores[0], 2, func() { _, err = other.Erase(t.Context(), "user", "v", Moderator{}) })
		w.stores = w.stores[:1]
		w.untilErased("user", "u", "v")
		require.NoError(t, err)
		for _, member := range []string{"u", "v"} {
			e := must(other.Erasure(t.Context(), "user", member))(t)
			require.Equal(t, [2]int64{2, 2}, [2]int64{e.Boards, e.Removed}, member)
		}
		require.Zero(t, w.total("a")+w.total("b"))
	})
}

// A walk that has gone through a family, and goes on in the request ids, leaves the instances that come then: their
// updates are later than the erasure.
func TestInstancesAfterTheWalkOfTheirFamilyStay(t *testing.T) {
	t.Parallel()
	boards := func(time.Time) []definition.Board { return []definition.Board{{Name: "fans:{star}", Kind: "user"}} }
	for name, instances := range map[string]int{
		"none": 0, "a part of a step": walkStep / 2, "a step": walkStep, "a step and a part": walkStep + 3,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			worlds(t, 2, patient, boards, func(t *testing.T, w *world) {
				first, second := w.stores[0], w.stores[1]
				require.NoError(t, first.DefineEvent(t.Context(), definition.Event{Name: "gift",
					Updates: []definition.Target{{Board: "fans:{star}", Member: "{user}", Score: "1"}}}, Moderator{}))
				for i := range instances {
					w.write(first, fmt.Sprintf("fans:%03d", i), "u", 1)
				}
				must(first.Erase(t.Context(), "user", "u", Moderator{}))(t)
				cut(first, script.Scan, func() fate { return isLost }) // the node goes before it has read an id
				require.Error(t, first.eraseKind(t.Context(), "user"))
				w.write(second, "fans:zoe", "u", 2)

				w.stores = w.stores[1:]
				w.untilErased("user", "u")
				require.Equal(t, []string{"u 2 #1"}, entriesOf(t, second, "fans:zoe"))
				e := must(second.Erasure(t.Context(), "user", "u"))(t)
				require.Equal(t, [2]int64{int64(instances), int64(instances)}, [2]int64{e.Boards, e.Removed})
			})
		})
	}
}

// Redis keeps the latest reports only.
func TestReportsOfErasuresAreBounded(t *testing.T) {
	t.Parallel()
	worlds(t, 1, patient, two, func(t *testing.T, w *world) {
		s, now := w.stores[0], time.Now().UnixMicro()
		if w.set != nil {
			now = w.now.UnixMicro()
		}
		const reports = 100_000
		for from := 0; from < reports; from += 1000 {
			var ended []redis.Z
			for i := from; i < from+1000; i++ {
				ended = append(ended, redis.Z{Score: float64(now - reports + int64(i)), Member: erasureField("user", fmt.Sprint(i))})
			}
			require.NoError(t, w.rdb.ZAdd(t.Context(), s.keys.ErasureReports(), ended...).Err())
		}
		require.NoError(t, w.rdb.HSet(t.Context(), s.keys.Erasures(), erasureField("user", "0"),
			fmt.Sprintf(`{"boards":1,"removed":3,"began":1,"ended":%d}`, now)).Err())
		require.NoError(t, w.erased("user", "0"))
		must(s.Erase(t.Context(), "user", "u", Moderator{}))(t)
		w.untilErased("user", "u")
		require.EqualValues(t, reports, w.rdb.ZCard(t.Context(), s.keys.ErasureReports()).Val())
		require.ErrorIs(t, errorOf(s.Erasure(t.Context(), "user", "0")), definition.ErrUnknownMember)
	})
}

// A kind goes to the end of the line after each step of its walk.
func TestKindsTakeTurns(t *testing.T) {
	t.Parallel()
	boards := func(time.Time) []definition.Board {
		return []definition.Board{{Name: "a", Kind: "first"}, {Name: "b", Kind: "second"}}
	}
	worlds(t, 1, patient, boards, func(t *testing.T, w *world) {
		s := w.stores[0]
		w.write(s, "a", "u", 1)
		w.write(s, "b", "u", 1)
		for _, kind := range []string{"first", "second"} {
			must(s.Erase(t.Context(), kind, "u", Moderator{}))(t)
			w.skip(time.Millisecond)
		}
		require.True(t, must(s.eraseDue(t.Context()))(t))
		for kind, boards := range map[string]int64{"first": 1, "second": 0} { // the step may end before the erasure does
			require.Equal(t, boards, must(s.Erasure(t.Context(), kind, "u"))(t).Boards, kind)
		}
		require.ErrorContains(t, w.erased("second", "u"), "still")
		require.Equal(t, []string{"second", "first"}, w.rdb.ZRange(t.Context(), s.keys.ErasureAgenda(), 0, 1).Val())
		w.until("both", func() error { return cmp.Or(w.erased("first", "u"), w.erased("second", "u")) })
	})
}
