package ranking

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/redistest"
)

func TestPeriodsGoByKeep(t *testing.T) {
	t.Parallel()
	w := simulated(t, 2, Config{},
		definition.Board{Name: "two", Period: "hour", Keep: new(2)}, definition.Board{Name: "none", Period: "hour", Keep: new(0)},
		definition.Board{Name: "cup", Period: "hour", Keep: new(2), Ends: friday.Add(4 * time.Hour)})
	periods := func(board string) (names []string) {
		for _, p := range must(w.stores[1].periodRecords(t.Context(), nil, board))(t) {
			names = append(names, p.Name[11:13])
		}
		return names
	}
	for range 4 {
		for _, board := range []string{"two", "none", "cup"} {
			w.write(w.stores[0], board, "a", 1)
		}
		w.tendAfter(time.Hour - time.Second)
		w.tendAfter(time.Second)
	}
	// They linger, for those who watch them.
	require.Equal(t, []string{"11", "12", "13"}, periods("two"))
	require.Equal(t, []string{"13"}, periods("none"))
	last := definition.Qualify("none", friday.Add(3*time.Hour).Format("2006-01-02T15Z"))
	require.EqualValues(t, 1, w.total(last))
	require.ErrorIs(t, errorOf(w.stores[0].Page(t.Context(), "none@-1", 1, 1)), definition.ErrUnknownPeriod)
	w.tendAfter(definition.ClosedGrace)
	require.ErrorIs(t, errorOf(w.stores[0].Page(t.Context(), last, 1, 1)), definition.ErrUnknownPeriod)
	require.Equal(t, []string{"12", "13"}, periods("two"))
	require.Empty(t, periods("none"))
	require.Equal(t, []string{"11", "12", "13"}, periods("cup"), "after its end the last period is the current one")
	require.Len(t, w.announced(), 12)
	w.tendAfter(time.Hour - time.Second)
	require.Equal(t, []string{"12", "13"}, periods("two"))
	w.tendAfter(time.Second)
	require.Equal(t, []string{"13"}, periods("two"))

	// More is kept, less is kept.
	define := func(keep int) {
		w.write(w.stores[0], "two", "a", 1)
		require.NoError(t, w.stores[1].Define(t.Context(),
			definition.Set{Boards: []definition.Board{{Name: "two", Period: "hour", Keep: &keep}}}))
		w.pass(grace)
		w.tend() // the definition
		w.pass(time.Second)
		w.tend() // its instances
	}
	define(5)
	w.tendAfter(3 * time.Hour)
	require.Equal(t, []string{"13", "15"}, periods("two"))
	define(3)
	require.Equal(t, []string{"15", "18"}, periods("two"))

	w.pass(1000 * time.Hour)
	w.until("them to go", func() error {
		if len(periods("two")) > 0 {
			return errors.New("still there")
		}
		return nil
	})
	require.Equal(t, []string{"11", "12", "13"}, periods("cup"))
	w.quiet()
	for _, board := range []string{"cup", "cup@-1", "cup@-2"} {
		require.EqualValues(t, 1, w.total(board))
	}
}

