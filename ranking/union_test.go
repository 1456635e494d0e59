package ranking

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking/definition"
	"rankcast/ranking/feed"
	"rankcast/ranking/internal/script"
	"rankcast/ranking/proptest"
	"rankcast/ranking/redistest"
)

// What a union comes to is what anybody would reckon, over all aggregates, weights,
// orders and ties; of scores that are too large as well, and of sources that tie.
func TestUnionIsTheSumOfItsSources(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s := newNode(t, url)
		sources := []string{"s1", "s2", "s3"}
		define(t, s, definition.Board{Name: "s1:{n}", Mode: definition.Last}, definition.Board{Name: "s2:{n}", Mode: definition.Last,
			Order: definition.Asc}, definition.Board{Name: "s3:{n}", Mode: definition.Last, Ties: definition.ByMember, Order: definition.Asc})
		runs := 0
		proptest.Check(t, redistest.Volume(url, 100), func(t *rapid.T) {
			runs++
			n := len(sources)
			board := fmt.Sprint("u", runs)
			u := &definition.Union{Aggregate: rapid.SampledFrom([]definition.Aggregate{"", definition.SumOf, definition.MinOf,
				definition.MaxOf}).Draw(t, "aggregate")}
			for _, source := range sources[:rapid.IntRange(1, n).Draw(t, "sources")] {
				u.Of = append(u.Of, fmt.Sprint(source, ":", runs))
			}
			if rapid.Bool().Draw(t, "weighted") {
				for range u.Of {
					u.Weights = append(u.Weights, rapid.SampledFrom([]int64{1, -1, 2, -3, 7, 1_000_000, -1_000_000}).Draw(t, "weight"))
				}
			}
			def := definition.Board{Name: board, Union: u,
				Order: anyOrder.Draw(t, "order"),
				Ties:  anyTies.Draw(t, "ties")}
			require.NoError(t, s.DefineBoard(context.Background(), def, Moderator{}))
			defer s.Delete(context.Background(), board, Moderator{})
			score := rapid.OneOf(rapid.Int64Range(-5, 5), rapid.Int64Range(-definition.MaxScore, definition.MaxScore),
				rapid.SampledFrom([]int64{definition.MaxScore, -definition.MaxScore, 1 << 40}))
			want := make(map[string]*big.Int)
			for i, of := range u.Of {
				scores := rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "é", "a b"}), score, 0, 7).Draw(t, "scores")
				for member, score := range scores {
					must(s.Apply(context.Background(), of, []definition.Update{{Member: member, Score: score}}))(t)
					w := int64(1)
					if u.Weights != nil {
						w = u.Weights[i]
					}
					x := new(big.Int).Mul(big.NewInt(score), big.NewInt(w))
					was := want[member]
					switch {
					case was == nil:
						want[member] = x
					case u.Aggregate == definition.MinOf && x.Cmp(was) < 0, u.Aggregate == definition.MaxOf && x.Cmp(was) > 0:
						want[member] = x
					case u.Aggregate == definition.MinOf, u.Aggregate == definition.MaxOf:
					default:
						want[member] = x.Add(x, was)
					}
				}
			}
			p := must(s.Page(context.Background(), board, 1, 100))(t)
			require.Len(t, p.Entries, len(want))
			for i, e := range p.Entries {
				x := want[e.Member]
				if most := big.NewInt(definition.MaxScore); x.CmpAbs(most) > 0 {
					x = most.Mul(most, big.NewInt(int64(x.Sign())))
				}
				require.Equal(t, x.Int64(), e.Score, e.Member)
				if i > 0 {
					above := p.Entries[i-1]
					require.True(t, above.Key.Before(above.Member, e.Key, e.Member))
				}
			}
		})
	})
}

