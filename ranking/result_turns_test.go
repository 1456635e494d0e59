package ranking

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
	"rankcast/ranking/lru"
	"rankcast/ranking/redistest"
)

// turnsOf are builds without Redis. Each build lasts until the test calls end.
type turnsOf struct {
	builds
	tests  sync.Mutex // guards the fields below while builds begin
	begun  []string   // instances, in the order in which their builds began
	ending map[string]chan struct{}
	most   int // most builds under way at once
	large  map[string]bool
}

func newTurns(t *testing.T) *turnsOf {
	w := &turnsOf{ending: make(map[string]chan struct{})}
	w.builds.end, w.stop = t.Context(), func() {}
	w.builds.last = lru.New[string, lastBuild](resultsKnown)
	w.isLarge = func(_ context.Context, b *build) bool { return w.large[b.line] }
	w.do = func(ctx context.Context, b *build) error {
		ends := make(chan struct{})
		w.tests.Lock()
		w.begun, w.ending[b.instance] = append(w.begun, b.instance), ends
		w.most = max(w.most, len(w.ending))
		w.tests.Unlock()
		select {
		case <-ends:
			return nil
		case <-ctx.Done(): // the test has failed
			return ctx.Err()
		}
	}
	return w
}

// newBusyTurns are turns in which as many builds are under way as may be.
func newBusyTurns(t *testing.T) *turnsOf {
	w := newTurns(t)
	for i := range buildsAtOnce {
		w.start("busy:{x}", fmt.Sprint("busy:", i), 1, false)
	}
	synctest.Wait()
	return w
}

// finish ends a build, and waits until the worker has begun another one.
func (w *turnsOf) finish(instance string) {
	w.tests.Lock()
	close(w.ending[instance])
	delete(w.ending, instance)
	w.tests.Unlock()
	synctest.Wait()
}

// finishAll ends builds, the earliest first, until none is left.
func (w *turnsOf) finishAll() {
	for i := 0; i < len(w.begun); i++ {
		if w.ending[w.begun[i]] != nil {
			w.finish(w.begun[i])
		}
	}
}

// allEnd waits until no build is left.
func (w *turnsOf) allEnd(t *testing.T) {
	t.Helper()
	w.running.Wait()
	require.Empty(t, w.under)
	require.Zero(t, w.lines.underWay)
	require.Zero(t, w.lines.length)
}

// A node makes a few builds at a time, whatever clients read. The builds of boards without a result
// leave one turn to those that replace a result, and definitions take turns.
func TestBuildsTakeTurns(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		w := newTurns(t)
		for i := range 6 {
			w.start("many:{x}", fmt.Sprint("many:", i), 0, false)
		}
		synctest.Wait()
		require.ElementsMatch(t, []string{"many:0", "many:1"}, w.begun, "one turn is left")
		w.start("few:{x}", "few:0", 0, false)
		w.start("few:{x}", "few:1", 0, false)
		w.start("read", "read", 7, true)
		synctest.Wait()
		require.Equal(t, "read", w.begun[2], "it replaces a result")
		w.finish("read")
		require.Len(t, w.begun, 3)
		w.finishAll()
		require.Equal(t, []string{"many:2", "few:0", "many:3", "few:1", "many:4", "many:5"}, w.begun[3:])
		require.Equal(t, buildsAtOnce, w.most)
		w.allEnd(t)

		w.begun = nil
		for i := range 5 {
			w.start("read:{x}", fmt.Sprint("read:", i), 7, true)
		}
		synctest.Wait()
		w.start("new", "new", 0, false)
		w.start("new:{x}", "new:x", 0, false)
		w.finishAll()
		require.Contains(t, w.begun[3:5], "new", "it waits for one build that replaces a result, at most")
		require.Contains(t, w.begun[5:7], "new:x")
		w.running.Wait()
	})
}