// What goes when it is not written to, or has ended, and what does not.
func TestBoardsGoByRetain(t *testing.T) {
	t.Parallel()
	for _, delivered := range []bool{false, true} {
		t.Run(fmt.Sprintf("delivered=%v", delivered), func(t *testing.T) {
			var cfg Config
			if delivered {
				cfg.Deliver = []string{AllBoards}
			}
			w := simulated(t, 2, cfg,
				definition.Board{Name: "plain", Retain: time.Hour},
				definition.Board{Name: "fans:{star}", Retain: time.Hour},
				definition.Board{Name: "cup", Ends: friday.Add(30 * time.Minute), Retain: time.Hour},
				definition.Board{Name: "cups:{star}", Period: "day", Ends: friday.Add(30 * time.Minute), Retain: time.Hour},
				definition.Board{Name: "stays", Ends: friday.Add(30 * time.Minute)},
				definition.Board{Name: "stays:{star}"})
			for _, board := range []string{"plain", "fans:s1", "fans:s2", "cup", "cups:s1", "stays", "stays:s1"} {
				w.write(w.stores[0], board, "a", 1)
			}
			there := func() (boards []string) {
				for _, board := range []string{"plain", "fans:s1", "fans:s2", "cup", "cups:s1", "stays", "stays:s1"} {
					if w.total(board) > 0 {
						boards = append(boards, board)
					}
				}
				return boards
			}
			w.tendAfter(40 * time.Minute)
			// An update that changes nothing is one all the same.
			o, err := w.stores[1].Apply(t.Context(), "fans:s2", []definition.Update{{Member: "a", Score: 1, If: definition.Absent}})
			require.NoError(t, err)
			require.NoError(t, o[0].Err)
			must(w.stores[1].Apply(t.Context(), "cup", []definition.Update{{Member: "a", Score: 1}}))(t)
			w.tendAfter(20*time.Minute + time.Second)
			require.Equal(t, []string{"fans:s2", "cup", "cups:s1", "stays", "stays:s1"}, there())
			w.cared(false)
			w.tendAfter(30*time.Minute - time.Second)
			if delivered {
				require.Equal(t, []string{"fans:s2", "cup", "cups:s1", "stays", "stays:s1"}, there(), "nobody was told yet")
				w.tendAfter(100 * time.Hour)
				require.Equal(t, []string{"cup", "cups:s1", "stays", "stays:s1"}, there(), "nobody was told yet")
				due := must(w.stores[0].Deliveries(t.Context(), 10))(t)
				require.Len(t, due, 3)
				for _, d := range due {
					require.NoError(t, w.stores[1].Delivered(t.Context(), d))
				}
				w.tendAfter(time.Second)
				require.Equal(t, []string{"stays", "stays:s1"}, there(), "at once")
			}
			require.Equal(t, []string{"cup", "cups:s1@2026-11-20", "stays"}, w.announced())
			w.tendAfter(time.Hour)
			require.Equal(t, []string{"stays", "stays:s1"}, there())
			for range 3 {
				w.tendAfter(24 * time.Hour)
			}
			left := []string{"rc:{/}:instances:stays/0", "rc:{/}:instances:stays/1"}
			for _, board := range []string{"stays:s1", "stays"} {
				k := keysOf(w.stores[0], board, "", "a")
				left = append(left, k.Meta, k.Members, k.Periods)
			}
			require.Subset(t, w.allKeys(), left)
			require.Empty(t, slices.DeleteFunc(w.allKeys(), func(key string) bool {
				return slices.Contains(left, key) || Shards > 0 && strings.HasSuffix(key, "}:p") && strings.HasPrefix(key, "rc:{stays")
			}))
		})
	}
}

// An instance with periods does not go before what its last one came to was announced.
func TestRetainWaitsForThePeriod(t *testing.T) {
	t.Parallel()
	w := simulated(t, 2, Config{}, definition.Board{Name: "days:{star}", Period: "day", Retain: time.Hour})
	w.write(w.stores[0], "days:s1", "a", 1)
	w.tendAfter(2 * time.Hour)
	require.EqualValues(t, 1, w.total("days:s1"))
	require.Empty(t, w.announced())
	w.tendAfter(22 * time.Hour)
	require.Equal(t, []string{"days:s1@2026-11-20"}, w.announced())
	for range 3 {
		w.tendAfter(time.Hour)
	}
	require.Empty(t, w.allKeys())
}

// Of instances there are so many at most; where one has gone, another may come.
func TestInstancesAreBounded(t *testing.T) {
	t.Parallel()
	w := simulated(t, 2, Config{}, definition.Board{Name: "fans:{star}", Retain: time.Hour, MaxInstances: 2})
	w.write(w.stores[0], "fans:s1", "a", 1)
	w.write(w.stores[1], "fans:s2", "a", 1)
	for _, s := range w.stores {
		_, err := s.Apply(t.Context(), "fans:s3", []definition.Update{{Member: "a", Score: 1, ID: "x"}})
		require.ErrorIs(t, err, definition.ErrConflict)
		w.write(s, "fans:s1", "a", 1)
	}
	w.tendAfter(59 * time.Minute)
	w.write(w.stores[0], "fans:s2", "b", 1)
	w.pass(time.Minute)
	w.until("the one to go", func() error {
		return errorOf(w.stores[1].Apply(t.Context(), "fans:s3", []definition.Update{{Member: "a", Score: 1, ID: "x"}}))
	})
	page := must(w.stores[1].Instances(t.Context(), "fans:{star}", "", 10))(t)
	require.Equal(t, []string{"fans:s2", "fans:s3"}, page.Names)
	w.until("all to go", w.nothingLeft)
}