// Who came to a score in an earlier build ranks before who did in a later one, as long
// as the score stays, however often the result is built.
func TestUnionKeepsWhoWasFirst(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		for _, order := range []definition.Order{definition.Desc, definition.Asc} {
			s := newNode(t, url)
			source, board := "from-"+string(order), "u-"+string(order)
			define(t, s, definition.Board{Name: source, Mode: definition.Last, Ties: definition.ByMember},
				definition.Board{Name: board, Order: order, Union: &definition.Union{Of: []string{source}}})
			members := []string{"d", "b", "e", "a", "c"}
			for _, score := range []int64{5, definition.MaxScore >> 13, 7} { // as well where few keys fit
				for _, m := range members {
					apply(t, s, source, definition.Update{Member: m, Score: score})
					if m != members[0] || score != 5 {
						old(t, time.Hour, board, s)
					}
					whole(t, s, board)
				}
				var names []string
				for _, e := range whole(t, s, board).Entries {
					require.Equal(t, score, e.Score)
					names = append(names, e.Member)
				}
				require.Equal(t, members, names)
			}
		}
	})
}

// The last periods of each source are in it, and as one turns another is; beside a
// source without periods it is the current one.
func TestUnionOfTheLastPeriods(t *testing.T) {
	t.Parallel()
	w, s := simulatedNode(t, definition.Board{Name: "daily:{x}", Period: "day", Keep: new(6)}, definition.Board{Name: "ever"},
		definition.Board{Name: "week:{x}", Union: &definition.Union{Of: []string{"daily:{x}"}, Last: 3}},
		definition.Board{Name: "both:{x}", Union: &definition.Union{Of: []string{"daily:{x}", "ever"}, Weights: []int64{1, 1000}}})
	for day := range int64(7) {
		w.write(s, "daily:a", "m", 1<<day)
		w.write(s, "daily:a", fmt.Sprint("only", day), 1)
		w.write(s, "daily:b", "m", 99)
		if day == 0 {
			w.write(s, "ever", "m", 1)
		}
		want := int64(0)
		for d := max(day-2, 0); d <= day; d++ {
			want += 1 << d
		}
		p := whole(t, s, "week:a")
		require.Equal(t, want, scoresOf(p)["m"], "day %d", day)
		require.EqualValues(t, 1+min(day+1, 3), p.Total)
		require.Empty(t, p.Period)
		require.EqualValues(t, 1000+1<<day, scoresOf(whole(t, s, "both:a"))["m"], "day %d", day)
		w.tendAfter(day24)
	}
}

// One who is on a source throughout is on the result, whatever goes on there, and so a
// member whose place changes all the time; none is counted twice.
func TestUnionOfBoardsThatMove(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s, other := newNode(t, url), newNode(t, url)
		define(t, s, definition.Board{Name: "a"}, definition.Board{Name: "b"},
			definition.Board{Name: "u", Union: &definition.Union{Of: []string{"a", "b"}}})
		members, page := redistest.Volume(url, 3000), redistest.Volume(url, MaxPage)
		for _, board := range []string{"a", "b"} {
			applyScores(t, s, board, members, func(int) int64 { return 1000 })
		}
		ctx, stop := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		for _, board := range []string{"a", "b"} {
			wg.Go(func() {
				for i := 0; ctx.Err() == nil; i++ {
					// Others come and go, so that the set grows and shrinks; who stays moves.
					extra := definition.Update{Member: fmt.Sprint("x", i), Score: 1}
					other.Apply(context.Background(), board, []definition.Update{extra, {Member: fmt.Sprint("m", rand.IntN(members)), Score: 1}})
					if i%2 == 0 {
						other.Remove(context.Background(), board, extra.Member)
					}
				}
			})
		}
		for range 3 {
			// 2000 to begin with; each adds one at a time.
			seen := make(map[string]bool)
			var after *Cursor
			for {
				p, err := s.Page(t.Context(), "u", 1, page)
				if after != nil {
					p, err = s.Read(t.Context(), "u", Query{After: after, Limit: page})
				}
				require.NoError(t, err)
				for _, e := range p.Entries {
					if strings.HasPrefix(e.Member, "m") {
						seen[e.Member] = true
						require.GreaterOrEqual(t, e.Score, int64(2000))
						require.Less(t, e.Score, int64(3000))
					}
				}
				if after = p.Next(); after == nil {
					break
				}
			}
			require.Len(t, seen, members)
			old(t, time.Hour, "u", s)
		}
		stop()
		redistest.Wait(t, "the callers of the test", wg.Wait)
	})
}

