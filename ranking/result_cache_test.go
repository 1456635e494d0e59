package ranking

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
	"rankcast/ranking/redistest"
)

// A reader who does not wait for builds, and who comes again at intervals longer than refresh, gets what the last
// build left, although that is too old each time.
func TestReadsWithoutBuildsComeToAnEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		hide  bool
		total int64
	}{"a result": {total: 1}, "nobody is left": {hide: true}} {
		t.Run(name, func(t *testing.T) {
			w, s := simulatedNode(t, definition.Board{Name: "a"},
				definition.Board{Name: "u", Union: &definition.Union{Of: []string{"a"}, Refresh: time.Second}})
			w.write(s, "a", "m", 1)
			if c.hide {
				require.NoError(t, s.Hide(t.Context(), "u", "m", Moderator{}))
			}
			_, err := s.Page(WithoutBuilds(t.Context()), "u", 1, 10)
			require.ErrorIs(t, err, definition.ErrNotBuilt)
			var page Page
			redistest.Eventually(t, "a page", func() (err error) {
				s.builds.mu.Lock()
				building := len(s.builds.under) > 0
				s.builds.mu.Unlock()
				if building {
					return errors.New("a build is under way")
				}
				w.pass(1500 * time.Millisecond)
				w.tend() // by which the node hears what time it is
				page, err = s.Page(WithoutBuilds(t.Context()), "u", 1, 10)
				return err
			})
			require.Equal(t, c.total, page.Total)
		})
	}
}

// A reader who does not wait for builds gets the present result while another node replaces it. He gets none if
// that result is far older than refresh.
func TestReadsWithoutBuildsBesideAnotherBuilder(t *testing.T) {
	t.Parallel()
	for after, want := range map[time.Duration]error{2 * time.Second: nil, time.Minute: definition.ErrNotBuilt} {
		t.Run(after.String(), func(t *testing.T) {
			w := simulated(t, 2, patient,
				definition.Board{Name: "a"}, definition.Board{Name: "u", Union: &definition.Union{Of: []string{"a"}, Refresh: time.Second}})
			w.write(w.stores[0], "a", "m", 1)
			whole(t, w.stores[0], "u")
			w.pass(after)
			w.tend() // by which the nodes hear what time it is
			s := w.stores[1]
			built := must(s.builtAt(t.Context(), s.keys.Board("u", "").Meta))(t)
			holds(t, w.stores[0], "u", built)
			read := func() error { return errorOf(s.Page(WithoutBuilds(t.Context()), "u", 1, 10)) }
			require.ErrorIs(t, read(), definition.ErrNotBuilt)
			redistest.Until(t, "the node to find the other one", func() bool {
				return s.builds.last.Len() > 0
			})
			require.ErrorIs(t, read(), want)
		})
	}
}

// Whoever has lost the lock touches nothing any more of what its successor builds, and
// what it has built itself is none of the successor's.
func TestBuilderThatHasLostTheLock(t *testing.T) {
	t.Parallel()
	w := simulated(t, 2, patient, aAndUnion...)
	first := holds(t, w.stores[0], "u", 0)
	require.NoError(t, first.gather(t.Context(), []scored{{"left", 1}}))
	w.pass(buildLease)
	_, err := w.stores[1].housekeepDue(t.Context()) // by which it hears what time it is
	require.NoError(t, err)
	second := holds(t, w.stores[1], "u", 0)
	aside := func() []string { return w.rdb.ZRange(t.Context(), second.its.Aside, 0, -1).Val() }
	require.Empty(t, aside())
	require.NoError(t, second.gather(t.Context(), []scored{{"right", 1}}))
	require.ErrorIs(t, first.gather(t.Context(), []scored{{"wrong", 1}}), errBuildLost)
	first.epoch, first.total = "e", 1
	require.ErrorIs(t, errorOf(first.unchanged(t.Context(), []scored{{"wrong", 1}})), errBuildLost)
	first.epoch, first.kept = "", time.Time{}
	require.ErrorIs(t, first.keepLock(t.Context(), 0), errBuildLost)
	require.ErrorIs(t, first.swap(t.Context(), newEpoch(), 0), errBuildLost)
	require.NoError(t, first.release(t.Context()))
	require.Equal(t, []string{"right"}, aside())
	require.NoError(t, second.swap(t.Context(), newEpoch(), 0))
	require.Equal(t, map[string]int64{"right": -1}, scoresOf(whole(t, w.stores[1], "u")))
}