// A retry that comes after its board has gone is still known, as long as any is; then
// the ids go too.
func TestRequestIDsOutliveTheirBoard(t *testing.T) {
	t.Parallel()
	w := simulated(t, 2, Config{}, definition.Board{Name: "fans:{star}", Retain: time.Minute})
	send := func() Result {
		o := must(w.stores[0].Apply(t.Context(), "fans:s1", []definition.Update{{Member: "a", Score: 5, ID: "x"}}))(t)
		require.NoError(t, o[0].Err)
		return o[0].Result
	}
	require.False(t, send().Duplicate)
	w.until("the board to go", func() error {
		if w.total("fans:s1") > 0 {
			return errors.New("still there")
		}
		return nil
	})
	w.cared(true)
	require.Less(t, w.now.Sub(friday), 3*time.Minute)
	require.True(t, send().Duplicate)
	w.until("all to go", w.nothingLeft)
	require.Greater(t, w.now.Sub(friday), 10*time.Minute)
	require.False(t, send().Duplicate)
}

// An event's ids go after it was taken away.
func TestRequestIDsOfAnEventGo(t *testing.T) {
	t.Parallel()
	w := simulated(t, 2, Config{}, definition.Board{Name: "plain", Retain: time.Minute})
	all := must(definition.ParseFile([]byte(`events: {gift: [{board: plain, member: "{user}", score: 1}]}`)))(t)
	require.NoError(t, w.stores[0].Define(t.Context(), all))
	happen(t, w.stores[0], "gift", "x", "user", "a")
	require.NoError(t, w.stores[0].DeleteEvent(t.Context(), "gift", Moderator{}))
	w.until("all to go", w.nothingLeft)
}

// An instance is listed, and then nothing of it is written: whoever would have is gone.
func TestAListingGoesOfWhichNothingCame(t *testing.T) {
	t.Parallel()
	w := simulated(t, 2, Config{}, definition.Board{Name: "fans:{star}", MaxInstances: 1})
	d := must(w.stores[0].catalog.get(t.Context()))(t)
	must(w.stores[0].registerInstance(t.Context(), d, "fans:s1", d.boards["fans/1"], 0, listedPublic))(t)
	require.Len(t, w.allKeys(), 3)
	w.until("it to go", w.nothingLeft)
	require.LessOrEqual(t, w.now.Sub(friday), 2*relistAfter)
	w.write(w.stores[1], "fans:s2", "a", 1)
}

// eachStep runs a test for each step at which something may happen, until one is not reached. Each has a world of its
// own, whose connections end with it.
func eachStep(t *testing.T, test func(t *testing.T, step int) (reached bool)) {
	for step, reached := 0, true; reached; step += redistest.Stride {
		ended := t.Run(strconv.Itoa(step), func(t *testing.T) { reached = test(t, step) })
		reached = reached && ended
	}
}

// An instance that is about to be let go is written to, before any of the commands
// that let it go: what is acknowledged is there, and looked after.
func TestAWriteToAnInstanceThatIsLetGoIsKept(t *testing.T) {
	t.Parallel()
	for name, def := range map[string]definition.Board{
		"no periods": {Name: "fans:{star}", Retain: time.Hour},
		"periods":    {Name: "fans:{star}", Retain: time.Hour, Period: "hour"},
		"keep":       {Name: "fans:{star}", Period: "hour", Keep: new(0)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachStep(t, func(t *testing.T, step int) (reached bool) {
				w := simulated(t, 2, Config{}, def)
				w.write(w.stores[0], "fans:s1", "a", 1)
				w.pass(2*time.Hour + relistAfter)
				rdb := w.client()
				lets := New(rdb, patient)
				var period string
				var stays bool // what was written before
				older := "fans:s1"
				if def.Period != "" {
					older = definition.Qualify(older, "2026-11-20T10Z")
				}
				at(rdb, step, func() error {
					reached = true
					stays = def.Retain > 0 && w.total(older) > 0
					period = w.write(w.stores[1], "fans:s1", "b", 7).Period
					return nil
				})
				for range 4 { // it goes in several looks
					must(lets.housekeepDue(t.Context()))(t)
					if reached {
						break
					}
					w.pass(relistAfter)
				}
				if !reached {
					return false
				}
				page := must(w.stores[0].Page(t.Context(), definition.Qualify("fans:s1", period), 1, 10))(t)
				kept := false
				for _, e := range page.Entries {
					kept = kept || e.Member == "b" && e.Score == 7
				}
				require.True(t, kept, "step %d", step)
				if stays {
					require.NotZero(t, w.total(older), "step %d: it was there still, and stays", step)
				}
				for range 3 { // other nodes look, too
					w.tend()
					w.cared(true)
					require.Equal(t, page.Total, w.total(definition.Qualify("fans:s1", period)), "step %d", step)
					w.pass(listedFor)
				}
				w.until("all to go", w.nothingLeft)
				return reached
			})
		})
	}
}