// Where a build fails the old result is served as long as it is not too old, and no
// longer.
func TestUnionThatCannotBeBuilt(t *testing.T) {
	onNode(t, aAndUnion, func(t *testing.T, s *Store) {
		apply(t, s, "a", definition.Update{Member: "m", Score: 1})
		var broken atomic.Bool
		s.rdb.AddHook(&cutter{fate: func(sc string) fate {
			if sc == script.Scan.Name && broken.Load() {
				return isLost
			}
			return passes
		}})
		broken.Store(true)
		require.ErrorIs(t, errorOf(s.Page(t.Context(), "u", 1, 1)), definition.ErrUnavailable, "there is none")
		broken.Store(false)
		whole(t, s, "u")
		broken.Store(true)
		old(t, 59*time.Second, "u", s)
		require.EqualValues(t, 1, score(t, s, "u", "m"))
		redistest.Wait(t, "the builds of the node", s.builds.running.Wait)
		old(t, time.Hour, "u", s)
		require.ErrorIs(t, errorOf(s.Page(t.Context(), "u", 1, 1)), definition.ErrUnavailable)
		broken.Store(false)
		require.EqualValues(t, 1, score(t, s, "u", "m"))
	})
}

// Wherever a builder dies, nothing of what it did is seen, and the next builds it right
// as soon as the lock has lapsed, within ten seconds. What it left goes.
func TestUnionWhoseBuilderDies(t *testing.T) {
	t.Parallel()
	for _, dies := range []script.Script{script.Hold, script.List, script.Scan, script.Gather, script.Swap} {
		for _, how := range []fate{isLost, isDone} {
			t.Run(fmt.Sprint(dies.Name, how), func(t *testing.T) {
				w := simulated(t, 2, patient, aAndUnion...)
				dead, next := w.stores[0], w.stores[1]
				for i := range int64(gatherItems + 50) {
					w.write(next, "a", fmt.Sprint("m", i), i)
				}
				before := whole(t, next, "u")
				w.write(next, "a", "new", 1)
				for i := range int64(gatherItems) {
					w.write(next, "a", fmt.Sprint("m", i), 1000)
				}
				w.pass(5 * time.Minute)
				w.tend() // by which both hear what time it is
				calls, ended := 0, false
				dead.rdb.AddHook(&cutter{fate: func(sc string) fate {
					if ended {
						return isLost
					}
					if sc == dies.Name {
						if calls++; calls == 2 || dies.Name != script.Gather.Name {
							ended = true
							return how
						}
					}
					return passes
				}})
				require.ErrorIs(t, errorOf(dead.Page(t.Context(), "u", 1, 1)), definition.ErrUnavailable)
				k := dead.keys.Board("u", "")
				total := w.rdb.ZCard(t.Context(), k.Members).Val()
				if dies.Name == script.Swap.Name && how == isDone {
					require.EqualValues(t, before.Total+1, total) // it was done, and he did not hear of it
				} else {
					require.Equal(t, before.Total, total)
					require.Equal(t, before.Epoch, w.rdb.HGet(t.Context(), k.Meta, "epoch").Val())
				}
				w.stores = w.stores[1:]
				w.tendAfter(buildLease)
				p := whole(t, next, "u")
				require.EqualValues(t, before.Total+1, p.Total)
				require.EqualValues(t, 1000+gatherItems-1, p.Entries[0].Score)
				w.tend()
				for _, key := range dead.keys.Build("u").All() {
					require.Zero(t, w.rdb.Exists(t.Context(), key).Val(), key)
				}
			})
		}
	}
}