// What a builder has left goes when the board is looked after, though not before its
// lease is over; and at once when the board is taken down.
func TestWhatABuilderLeaves(t *testing.T) {
	t.Parallel()
	w, s := simulatedNode(t, aAndUnion...)
	left := func() int64 { return w.rdb.Exists(t.Context(), s.keys.Build("u").All()...).Val() }
	look := func() {
		require.NoError(t, s.scheduleNow(t.Context(), "u"))
		w.tend()
	}
	require.NoError(t, holds(t, s, "u", 0).gather(t.Context(), []scored{{"left", 1}}))
	look()
	require.EqualValues(t, 2, left())
	w.pass(buildLease)
	look()
	require.Zero(t, left())
	require.NoError(t, holds(t, s, "u", 0).gather(t.Context(), []scored{{"left", 1}}))
	require.NoError(t, s.deleteData(t.Context(), nil, "u", definition.Never))
	require.Zero(t, left())
}

// A source may tell of a member more than once, with another score each time: the last
// counts, once.
func TestSourcesThatRepeatThemselves(t *testing.T) {
	t.Parallel()
	for aggregate, want := range map[definition.Aggregate]int64{definition.SumOf: 3*20 + 5, definition.MinOf: 5, definition.MaxOf: 60} {
		tallies := unionTotals{aggregate: aggregate, weights: []int64{3, 1}, members: make(map[string]unionTotal)}
		for _, score := range []int64{10, -7, 20} {
			tallies.add(0, "m", score)
		}
		for _, score := range []int64{1000, 5} {
			tallies.add(1, "m", score)
		}
		require.Equal(t, []scored{{"m", want}}, tallies.scores(), aggregate)
	}
}

// A node that remembers a result serves none that is older, and not an empty board,
// where the result was deleted behind its back, or Redis has lost what came last.
func TestResultsThatAreLost(t *testing.T) {
	onTwoNodes(t, aAndUnion, func(t *testing.T, a, b *Store) {
		apply(t, a, "a", definition.Update{Member: "m", Score: 1})
		k := a.keys.Board("u", "")
		reads := map[string]func(int64){
			"page":   func(n int64) { require.Equal(t, map[string]int64{"m": n}, scoresOf(whole(t, a, "u"))) },
			"places": func(n int64) { require.Equal(t, n, score(t, a, "u", "m")) },
			"info": func(int64) {
				require.EqualValues(t, 1, must(a.Info(t.Context(), "u"))(t).Total)
			},
		}
		losses := map[string]func(){
			"deleted": func() { require.NoError(t, b.deleteData(t.Context(), nil, "u", definition.Never)) },
			"older":   func() { require.NoError(t, a.rdb.HSet(t.Context(), k.Meta, builtField, 1).Err()) },
			"no good": func() { require.NoError(t, a.rdb.HSet(t.Context(), k.Meta, builtField, 0).Err()) },
		}
		sum := int64(1)
		for how, lose := range losses {
			for what, read := range reads {
				read(sum) // so that it is known
				apply(t, a, "a", definition.Update{Member: "m", Score: 1})
				sum++
				lose()
				c := count(a)
				read(sum)
				require.Equal(t, 1, c.times(script.Swap), "%s, %s", how, what)
			}
		}
	})
}

// A result that is no good whenever it was built is built anew also where there is nothing
// any more that it is of, and by whoever was about to build it. Whoever began before that
// does not put his own in its place.
func TestResultsThatAreNoGood(t *testing.T) {
	onNode(t, aAndUnion, func(t *testing.T, s *Store) {
		apply(t, s, "a", definition.Update{Member: "m", Score: 1})
		require.NotEmpty(t, whole(t, s, "u").Entries)
		k := s.keys.Board("u", "")
		noGood := func() { require.NoError(t, s.rdb.HSet(t.Context(), k.Meta, builtField, 0).Err()) }

		first := holds(t, s, "u", s.builds.known("u"))
		noGood()
		require.ErrorIs(t, first.swap(t.Context(), newEpoch(), 0), errBuildLost)
		require.NoError(t, first.release(t.Context()))
		second := holds(t, s, "u", s.builds.known("u"))
		require.NoError(t, second.release(t.Context()))

		require.NoError(t, s.rdb.ZAdd(t.Context(), k.Hidden, redis.Z{Score: -7, Member: "kept"}).Err())
		must(s.Remove(t.Context(), "a", "m"))(t)
		require.Empty(t, whole(t, s, "u").Entries)
		require.Zero(t, s.rdb.Exists(t.Context(), k.Hidden).Val(), "a key of a result that is no more")
		require.Positive(t, s.builds.known("u"))
	})
}