// A node is held up before any of the commands that let an instance go, for so long
// that another does its work, and the instance has another life meanwhile.
func TestANodeThatWasHeldUpTakesNothingAway(t *testing.T) {
	t.Parallel()
	definitions := map[string]definition.Board{
		"retain": {Name: "fans:{star}", Retain: time.Hour},
		"keep":   {Name: "fans:{star}", Period: "hour", Keep: new(0)},
		"delete": {Name: "fans:{star}"},
	}
	for name, def := range definitions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachStep(t, func(t *testing.T, step int) (reached bool) {
				w := simulated(t, 2, Config{}, def)
				w.write(w.stores[0], "fans:s1", "a", 1)
				if name == "delete" {
					require.NoError(t, w.stores[0].Delete(t.Context(), "fans:{star}", Moderator{}))
				}
				w.pass(2*time.Hour + relistAfter)
				rdb := w.client()
				held := New(rdb, patient)
				must(held.Boards(t.Context()))(t)
				at(rdb, step, func() error {
					reached = true
					w.until("all to go", w.nothingLeft)
					w.pass(time.Minute)
					if name == "delete" {
						for _, s := range w.stores {
							must(s.catalog.readNewer(t.Context(), s.catalog.latest.Load()))(t)
						}
						require.NoError(t, w.stores[0].Define(t.Context(), definition.Set{Boards: []definition.Board{def}}))
					}
					w.write(w.stores[1], "fans:s1", "b", 7)
					return nil
				})
				held.housekeepDue(t.Context()) // may fail: what it has claimed is not there any more
				if reached {
					require.EqualValues(t, 1, w.total("fans:s1"), "step %d", step)
					w.tendAfter(listedFor)
					require.EqualValues(t, 1, w.total("fans:s1"), "step %d", step)
					w.cared(name != "delete")
				}
				return reached
			})
		})
	}
}

// A node dies before any of the commands by which periods are settled and go: another
// does what is left, and nothing twice.
func TestANodeThatDiesIsStoodInFor(t *testing.T) {
	t.Parallel()
	definitions := map[string]definition.Board{
		"periods":  {Name: "fans:{star}", Period: "hour", Keep: new(1), Retain: 6 * time.Hour},
		"activity": {Name: "fans:{star}", Ends: friday.Add(time.Hour), Retain: time.Hour},
		"delete":   {Name: "fans:{star}", Period: "hour"},
	}
	for name, def := range definitions {
		for _, delivered := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s,delivered=%v", name, delivered), func(t *testing.T) {
				t.Parallel()
				eachStep(t, func(t *testing.T, step int) (reached bool) {
					var cfg Config
					if delivered {
						cfg.Deliver = []string{AllBoards}
					}
					w := simulated(t, 2, cfg, def)
					want := []string{definition.Qualify("fans:s1", w.write(w.stores[0], "fans:s1", "a", 1).Period)}
					if name == "delete" {
						want = []string{}
						require.NoError(t, w.stores[0].Delete(t.Context(), "fans:{star}", Moderator{}))
					}
					rdb := w.client()
					dies := New(rdb, cfg)
					at(rdb, step, func() error { reached = true; return errors.New("died") })
					ids := make(map[string]bool)
					w.until("all to go", func() error {
						dies.housekeepDue(t.Context())
						due, _ := dies.Deliveries(t.Context(), 10)
						for _, d := range due {
							ids[d.ID] = true
							dies.Delivered(t.Context(), d)
						}
						if reached { // the other tends only from then on, as would be so if it came later
							for _, d := range must(w.stores[1].Deliveries(t.Context(), 10))(t) {
								ids[d.ID] = true
								require.NoError(t, w.stores[1].Delivered(t.Context(), d))
							}
						}
						if err := w.nothingLeft(); err != nil {
							w.pass(time.Minute + time.Second)
							return err
						}
						return nil
					})
					require.Equal(t, want, w.announced(), "step %d", step)
					if delivered {
						require.Len(t, ids, len(want), "one delivery id")
					}
					return reached
				})
			})
		}
	}
}