// The end of a build takes the place of the one before: no caller finds that the board has had none.
func TestEndOfABuildIsAlwaysKnown(t *testing.T) {
	t.Parallel()
	w := newTurns(t)
	w.do = func(context.Context, *build) error { return definition.ErrUnavailable }
	run := func() { w.run(&build{instance: "b", done: make(chan struct{})}) }
	run()
	var ended atomic.Bool
	go func() {
		defer ended.Store(true)
		for range 50_000 {
			run()
		}
	}()
	looks, unknown := 0, 0
	for ; !ended.Load(); looks++ {
		if errors.Is(w.lastOf("b", false, time.Minute), definition.ErrNotBuilt) {
			unknown++
		}
	}
	require.Zero(t, unknown, "of %d looks", looks)
}

// A caller that joins a build in line gets a result newer than the one that it has seen, also where
// another node has replaced the result since.
func TestBuildInLineIsForTheLatestCaller(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		w := newBusyTurns(t)
		b := w.start("b", "b", 5, false)
		require.Same(t, b, w.start("b", "b", 9, false))
		require.Same(t, b, w.start("b", "b", 7, false))
		w.finishAll()
		<-b.done
		require.EqualValues(t, 9, b.seen)
		w.running.Wait()
	})
}

// A build in line goes on while a caller waits for it, or asks for it each second as for watchers.
// Otherwise the node drops it. A build that has begun goes on.
func TestBuildsThatNobodyWants(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		w := newTurns(t)
		busy := func(round int) {
			for i := range buildsAtOnce {
				w.start("busy:{x}", fmt.Sprint("busy:", round, i), 1, false)
			}
			synctest.Wait()
		}
		busy(0)
		left := w.start("left", "left", 0, false)
		ctx, hangUp := context.WithCancel(t.Context())
		gone := make(chan bool, 1)
		go func() { gone <- w.wait(ctx, left) }()
		waitedFor := w.start("read", "read", 0, false)
		ended := make(chan bool, 1)
		go func() { ended <- w.wait(t.Context(), waitedFor) }()
		unread := w.start("unread", "unread", 1, true)
		for range 10 {
			w.start("watched", "watched", 0, false)
			time.Sleep(time.Second)
		}
		hangUp()
		require.False(t, <-gone)
		time.Sleep(buildWantedFor - time.Millisecond) // a client that tries again keeps its place
		w.start("watched", "watched", 0, false)
		require.Same(t, left, w.start("left", "left", 0, false))
		time.Sleep(buildWantedFor - time.Millisecond)
		w.start("watched", "watched", 0, false)
		time.Sleep(time.Millisecond)
		w.finishAll()
		require.ElementsMatch(t, []string{"read", "watched"}, w.begun[buildsAtOnce:])
		require.True(t, <-ended)
		require.NoError(t, waitedFor.err)
		for _, b := range []*build{left, unread} {
			<-b.done
			require.ErrorIs(t, b.err, definition.ErrNotBuilt)
		}
		w.allEnd(t)
	})
}

// A build that needs another one makes it in its own turn, unless that one has begun.
func TestBuildWithinATurn(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		w := newBusyTurns(t)
		b := w.start("b", "b", 0, false)
		synctest.Wait()
		require.NotContains(t, w.begun, "b")
		for range 2 {
			go w.waitInTurn(t.Context(), b)
			synctest.Wait()
			require.Equal(t, "b", w.begun[buildsAtOnce])
			require.Len(t, w.begun, buildsAtOnce+1)
		}
		w.finishAll()
		require.NoError(t, b.err)
		w.running.Wait()
		require.Len(t, w.begun, buildsAtOnce+1)
		require.Empty(t, w.under)
	})
}