// Five nodes with two hundred readers each build a result once. All readers wait for the first
// result, and for the result that replaces one that is too old. Readers get a result that is only old at
// once, while a build replaces it. They get a younger one without a build.
func TestResultIsBuiltOnce(t *testing.T) {
	t.Parallel()
	for kind, c := range map[string]struct {
		board  definition.Board
		source string
		reads  script.Script
	}{
		"window": {definition.Board{Window: 3 * time.Hour, Refresh: time.Hour}, "b", script.Events},
		"union":  {definition.Board{Union: &definition.Union{Of: []string{"a"}, Refresh: time.Hour}}, "a", script.Scan},
	} {
		t.Run(kind, func(t *testing.T) {
			redistest.Engines(t, func(t *testing.T, url string) { builtOnce(t, url, c.board, c.source, c.reads) })
		})
	}
}

func builtOnce(t *testing.T, url string, board definition.Board, source string, reads script.Script) {
	url += fmt.Sprint("?pool_timeout=", redistest.CallTimeout) // readers wait for one of a few connections
	readers, stores := redistest.Volume(url, 200), make([]*Store, 5)
	for i := range stores {
		stores[i] = newNode(t, url)
	}
	board.Name = "b"
	define(t, stores[0], definition.Board{Name: "a"}, board)
	knows(t, stores[0], reads)
	knows(t, stores[0], script.Swap)
	write := func() { send(t, stores[0], source, definition.Update{Member: "m", Score: 1}) }
	write()
	c := count(stores...)
	var held atomic.Pointer[chan struct{}] // what builds wait for
	for _, s := range stores {
		s.rdb.AddHook(&cutter{fate: func(sc string) fate {
			if wait := held.Load(); wait != nil && sc == reads.Name {
				<-*wait
			}
			return passes
		}})
	}
	read := func(want int64, built int) {
		t.Helper()
		var wg sync.WaitGroup
		for _, s := range stores {
			for i := range readers {
				wg.Go(func() {
					var score int64
					var err error
					switch i % 4 {
					case 0, 1:
						var p Page
						if p, err = s.Page(context.Background(), "b", 1, 1); len(p.Entries) == 1 {
							score = p.Entries[0].Score
						}
					case 2:
						var m Members
						if m, err = s.Members(context.Background(), "b", []string{"m"}); err == nil {
							score = m.List[0].Score
						}
					case 3:
						var n Neighbourhood
						n, err = s.Around(context.Background(), "b", "m", 1)
						score = n.Entry.Score
					}
					if err != nil || score != want {
						t.Errorf("read %d has %d: %v", i%4, score, err)
					}
				})
			}
		}
		redistest.Wait(t, "the callers of the test", wg.Wait)
		require.False(t, t.Failed())
		require.Equal(t, built, c.times(reads), "what it is made of is read once a build")
		require.Equal(t, built, c.times(script.Swap))
	}
	read(1, 1)
	for n := range 3 {
		write()
		old(t, 2*time.Hour, "b", stores...)
		read(int64(n+2), n+2)
	}
	write()
	old(t, 49*time.Minute, "b", stores...)
	read(4, 4)
	for _, s := range stores {
		require.Empty(t, s.builds.under, "it is young enough")
	}
	old(t, 55*time.Minute, "b", stores...)
	wait := make(chan struct{})
	held.Store(&wait)
	read(4, 4)
	close(wait)
	for _, s := range stores {
		redistest.Wait(t, "the builds of the node", s.builds.running.Wait)
	}
	read(5, 5)
}