// A builder that has hung for longer than its lease finds that it has lost the lock, and
// touches nothing of its successor's, which its own readers get.
func TestUnionWhoseBuilderHangs(t *testing.T) {
	t.Parallel()
	for _, hangs := range []script.Script{script.List, script.Scan, script.Gather, script.Swap} {
		t.Run(hangs.Name, func(t *testing.T) {
			w := simulated(t, 2, patient, aAndUnion...)
			slow, next := w.stores[0], w.stores[1]
			w.write(next, "a", "m", 1)
			var built Page
			before(slow, hangs, func() {
				w.pass(buildLease)
				must(next.housekeepDue(context.Background()))(t)
				w.write(next, "a", "m", 1)
				built = whole(t, next, "u")
			})
			p := must(slow.Page(t.Context(), "u", 1, 1))(t)
			require.EqualValues(t, 2, built.Entries[0].Score)
			require.Equal(t, built.State, p.State)
			require.Equal(t, built, whole(t, next, "u"))
		})
	}
}

// A node that goes ends its build, and another can go on at once.
func TestUnionOfANodeThatGoes(t *testing.T) {
	onTwoNodes(t, aAndUnion, func(t *testing.T, s, next *Store) {
		apply(t, s, "a", definition.Update{Member: "m", Score: 1})
		after(t, s, script.Scan, 0, s.builds.stop)
		require.ErrorIs(t, errorOf(s.Page(t.Context(), "u", 1, 1)), definition.ErrUnavailable)
		s.Close()
		require.Zero(t, next.rdb.Exists(t.Context(), next.keys.Build("u").Lock).Val())
		require.EqualValues(t, 1, score(t, next, "u", "m"))
	})
}

// What is the same is not swapped: watchers hear nothing, and the epoch stays.
func TestUnionOfQuietBoards(t *testing.T) {
	onNode(t, []definition.Board{
		{Name: "a"}, {Name: "u", Union: &definition.Union{Of: []string{"a"}, Weights: []int64{-2}}},
	}, func(t *testing.T, s *Store) {
		for i := range int64(700) {
			apply(t, s, "a", definition.Update{Member: fmt.Sprint("m", i%650), Score: i % 7})
		}
		before := whole(t, s, "u")
		c := count(s)
		old(t, time.Hour, "u", s)
		require.Equal(t, before, whole(t, s, "u"))
		require.Equal(t, 1, c.times(script.Swap))
		require.Zero(t, c.times(script.Gather))
		built := must(s.builtAt(t.Context(), s.keys.Board("u", "").Meta))(t)
		require.Less(t, s.catalog.clock.now()-built, time.Minute.Microseconds(), "it was noted")

		// One who leaves, and one who changes, is noticed.
		must(s.Remove(t.Context(), "a", "m649"))(t)
		old(t, time.Hour, "u", s)
		without := whole(t, s, "u")
		require.Equal(t, before.Total-1, without.Total)
		require.NotEqual(t, before.Epoch, without.Epoch)
		apply(t, s, "a", definition.Update{Member: "m3", Score: 1})
		old(t, time.Hour, "u", s)
		require.NotEqual(t, without.Epoch, whole(t, s, "u").Epoch)
		for _, e := range without.Entries { // all but the one has kept its key
			if e.Member != "m3" {
				require.Equal(t, float64(e.Key), s.rdb.ZScore(t.Context(), s.keys.Board("u", "").Members, e.Member).Val())
			}
		}

		// All may leave.
		for i := range 650 {
			s.Remove(t.Context(), "a", fmt.Sprint("m", i))
		}
		old(t, time.Hour, "u", s)
		require.Zero(t, whole(t, s, "u").Total)
	})
}