// A definition that changes has its instances looked after anew.
func TestAChangedDefinitionIsFollowed(t *testing.T) {
	t.Parallel()
	w := simulated(t, 2, Config{}, definition.Board{Name: "fans:{star}"}, definition.Board{Name: "cup"})
	for i := range familyPage + 10 {
		w.write(w.stores[0], fmt.Sprint("fans:s", i), "a", 1)
	}
	w.write(w.stores[0], "cup", "a", 1)
	w.tendAfter(relistAfter)
	require.Zero(t, w.next(), "nothing of them falls due")
	define := func(boards ...definition.Board) {
		require.NoError(t, w.stores[1].Define(t.Context(), definition.Set{Boards: boards}))
	}
	define(definition.Board{Name: "fans:{star}", Retain: time.Hour}, definition.Board{Name: "cup", Ends: w.now.Add(10 * time.Minute)})
	define(definition.Board{Name: "fans:{star}", Retain: time.Hour, Kind: "user"})
	w.until("the end", func() error { return missing([]string{"cup"}, w.announced()) })
	require.WithinDuration(t, friday.Add(relistAfter+10*time.Minute), w.now, 2*time.Second)
	w.write(w.stores[0], "fans:s1", "a", 1)
	define(definition.Board{Name: "cup", Ends: friday.Add(relistAfter + 10*time.Minute), Retain: time.Minute})
	w.until("the rest", func() error {
		if all := w.allKeys(); len(all) > 4+2 {
			return fmt.Errorf("%d", len(all))
		}
		return nil
	})
	w.cared(true)
	require.EqualValues(t, 1, w.total("fans:s1"))
	err := w.stores[0].Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: "cup", Ends: friday.Add(24 * time.Hour)}}})
	require.ErrorIs(t, err, definition.ErrConflict, "its result was announced")
	define(definition.Board{Name: "fans:{star}"})
	w.quiet()
	w.tendAfter(1000 * time.Hour)
	require.EqualValues(t, 1, w.total("fans:s1"), "it is retained for ever again")
}

// More instances than are gone through at one time: it goes on where it was.
func TestALargeFamilyIsGoneThroughInParts(t *testing.T) {
	t.Parallel()
	w := simulated(t, 1, Config{}, definition.Board{Name: "fans:{star}"})
	s, k := w.stores[0], w.stores[0].keys
	var all []redis.Z
	for i := range 2*familyMost + 10 {
		all = append(all, redis.Z{Member: fmt.Sprintf("fans:s %d", i)})
	}
	require.NoError(t, w.rdb.ZAdd(t.Context(), k.Instances("fans/1"), all...).Err())
	put := make(map[string]bool)
	parts := 0
	for next := "fans/1"; next != ""; parts++ {
		require.NoError(t, w.rdb.Del(t.Context(), k.Agenda()).Err())
		require.NoError(t, w.rdb.ZAdd(t.Context(), k.Agenda(), redis.Z{Member: next}).Err())
		due, _, err := s.claimTurns(t.Context(), 10)
		require.NoError(t, err)
		require.Len(t, due, 1)
		require.NoError(t, s.housekeep(t.Context(), due[0]))
		members := must(w.rdb.ZRange(t.Context(), k.Agenda(), 0, -1).Result())(t)
		next = ""
		for _, m := range members {
			if strings.Contains(m, "/") {
				require.Empty(t, next, "one place to go on")
				next = m
			} else {
				put[m] = true
			}
		}
		require.LessOrEqual(t, len(members), familyMost+1)
	}
	require.Equal(t, 3, parts)
	require.Len(t, put, len(all))
}