// Requests for results that nobody waits for do not pile up while the node builds others.
func TestUnwantedBuildsDoNotPileUp(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		w := newBusyTurns(t)
		kept := w.start("kept", "kept", 0, false)
		for round := range 10 {
			for i := range unwantedKept {
				w.start("many:{x}", fmt.Sprint("many:", round*unwantedKept+i), 0, false)
			}
			time.Sleep(buildWantedFor)
			w.start("kept", "kept", 0, false)
			require.LessOrEqual(t, w.lines.length, 2*unwantedKept)
			require.LessOrEqual(t, len(w.under), 2*unwantedKept+buildsAtOnce)
		}
		w.finishAll()
		<-kept.done
		require.NoError(t, kept.err)
		w.running.Wait()
	})
}

// Readers of many boards without a result have a few builds under way, however many they are. A
// reader that leaves gets ErrNotBuilt, and what has not begun then is never built.
func TestReadersStartFewBuilds(t *testing.T) {
	onNode(t, []definition.Board{{Name: "a"},
		{Name: "u:{x}", Union: &definition.Union{Of: []string{"a"}}},
		{Name: "watched", Union: &definition.Union{Of: []string{"a"}}}}, func(t *testing.T, s *Store) {
		apply(t, s, "a", definition.Update{Member: "m", Score: 1})
		whole(t, s, "watched")
		knows(t, s, script.Hold)
		held := make(chan struct{})
		var began atomic.Int64
		s.rdb.AddHook(&cutter{fate: func(sc string) fate {
			if sc == script.Hold.Name {
				began.Add(1)
				<-held
			}
			return passes
		}})
		ctx, hangUp := context.WithCancel(t.Context())
		const boards = 20
		var readers sync.WaitGroup
		for i := range boards {
			readers.Go(func() {
				require.ErrorIs(t, errorOf(s.Page(ctx, fmt.Sprint("u:", i), 1, 1)), definition.ErrNotBuilt)
			})
		}
		redistest.Until(t, "all readers to wait for a build", func() bool {
			s.builds.mu.Lock()
			defer s.builds.mu.Unlock()
			waiting := 0
			for _, b := range s.builds.under {
				waiting += b.waiting
			}
			return waiting >= boards && began.Load() >= firstAtOnce
		})
		old(t, 55*time.Second, "watched", s)
		require.NoError(t, s.States(t.Context(), []string{"watched"})[0].Err)
		redistest.Until(t, "the build of the watched board to begin", func() bool { return began.Load() >= buildsAtOnce })
		hangUp()
		redistest.Wait(t, "the callers of the test", readers.Wait)
		s.builds.mu.Lock()
		for _, b := range s.builds.under {
			b.asked = time.Now().Add(-buildWantedFor)
		}
		s.builds.mu.Unlock()
		close(held)
		redistest.Wait(t, "the builds of the node", s.builds.running.Wait)
		require.EqualValues(t, buildsAtOnce, began.Load(), "those that had begun, and the watched one")
		built := must(s.builtAt(t.Context(), s.keys.Board("watched", "").Meta))(t)
		require.Less(t, s.age(built), 30*time.Second, "the watched one is built again")
		require.Empty(t, s.builds.under)
	})
}

// Unions that take all turns do not wait for turns of the windows that they are made of.
func TestUnionsBuildTheirWindowsInTheirTurn(t *testing.T) {
	onNode(t, []definition.Board{{Name: "w:{x}", Window: time.Hour},
		{Name: "u:{x}", Union: &definition.Union{Of: []string{"w:{x}"}}}}, func(t *testing.T, s *Store) {
		const boards = 20
		for i := range boards {
			apply(t, s, fmt.Sprint("w:", i), definition.Update{Member: "m", Score: int64(i + 1)})
		}
		ctx, cancel := context.WithTimeout(t.Context(), redistest.CallTimeout)
		defer cancel()
		var readers sync.WaitGroup
		for i := range boards {
			readers.Go(func() {
				p, err := s.Page(ctx, fmt.Sprint("u:", i), 1, 1)
				if err == nil && p.Entries[0].Score != int64(i+1) {
					err = fmt.Errorf("u:%d has %d", i, p.Entries[0].Score)
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		redistest.Wait(t, "the callers of the test", readers.Wait)
	})
}