// Watched, it is built without a reader, and told of.
func TestUnionThatIsWatched(t *testing.T) {
	onNode(t, []definition.Board{
		{Name: "a"}, {Name: "u", Union: &definition.Union{Of: []string{"a"}, Refresh: time.Second}},
	}, func(t *testing.T, s *Store) {
		sub := s.rdb.Subscribe(t.Context(), s.keys.Channel("u"))
		defer sub.Close()
		must(sub.Receive(t.Context()))(t)
		for n := range int64(3) {
			apply(t, s, "a", definition.Update{Member: "m", Score: 1})
			ctx, stop := context.WithCancel(t.Context())
			var wg sync.WaitGroup
			tick := time.NewTicker(10 * time.Millisecond)
			wg.Go(func() {
				defer tick.Stop()
				for ctx.Err() == nil { // as a hub does each second
					require.NoError(t, s.States(t.Context(), []string{"u"})[0].Err)
					<-tick.C
				}
			})
			m, err := sub.ReceiveMessage(t.Context())
			stop()
			redistest.Wait(t, "the callers of the test", wg.Wait)
			require.NoError(t, err)
			c := must(feed.ParseChanges(m.Payload))(t)
			require.Empty(t, c.List)
			require.Equal(t, State{c.Epoch, c.Seq}, s.States(t.Context(), []string{"u"})[0].State)
			require.Equal(t, fmt.Sprint(n+1), fmt.Sprint(-int64(s.rdb.ZScore(t.Context(), s.keys.Board("u", "").Members, "m").Val()-0.999)))
		}
	})
}

// Instances come to be where there is something to build them of, are listed, and go when
// nobody has asked for them for some time; or when they are deleted.
func TestUnionOfFamilies(t *testing.T) {
	t.Parallel()
	w := simulated(t, 2, patient,
		definition.Board{Name: "fans:{star}"}, definition.Board{Name: "hot:{genre}:{star}"},
		definition.Board{Name: "all:{star}", MaxInstances: 2,
			Union: &definition.Union{Of: []string{"fans:{star}", "hot:pop:{star}", "fans:vip"}}},
		definition.Board{Name: "kept:{star}", Retain: 2 * time.Hour, Union: &definition.Union{Of: []string{"fans:{star}"}}})
	s := w.stores[0]
	before := w.allKeys()
	for range 3 {
		require.Zero(t, whole(t, s, "all:nobody").Total)
		require.Zero(t, s.States(t.Context(), []string{"all:nobody"})[0].State)
		require.Zero(t, must(s.Info(t.Context(), "all:nobody"))(t).Total)
	}
	redistest.Wait(t, "the builds of the node", s.builds.running.Wait)
	require.Equal(t, before, w.allKeys())

	w.write(s, "fans:x", "m", 1)
	w.write(s, "hot:pop:x", "m", 10)
	w.write(s, "hot:rock:x", "m", 1000)
	w.write(s, "fans:y", "m", 3)
	require.Equal(t, map[string]int64{"m": 11}, scoresOf(whole(t, s, "all:x")))
	require.Equal(t, map[string]int64{"m": 3}, scoresOf(whole(t, s, "all:y")))
	require.Equal(t, map[string]int64{"m": 1}, scoresOf(whole(t, s, "kept:x")))
	w.cared(false)
	must(s.Page(t.Context(), "all:vip", 1, 1))(t, "there is nothing of it")
	w.write(s, "fans:vip", "v", 100)
	require.ErrorIs(t, errorOf(s.Page(t.Context(), "all:vip", 1, 1)), definition.ErrConflict, "max_instances")
	require.Empty(t, w.rdb.Keys(t.Context(), "rc:{all:vip}*").Val())
	require.Equal(t, []string{"all:x", "all:y"}, must(s.Instances(t.Context(), "all:{star}", "", 10))(t).Names)

	w.tendAfter(9 * time.Minute)
	require.Equal(t, map[string]int64{"m": 11, "v": 100}, scoresOf(whole(t, s, "all:x")))
	w.tendAfter(2 * time.Minute)
	listing := func(key string) []string { return w.rdb.Keys(t.Context(), key).Val() }
	require.NotEmpty(t, listing("rc:{all:x}*"))
	require.Empty(t, listing("rc:{all:y}*"), "nobody asked for it")
	w.until("y to be listed no more", func() error {
		p, err := s.Instances(t.Context(), "all:{star}", "", 10)
		if len(p.Names) > 1 {
			err = fmt.Errorf("there are still %v", p.Names)
		}
		return err
	})
	require.NotEmpty(t, listing("rc:{kept:x}*"))
	require.Equal(t, map[string]int64{"m": 3, "v": 100}, scoresOf(whole(t, s, "all:y")), "it is built anew")

	require.NoError(t, s.Delete(t.Context(), "all:y", Moderator{}))
	require.Empty(t, listing("rc:{all:y}*"))
	require.NoError(t, s.Delete(t.Context(), "all:{star}", Moderator{}))
	require.NoError(t, s.Delete(t.Context(), "kept:{star}", Moderator{}))
	for _, b := range []string{"fans:{star}", "hot:{genre}:{star}"} {
		redistest.Eventually(t, "the unions to have gone", func() error { return s.Delete(t.Context(), b, Moderator{}) })
	}
	w.quiet()
	require.NoError(t, w.nothingLeft())
}

