package ranking

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
	"rankcast/ranking/redistest"
)

// However many large builds are due, a small one waits for small ones only. Large builds of boards with
// and without a result take turns, and so do the definitions of large boards.
func TestLargeBuildsLeaveATurnToSmallOnes(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		w := newTurns(t)
		w.large = map[string]bool{"huge:{x}": true, "big:{x}": true}
		for i := range 4 {
			w.start("huge:{x}", fmt.Sprint("first:", i), 0, false)
			w.start("huge:{x}", fmt.Sprint("again:", i), 7, true)
		}
		w.start("big:{x}", "big:first", 0, false)
		w.start("big:{x}", "big:again", 7, true)
		synctest.Wait()
		require.ElementsMatch(t, []string{"first:0", "again:0"}, w.begun)
		for i := range 3 {
			w.start("small:{x}", fmt.Sprint("small:", i), int64(i%2), false)
			synctest.Wait()
			require.Equal(t, fmt.Sprint("small:", i), w.begun[2+i])
			w.finish(w.begun[2+i])
		}
		require.Len(t, w.begun, 5, "no third large build")
		for _, large := range []int{0, 1, 5, 6} {
			w.finish(w.begun[large])
		}
		require.Subset(t, w.begun[:9], []string{"big:first", "big:again"}, "they wait for one build of each kind and definition")
		w.finishAll()
		require.Len(t, w.begun, 13)
		require.Equal(t, buildsAtOnce, w.most)
		w.allEnd(t)
	})
}

// While small builds keep coming, large first builds and others still take turns.
func TestLargeBuildsTakeTurnsBesideSmallOnes(t *testing.T) {
	t.Parallel()
	var l buildLines
	for i := range 10 {
		l.push(&build{kind: largeBuild, line: fmt.Sprint("again", i)})
		l.push(&build{kind: largeBuild | firstBuild, line: fmt.Sprint("first", i)})
	}
	began := make(map[buildKind]int)
	for range 10 {
		l.push(&build{line: "small"})
		l.underWay[largeBuild] = largeAtOnce
		require.Zero(t, l.pop().kind)
		l.underWay[largeBuild]--
		began[l.pop().kind]++
	}
	require.Equal(t, map[buildKind]int{largeBuild: 5, largeBuild | firstBuild: 5}, began)
}

// A build that another one needs is made once, also if it is found to be large at that time.
func TestBuildWithinATurnWhileItIsLookedAt(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		for _, large := range []bool{false, true} {
			w := newTurns(t)
			looked := make(chan bool)
			w.isLarge = func(context.Context, *build) bool { return <-looked }
			b := w.start("b", "b", 0, false)
			synctest.Wait()
			require.Empty(t, w.begun)
			go w.waitInTurn(t.Context(), b)
			synctest.Wait()
			require.Equal(t, []string{"b"}, w.begun)
			looked <- large
			w.finish("b")
			w.allEnd(t)
			<-b.done
			require.NoError(t, b.err)
			require.Equal(t, []string{"b"}, w.begun)
		}
	})
}

// addRows adds so many rows to a sorted set.
func addRows(t *testing.T, s *Store, key string, rows int) {
	some := make([]redis.Z, rows)
	for i := range some {
		some[i].Member = fmt.Sprint("row", i)
	}
	require.NoError(t, s.rdb.ZAdd(t.Context(), key, some...).Err())
}

// A build is large by what it reads: all members of all sources, and the events of windows.
func TestLargeBuilds(t *testing.T) {
	onNode(t, []definition.Board{{Name: "a"}, {Name: "b:{x}"}, {Name: "w", Window: time.Hour},
		{Name: "live", Window: time.Hour, Refresh: definition.Live},
		{Name: "u:{x}", Union: &definition.Union{Of: []string{"a", "b:{x}"}}},
		{Name: "uw", Union: &definition.Union{Of: []string{"w"}}},
		{Name: "ul", Union: &definition.Union{Of: []string{"live"}}}}, func(t *testing.T, s *Store) {
		isLarge := func(instance string) bool { return s.isLargeBuild(t.Context(), &build{instance: instance}) }
		grows := func(source string, key string, results ...string) {
			t.Helper()
			for _, m := range []string{"m", "n"} {
				apply(t, s, source, definition.Update{Member: m, Score: 1})
			}
			require.EqualValues(t, 2, s.rdb.ZCard(t.Context(), key).Val())
			for _, result := range results {
				require.False(t, isLarge(result))
			}
			addRows(t, s, key, smallRows)
			for _, result := range results {
				require.True(t, isLarge(result), result)
			}
		}
		addRows(t, s, keysOf(s, "a", "", "m").Members, smallRows/2)
		addRows(t, s, keysOf(s, "b:x", "", "m").Members, smallRows/2)
		require.False(t, isLarge("u:x"))
		apply(t, s, "b:x", definition.Update{Member: "m", Score: 1})
		require.True(t, isLarge("u:x"))
		require.False(t, isLarge("u:y"))
		grows("w", s.keys.Board("w", "").Window[0], "w", "uw")
		grows("live", s.keys.Board("live", "").Window[0], "ul")
		for _, none := range []string{"a", "other", "b:x", "no name!"} {
			require.False(t, isLarge(none), none)
		}
	})
}

// A reader of a small union gets its first result while the large ones that others read are built.
func TestSmallUnionWhileLargeOnesAreBuilt(t *testing.T) {
	onNode(t, []definition.Board{{Name: "huge"}, {Name: "few"},
		{Name: "u:{x}", Union: &definition.Union{Of: []string{"huge"}}},
		{Name: "small", Union: &definition.Union{Of: []string{"few"}}}}, func(t *testing.T, s *Store) {
		apply(t, s, "few", definition.Update{Member: "m", Score: 3})
		addRows(t, s, keysOf(s, "huge", "", "m").Members, smallRows+1)
		var isSmall atomic.Bool
		var began atomic.Int64
		held := make(chan struct{})
		release := sync.OnceFunc(func() { close(held) })
		defer release()
		s.rdb.AddHook(&cutter{fate: func(sc string) fate {
			if sc == script.Hold.Name && !isSmall.Load() {
				began.Add(1)
				<-held
			}
			return passes
		}})
		ctx, cancel := context.WithTimeout(t.Context(), redistest.CallTimeout/2)
		defer cancel()
		large, hangUp := context.WithCancel(ctx)
		var readers sync.WaitGroup
		for i := range 2 * buildsAtOnce {
			readers.Go(func() {
				require.ErrorIs(t, errorOf(s.Page(large, fmt.Sprint("u:", i), 1, 1)), definition.ErrNotBuilt)
			})
		}
		redistest.Until(t, "the large builds to begin or to be in line", func() bool {
			s.builds.mu.Lock()
			defer s.builds.mu.Unlock()
			underWay := s.builds.lines.countUnderWay(firstBuild)
			return began.Load() == int64(underWay) && s.builds.workers == underWay && underWay+s.builds.lines.length >= 2*buildsAtOnce
		})
		isSmall.Store(true)
		require.EqualValues(t, 3, must(s.Page(ctx, "small", 1, 1))(t).Entries[0].Score)
		hangUp()
		redistest.Wait(t, "the callers of the test", readers.Wait)
	})
}