// Data whose definition is not known stay: somebody has tampered with Redis.
func TestWhatIsOfNoKnownDefinitionStays(t *testing.T) {
	t.Parallel()
	w := simulated(t, 1, Config{}, definition.Board{Name: "fans:{star}", Retain: time.Hour}, definition.Board{Name: "b"})
	w.write(w.stores[0], "fans:s1", "a", 1)
	require.NoError(t, w.rdb.HDel(t.Context(), keyspace.New("rc").Definitions(), boardField+"fans/1").Err())
	require.NoError(t, w.rdb.HSet(t.Context(), keyspace.New("rc").Definitions(), "version", "x").Err())
	for range 5 {
		w.tendAfter(time.Hour)
	}
	w.cared(true)
	w.store(Config{})
	require.NoError(t, w.stores[1].Define(t.Context(),
		definition.Set{Boards: []definition.Board{{Name: "fans:{star}", Retain: 100 * time.Hour}}}))
	require.EqualValues(t, 1, w.total("fans:s1"))
	w.until("all to go", w.nothingLeft)
}

// Redis loses all it had: what nodes know to be defined is defined again, and not what
// was being deleted.
func TestRedisLosesAll(t *testing.T) {
	t.Parallel()
	w := simulated(t, 2, Config{}, definition.Board{Name: "fans:{star}", Period: "hour"}, definition.Board{Name: "old"})
	w.write(w.stores[0], "fans:s1", "a", 1)
	w.write(w.stores[0], "old", "a", 1)
	require.NoError(t, w.stores[1].Delete(t.Context(), "old", Moderator{}))
	w.tendAfter(lease)
	w.tend()
	require.NoError(t, w.rdb.FlushAll(t.Context()).Err())
	w.tendAfter(time.Minute)
	period := w.write(w.stores[0], "fans:s1", "b", 1).Period
	for _, s := range w.stores {
		must(s.catalog.readNewer(t.Context(), s.catalog.latest.Load()))(t)
		require.Len(t, must(s.Boards(t.Context()))(t), 1)
	}
	w.until("the end", func() error { return missing([]string{definition.Qualify("fans:s1", period)}, w.announced()) })
}

// A family is deleted while all nodes write to it, one of which has not looked at the
// definitions since: nothing remains, and a new one begins anew.
func TestADeletedFamilyLeavesNothing(t *testing.T) {
	t.Parallel()
	families := func(time.Time) []definition.Board {
		return []definition.Board{{Name: "fans:{star}"}, {Name: "days:{star}", Period: "day"}, {Name: "plain"}}
	}
	worlds(t, 3, Config{}, families, func(t *testing.T, w *world) {
		stale := w.stores[2]
		stale.catalog.mu.Lock()
		stale.catalog.failed = time.Now().Add(time.Hour) // it takes Redis to be away
		stale.catalog.mu.Unlock()
		boards := []string{"plain"}
		for i := range 30 {
			boards = append(boards, fmt.Sprintf("fans:s%d", i), fmt.Sprintf("days:s%d", i))
		}
		began := make(chan struct{}, 3)
		var wg sync.WaitGroup
		for i, s := range w.stores {
			wg.Go(func() {
				for n, gone := 0, 0; gone < len(boards); n++ {
					o, err := s.Apply(t.Context(), boards[n%len(boards)],
						[]definition.Update{{Member: fmt.Sprint(i), Score: 1, ID: fmt.Sprintf("%d-%d", i, n), Data: "1"}})
					if err == nil {
						err = o[0].Err
					}
					if errors.Is(err, definition.ErrUnknownBoard) {
						gone++
					} else if err != nil {
						t.Error(err)
						return
					}
					if n == len(boards) {
						began <- struct{}{}
					}
				}
			})
		}
		for range w.stores {
			redistest.Receive(t, "a value from began", began)
		}
		for _, board := range []string{"fans:{star}", "days:{star}", "plain"} {
			require.NoError(t, w.stores[0].Delete(t.Context(), board, Moderator{}))
		}
		if w.set != nil {
			redistest.Eventually(t, "the other node to know", func() error {
				_, err := w.stores[1].Board(t.Context(), "plain")
				if !errors.Is(err, definition.ErrUnknownBoard) {
					return errors.New("not yet")
				}
				return nil
			})
			w.pass(lease)
		}
		redistest.Wait(t, "the callers of the test", wg.Wait)
		err := w.stores[0].Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: "plain", Order: definition.Asc}}})
		require.ErrorIs(t, err, definition.ErrConflict, "its data are still there")
		w.until("nothing to remain", w.nothingLeft)
		w.until("the definitions to go", func() error {
			fields := must(w.rdb.HKeys(t.Context(), keyspace.New("rc").Definitions()).Result())(t)
			if len(fields) > 2 { // the version and the layout
				return fmt.Errorf("there is %v", fields)
			}
			return nil
		})
		require.NoError(t, w.stores[0].Define(t.Context(), definition.Set{Boards: []definition.Board{{Name: "plain", Order: definition.Asc}}}))
		require.Nil(t, w.write(w.stores[0], "plain", "0", 1).Previous)
	})
}