// A union is not written to, and its sources stay as long as it does.
func TestUnionAndItsSources(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s := newNode(t, url)
		define(t, s, definition.Board{Name: "u", Union: &definition.Union{Of: []string{"z"}}}, definition.Board{Name: "z"}) // in any order
		Refuses(t, "board", definition.ErrConflict, errorOf(s.Apply(t.Context(), "u", []definition.Update{{Member: "m", Score: 1}})))
		Refuses(t, "board", definition.ErrConflict, errorOf(s.Remove(t.Context(), "u", "m")))
		before := &target{name: definition.Name{Base: "u"}, instance: "u", rule: must(s.compiledNamed(t.Context(), "z"))(t)} // no union then
		item := updateItem{write: write{Update: definition.Update{Member: "m", Score: 1}}, to: before, outcome: new(Outcome)}
		require.ErrorIs(t, s.commitUpdates(t.Context(), "u", "u", []updateItem{item}), definition.ErrConflict)
		Refuses(t, "board", definition.ErrConflict, s.Delete(t.Context(), "z", Moderator{}))
		event := definition.Event{Name: "e", Updates: []definition.Target{{Board: "z", Member: "{m}", Score: "1"},
			{Board: "u", Member: "{m}", Score: "1"}}}
		Refuses(t, "updates[1].board", definition.ErrInvalid, s.DefineEvent(t.Context(), event, Moderator{}))
		event.Updates = event.Updates[:1]
		require.NoError(t, s.DefineEvent(t.Context(), event, Moderator{}))
		define(t, s, definition.Board{Name: "told"})
		require.NoError(t, s.DefineEvent(t.Context(),
			definition.Event{Name: "tell", Updates: []definition.Target{{Board: "told", Member: "{m}", Score: "1"}}}, Moderator{}))
		Refuses(t, "union", definition.ErrConflict, s.DefineBoard(t.Context(),
			definition.Board{Name: "told", Union: &definition.Union{Of: []string{"z"}}}, Moderator{}))
		Refuses(t, "union.of[0]", definition.ErrInvalid, s.DefineBoard(t.Context(),
			definition.Board{Name: "uu", Union: &definition.Union{Of: []string{"u"}}}, Moderator{}))

		apply(t, s, "z", definition.Update{Member: "m", Score: 2})
		require.EqualValues(t, 2, score(t, s, "u", "m"))
		Refuses(t, "union", definition.ErrConflict, s.DefineBoard(t.Context(), definition.Board{Name: "u"}, Moderator{}))
		Refuses(t, "order", definition.ErrConflict, s.DefineBoard(t.Context(), definition.Board{Name: "u", Order: definition.Asc,
			Union: &definition.Union{Of: []string{"z"}}}, Moderator{}))
		define(t, s, definition.Board{Name: "u", Union: &definition.Union{Of: []string{"z"}, Weights: []int64{5}}})
		old(t, time.Hour, "u", s)
		require.EqualValues(t, 10, score(t, s, "u", "m"), "the next build takes it")

		define(t, s, definition.Board{Name: "d", Period: "day", Keep: new(3)},
			definition.Board{Name: "du", Union: &definition.Union{Of: []string{"d"}, Last: 4}})
		Refuses(t, "board", definition.ErrConflict, s.DefineBoard(t.Context(),
			definition.Board{Name: "d", Period: "day", Keep: new(2)}, Moderator{}))
		Refuses(t, "board", definition.ErrConflict, s.DefineBoard(t.Context(), definition.Board{Name: "d"}, Moderator{}))
		Refuses(t, "board", definition.ErrConflict, s.DefineBoard(t.Context(),
			definition.Board{Name: "d", Union: &definition.Union{Of: []string{"z"}}}, Moderator{}))
		require.NoError(t, s.Delete(t.Context(), "du", Moderator{}))
		require.NoError(t, s.DefineBoard(t.Context(), definition.Board{Name: "d", Period: "day", Keep: new(2)}, Moderator{}))
	})
}

// What cannot be a union is refused with the path of what is wrong.
func TestUnionsThatAreNone(t *testing.T) {
	t.Parallel()
	s := newNode(t, redistest.Embedded(t))
	define(t, s, definition.Board{Name: "a"}, definition.Board{Name: "b"}, definition.Board{Name: "f:{x}:{y}"},
		definition.Board{Name: "d", Period: "day", Keep: new(6)},
		definition.Board{Name: "u", Union: &definition.Union{Of: []string{"a"}}})
	for fields, want := range map[string]string{
		`"union":{"of":["a","b"],"weights":[1,-2],"aggregate":"min","last":1,"refresh":"5s"}`: "",
		`"union":{"of":["d"],"last":7},"order":"asc","ties":"member","retain":"1d"`:           "",
		`"union":{"of":["a","d"],"last":1,"refresh":"1d"}`:                                    "",
		`"union":{"of":["f:{n}:lit"]},"mode":"sum"`:                                           "",
		`"union":{}`:                                           "union.of",
		`"union":[]`:                                           "union",
		`"union":{"of":"a"}`:                                   "union.of",
		`"union":{"of":[]}`:                                    "union.of",
		`"union":{"of":["a",1]}`:                               "union.of[1]",
		`"union":{"of":["a","a"]}`:                             "union.of[1]",
		`"union":{"of":["a@-1"]}`:                              "union.of[0]",
		`"union":{"of":["A"]}`:                                 "union.of[0]",
		`"union":{"of":["f:{m}:1"]}`:                           "union.of[0]",
		`"union":{"of":["f:{n}:"]}`:                            "union.of[0]",
		`"union":{"of":["f:{n}:x{n}"]}`:                        "union.of[0]",
		`"union":{"of":["b","f:{n}"]}`:                         "union.of[1]",
		`"union":{"of":["none"]}`:                              "union.of[0]",
		`"union":{"of":["b","u"]}`:                             "union.of[1]",
		`"union":{"of":["me:{n}"]}`:                            "union.of[0]",
		`"union":{"of":["a"],"weights":[1,2]}`:                 "union.weights",
		`"union":{"of":["a"],"weights":[]}`:                    "union.weights",
		`"union":{"of":["a"],"weights":[0]}`:                   "union.weights[0]",
		`"union":{"of":["a"],"weights":[1.5]}`:                 "union.weights[0]",
		`"union":{"of":["a"],"weights":[1000001]}`:             "union.weights[0]",
		`"union":{"of":["a"],"aggregate":"avg"}`:               "union.aggregate",
		`"union":{"of":["a"],"last":0}`:                        "union.last",
		`"union":{"of":["a"],"last":2}`:                        "union.last",
		`"union":{"of":["d","a"],"last":2}`:                    "union.last",
		`"union":{"of":["f:{n}:lit"],"last":7}`:                "union.last",
		`"union":{"of":["d"],"last":-1}`:                       "union.last",
		`"union":{"of":["a"],"last":1001}`:                     "union.last",
		`"union":{"of":["a","b"],"last":501}`:                  "union.last",
		`"union":{"of":["d"],"last":8}`:                        "union.last",
		`"union":{"of":["a"],"refresh":"0s"}`:                  "union.refresh",
		`"union":{"of":["a"],"refresh":"86401s"}`:              "union.refresh",
		`"union":{"of":["a"],"refresh":"36601d"}`:              "union.refresh",
		`"union":{"of":["a"],"refresh":"1.5h"}`:                "union.refresh",
		`"union":{"of":["a"],"refresh":"soon"}`:                "union.refresh",
		`"union":{"of":["a"],"refresh":60}`:                    "union.refresh",
		`"union":{"of":["a"],"refresh":"2d"}`:                  "union.refresh",
		`"union":{"of":["a"],"more":1}`:                        "union.more",
		`"union":{"of":["a"]},"mode":"best"`:                   "mode",
		`"union":{"of":["a"]},"period":"day"`:                  "period",
		`"union":{"of":["a"]},"keep":1`:                        "keep",
		`"union":{"of":["a"]},"starts":"2026-01-01T00:00:00Z"`: "starts",
		`"union":{"of":["a"]},"ends":"2027-01-01T00:00:00Z"`:   "ends",
		`"union":{"of":["a"]},"tie_span":"1d"`:                 "tie_span",
		`"union":{"of":["a"]},"min":1`:                         "min",
		`"union":{"of":["a"]},"max":1`:                         "max",
		`"union":{"of":["a"]},"max_change":1`:                  "max_change",
	} {
		reason := definesOrRefuses(t, s, fields, want)
		if want == "union.refresh" {
			require.Equal(t, "is not a whole number of s, m, h or d, such as 90s or 5m, from 1s to 1d", reason,
				"whatever is wrong, the range is the union's: %s", fields)
		}
	}
	_, err := definition.ParseFile([]byte("boards:\n  a: {}\n  \"u:{x}\": {union: {of: [a, \"b:{y}\"], weights: [1, 2]}}"))
	refused(t, err, `boards["u:{x}"].union.of[1]`)
	defs := must(definition.ParseFile([]byte("boards:\n  \"u:{x}\": {union: {of: [a, \"b:{x}\"], refresh: 90s}}")))(t)
	require.Equal(t, &definition.Union{Of: []string{"a", "b:{x}"}, Weights: []int64{1, 1}, Aggregate: definition.SumOf, Last: 1,
		Refresh: 90 * time.Second}, defs.Boards[0].Union)
	refused(t, s.Define(t.Context(), defs), `boards["u:{x}"].union.of[1]`)

	plain := must(definition.Board{Name: "a", Period: "week", Timezone: "Asia/Shanghai"}.Normalize())(t)
	plain.Shards = 0 // which the run of the tests may have given
	require.Equal(t, "desc VIgd_is86vU", plain.Shape(), "or all data there are would be of another shape")
}