// An instance is deleted, and begins anew when it is written to.
func TestADeletedInstanceBeginsAnew(t *testing.T) {
	t.Parallel()
	w := simulated(t, 2, Config{}, definition.Board{Name: "fans:{star}", Period: "hour"})
	send := func() Result {
		o := must(w.stores[0].Apply(t.Context(), "fans:s1", []definition.Update{{Member: "a", Score: 5, ID: "x"}}))(t)
		return o[0].Result
	}
	send()
	w.tendAfter(90 * time.Minute)
	w.write(w.stores[0], "fans:s1", "b", 1)
	w.pass(relistAfter)
	require.NoError(t, w.stores[1].Delete(t.Context(), "fans:s1", Moderator{}))
	require.Zero(t, w.total("fans:s1"))
	require.False(t, send().Duplicate)
	w.cared(true)
	w.tend()
	require.EqualValues(t, 1, w.total("fans:s1"))
	require.NoError(t, w.stores[1].Delete(t.Context(), "fans:s1", Moderator{}))
	w.tendAfter(relistAfter)
	require.NoError(t, w.nothingLeft())
}

// On a cluster, each script finds its keys on one node.
func TestTendOnACluster(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	url, masters := cluster.URL, cluster.Masters
	w := &world{t: t, url: url}
	now := time.Now().UTC()
	w.open(2, Config{}, []definition.Board{{Name: "fans:{star}", Period: "1s", Base: now.Truncate(time.Second), Keep: new(1)}})
	var want []string
	for i := range 20 {
		board := fmt.Sprint("fans:s", i)
		want = append(want, definition.Qualify(board, w.write(w.stores[i%2], board, "a", 1).Period))
	}
	w.until("all to be announced", func() error { return missing(want, w.announced()) })
	require.Len(t, w.announced(), len(want))
	w.until("periods to go", func() error {
		for i := range 20 {
			if list, err := w.stores[0].periodRecords(t.Context(), nil, fmt.Sprint("fans:s", i)); err != nil || len(list) > 0 {
				return fmt.Errorf("%v, %v", list, err)
			}
		}
		return nil
	})
	w.write(w.stores[0], "fans:s1", "a", 1)
	require.NoError(t, w.stores[1].Delete(t.Context(), "fans:{star}", Moderator{}))
	w.until("nothing to remain", func() error {
		for _, m := range masters {
			for _, key := range must(m.Admin().Keys(t.Context(), "*").Result())(t) {
				if keys := keyspace.New("rc"); key != keys.Definitions() && key != keys.Audit() {
					return fmt.Errorf("there is %s", key)
				}
			}
		}
		return nil
	})
}

// A family is deleted while a change of it is still gone through: its data stay for as
// long as other nodes may write.
func TestADeletionWaitsForTheOthers(t *testing.T) {
	t.Parallel()
	w := simulated(t, 2, Config{}, definition.Board{Name: "fans:{star}"})
	w.write(w.stores[0], "fans:s1", "a", 1)
	require.NoError(t, w.stores[0].scheduleNow(t.Context(), "fans/1 fans:s0"))
	require.NoError(t, w.stores[0].Delete(t.Context(), "fans:{star}", Moderator{}))
	there := keysOf(w.stores[0], "fans:s1", "", "a").Meta
	for range 3 {
		w.tend()
		require.Contains(t, w.allKeys(), there)
		w.pass(time.Second)
	}
	require.NoError(t, w.stores[0].scheduleNow(t.Context(), "fans/1"))
	w.tend()
	require.Contains(t, w.allKeys(), there)
	w.until("all to go", w.nothingLeft)
}