// Sources lie on all masters of a cluster, and the union on any.
func TestUnionOnACluster(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	url, masters := cluster.URL, cluster.Masters
	s, other := newNode(t, url), newNode(t, url)
	var boards []definition.Board
	var of []string
	want := make(map[string]int64)
	for i := range int64(12) {
		name := fmt.Sprint("a", i)
		boards, of = append(boards, definition.Board{Name: name}), append(of, name)
	}
	for i := range 4 {
		boards = append(boards, definition.Board{Name: fmt.Sprint("u", i), Union: &definition.Union{Of: of}})
	}
	define(t, s, boards...)
	for i, name := range of {
		for j := range 20 {
			member := fmt.Sprint("m", (i+j)%25)
			apply(t, s, name, definition.Update{Member: member, Score: int64(i * j)})
			want[member] += int64(i * j)
		}
	}
	for i := range 4 {
		require.Equal(t, want, scoresOf(whole(t, s, fmt.Sprint("u", i))))
	}
	spread := make(map[string]int)
	for i, m := range masters {
		for _, key := range m.Admin().Keys(t.Context(), "*}::z").Val() {
			spread[fmt.Sprint(strings.HasPrefix(key, "rc:{u"), i)]++
		}
	}
	require.Len(t, slices.DeleteFunc(slices.Collect(maps.Keys(spread)), func(k string) bool { return !strings.HasPrefix(k, "false") }), 3)
	apply(t, s, "a3", definition.Update{Member: "m1", Score: 7})
	want["m1"] += 7
	old(t, time.Hour, "u2", s, other)
	require.Equal(t, want, scoresOf(whole(t, other, "u2")))
}
