package ranking

import (
	"cmp"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/script"
	"rankcast/ranking/redistest"
)

// Who is hidden on a board leaves its ranks, and those of its other periods, counts on
// unseen, and comes back to the place that its score gives it.
func TestHideOnBoard(t *testing.T) {
	t.Parallel()
	for _, ties := range []definition.Ties{definition.First, definition.Shared, definition.Dense, definition.ByMember} {
		t.Run(string(ties), func(t *testing.T) {
			redistest.Engines(t, func(t *testing.T, url string) {
				a, b := newNode(t, url), newNode(t, url)
				define(t, a, definition.Board{Name: "b", Ties: ties}, definition.Board{Name: "other", Ties: ties})
				for _, board := range []string{"b", "other"} {
					for _, m := range []string{"p", "q", "r", "s"} {
						score := map[string]int64{"p": 9, "q": 9, "r": 5, "s": 1}[m]
						apply(t, a, board, definition.Update{Member: m, Score: score, Data: `{"of":"` + m + `"}`})
					}
				}
				apply(t, a, "b", definition.Update{Member: "sole", Score: 7})
				apply(t, a, "other", definition.Update{Member: "sole", Score: 7})
				all := entriesOf(t, a, "b")
				require.NoError(t, a.Hide(t.Context(), "b", "sole", Moderator{}))
				require.Equal(t, map[definition.Ties]string{definition.First: "r 5 #3", definition.Shared: "r 5 #3",
					definition.Dense: "r 5 #2", definition.ByMember: "r 5 #3"}[ties], entriesOf(t, b, "b")[2])
				why := Moderator{Reason: "plays by machine", By: "mod-1"}
				require.NoError(t, a.Hide(t.Context(), "b", "q", why))
				require.NoError(t, a.Hide(t.Context(), "b", "s", why))
				require.Equal(t, []string{"p 9 #1", "r 5 #2"}, entriesOf(t, b, "b"))
				require.Equal(t, all, entriesOf(t, b, "other"))

				// Its updates are taken, also by a node that has not heard of it.
				o := apply(t, b, "b", definition.Update{Member: "q", Score: 1, ID: "1"})
				require.Equal(t, Outcome{Result: Result{Current: &Standing{10, 0}, Previous: &Standing{9, 0}}}, o)
				o = apply(t, a, "b", definition.Update{Member: "q", Score: 1, ID: "1"})
				require.Equal(t, Outcome{Result: Result{Current: &Standing{10, 0}, Previous: &Standing{9, 0}, Duplicate: true}}, o)
				o = apply(t, b, "b", definition.Update{Member: "new", Score: 3})
				require.EqualValues(t, 3, o.Result.Current.Rank)
				require.ErrorIs(t, errorOf(a.Around(t.Context(), "b", "q", 1)), definition.ErrUnknownMember)
				require.Equal(t, HiddenPage{Members: []HiddenMember{{"q", new(int64(10)), false}, {"s", new(int64(1)), false},
					{"sole", new(int64(7)), false}}, Total: 3}, must(a.Hidden(t.Context(), "b", "", 100))(t))

				require.NoError(t, b.Show(t.Context(), "b", "q", why))
				require.NoError(t, b.Show(t.Context(), "b", "s", why))
				p := must(a.Page(t.Context(), "b", 1, 10))(t)
				require.Equal(t, []string{"q 10 #1", "p 9 #2", "r 5 #3", "new 3 #4", "s 1 #5"}, entriesOf(t, a, "b"))
				require.Equal(t, `{"of":"q"}`, p.Entries[0].Data)

				lines := must(b.Audit(t.Context(), "", 3))(t)
				require.Len(t, lines, 3)
				require.Equal(t, Action{Line: lines[0].Line, At: lines[0].At, Action: "show", Board: "b", Member: "s", Moderator: why}, lines[0])
				more := must(b.Audit(t.Context(), lines[2].Line, 3))(t)
				require.Len(t, more, 2)
				require.Equal(t, []string{"hide", "q"}, []string{more[0].Action, more[0].Member})
			})
		})
	}
}

// Who is hidden everywhere of a kind is so on all boards of it, in all their periods, and
// on those that come to be; whoever writes.
func TestHideEverywhere(t *testing.T) {
	t.Parallel()
	boards := func(now time.Time) []definition.Board {
		return []definition.Board{
			{Name: "week", Period: "week", Kind: "user"}, {Name: "fans:{star}", Kind: "user", Ties: definition.Dense},
			{Name: "stars", Kind: "star"},
		}
	}
	worlds(t, 2, Config{}, boards, func(t *testing.T, w *world) {
		s := w.stores[0]
		boards := []string{"week", "fans:a", "fans:b", "stars"}
		for _, b := range boards {
			w.write(s, b, "u", 5)
			w.write(s, b, "v", 3)
		}
		if w.set != nil {
			w.tendAfter(7 * 24 * time.Hour)
			w.write(s, "week", "u", 5)
			boards = append(boards, "week@-1")
		}
		require.NoError(t, s.HideEverywhere(t.Context(), "user", "u", Moderator{}))
		// At once where it writes, with or without anything there before.
		require.EqualValues(t, 0, w.write(s, "fans:new", "u", 5).Current.Rank)
		require.EqualValues(t, 0, w.write(s, "fans:a", "u", 1).Current.Rank)
		require.NoError(t, w.shows("fans:new", 0))
		require.NoError(t, w.shows("fans:a", 1))
		w.until("all boards to be gone through", func() error {
			for _, b := range boards {
				want := int64(1)
				if b == "stars" {
					want = 2
				}
				if b == "week" && w.set != nil {
					want = 0
				}
				if err := w.shows(b, want); err != nil {
					return err
				}
			}
			return nil
		})
		list := must(w.stores[1].HiddenEverywhere(t.Context(), "user", "", 1))(t)
		require.Equal(t, HiddenEverywherePage{[]string{"u"}, "", 1}, list)
		hidden := must(w.stores[1].Hidden(t.Context(), "fans:a", "", 1))(t)
		require.Equal(t, HiddenPage{Members: []HiddenMember{{"u", new(int64(6)), true}}, Total: 1}, hidden)

		require.NoError(t, w.stores[1].ShowEverywhere(t.Context(), "user", "u", Moderator{}))
		w.until("all to be shown again", func() error {
			for _, b := range boards {
				if b == "week" && w.set != nil {
					continue
				}
				if err := w.shows(b, 2); err != nil {
					return err
				}
			}
			return w.shows("fans:new", 1)
		})
		require.Equal(t, []string{"u 6 #1", "v 3 #2"}, entriesOf(t, s, "fans:a"))
	})
}

// A node that goes through the boards of a kind knows whom another node has just hidden, also right after a read of the definitions.
func TestHideEverywhereByAnotherNode(t *testing.T) {
	t.Parallel()
	w := simulated(t, 2, Config{}, definition.Board{Name: "fans:{star}", Kind: "user"})
	a, b := w.stores[0], w.stores[1]
	tend := func() {
		for must(b.housekeepDue(t.Context()))(t) {
		}
	}
	w.write(a, "fans:s", "u", 5)
	w.quiet()
	for range 3 {
		for shown, act := range []func(context.Context, string, string, Moderator) error{a.HideEverywhere, a.ShowEverywhere} {
			must(b.catalog.readFresh(t.Context()))(t)
			require.NoError(t, act(t.Context(), "user", "u", Moderator{}))
			for range 3 { // the family, its instances, and what they list
				tend()
				w.pass(grace / 80)
			}
			require.NoError(t, w.shows("fans:s", int64(shown)))
		}
	}
}

// A node that has not heard yet shows nobody again whom another has hidden, and hides
// nobody who was shown: Redis tells it.
func TestHideBehindANodesBack(t *testing.T) {
	onTwoNodes(t, []definition.Board{{Name: "b"}}, func(t *testing.T, a, b *Store) {
		apply(t, b, "b", definition.Update{Member: "m", Score: 5})
		for range 3 {
			stall(b)
			require.NoError(t, a.Hide(t.Context(), "b", "m", Moderator{}))
			require.EqualValues(t, 0, apply(t, b, "b", definition.Update{Member: "m", Score: 1}).Result.Current.Rank)
			require.Empty(t, entriesOf(t, a, "b"))
			stall(b)
			require.NoError(t, a.Show(t.Context(), "b", "m", Moderator{}))
			require.EqualValues(t, 1, apply(t, b, "b", definition.Update{Member: "m", Score: 1}).Result.Current.Rank)
		}
		require.Equal(t, []string{"m 11 #1"}, entriesOf(t, a, "b"))
	})
}

// What a node knows of who is hidden is what Redis has, whatever of it the node has seen
// before.
func TestModerationIsCaughtUpWith(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		a, b := newNode(t, url), newNode(t, url)
		define(t, a, definition.Board{Name: "b"})
		many := moderationPage + 5
		for i := range many {
			require.NoError(t, a.setHidden(t.Context(), Action{Action: actionHide, Board: "b", Member: fmt.Sprint("m", i)}))
		}
		look := func(s *Store) *moderation { return lookAtHidden(t, s) }
		require.Equal(t, many, look(b).count("b/b"))
		require.NoError(t, a.setHidden(t.Context(), Action{Action: actionShow, Board: "b", Member: "m7"}))
		require.NoError(t, a.setHidden(t.Context(), Action{Action: actionShow, Board: "b", Member: "m8"}))
		require.NoError(t, a.setHidden(t.Context(), Action{Action: actionHide, Board: "b", Member: "m8"}))
		require.False(t, look(b).hides("b", "member", "m7"))
		require.True(t, look(b).hides("b", "member", "m8"))
		require.Equal(t, contentOf(look(newNode(t, url))), contentOf(look(b)))

		// Redis has lost the last of it, and gets it back.
		rdb := redistest.Dial(t, url)
		require.NoError(t, rdb.Del(t.Context(), keyspace.New("rc").Shown()).Err())
		require.NoError(t, rdb.ZRem(t.Context(), keyspace.New("rc").Hidden(), "b/b\x1fm8").Err())
		require.NoError(t, rdb.HSet(t.Context(), keyspace.New("rc").Definitions(), "moderated", a.catalog.latest.Load().hidden.revision-5).Err())
		look(b)
		for _, s := range []*Store{b, newNode(t, url)} {
			require.True(t, look(s).hides("b", "member", "m8"))
			require.True(t, look(s).hides("b", "member", "m9"))
		}
		require.NoError(t, rdb.FlushAll(t.Context()).Err())
		look(b)
		require.Equal(t, many-1, look(newNode(t, url)).count("b/b"))
	})
}

// On a board that a warm node makes behind the back of whoever hides, and on one that a
// family's definition gets another kind, the member is gone when all nodes know.
func TestHideWhereOthersDoNotKnowYet(t *testing.T) {
	t.Parallel()
	w := simulated(t, 2, Config{}, definition.Board{Name: "fans:{star}", Kind: "user"})
	a, b := w.stores[0], w.stores[1]
	w.write(b, "fans:a", "v", 1)
	stall(b)
	require.NoError(t, a.Hide(t.Context(), "fans:b", "u", Moderator{}))
	require.NoError(t, a.HideEverywhere(t.Context(), "user", "v", Moderator{}))
	require.NoError(t, a.HideEverywhere(t.Context(), "giver", "u", Moderator{}))
	w.write(b, "fans:b", "u", 5)
	w.write(b, "fans:c", "v", 5)
	w.write(b, "fans:c", "u", 5)
	aged(b, time.Hour)
	w.until("the look after the grace", func() error { return cmp.Or(w.shows("fans:b", 0), w.shows("fans:c", 1)) })
	// With another kind, others are hidden.
	define(t, a, definition.Board{Name: "fans:{star}", Kind: "giver"})
	w.until("the look after the change", func() error { return cmp.Or(w.shows("fans:a", 1), w.shows("fans:c", 1)) })
	require.Equal(t, []string{"v 5 #1"}, entriesOf(t, b, "fans:c"))
}

// What goes takes with it who is hidden there; what was hidden on what is no more can be
// shown.
func TestHiddenOnWhatGoes(t *testing.T) {
	t.Parallel()
	w := simulated(t, 1, Config{}, definition.Board{Name: "fans:{star}", Retain: time.Hour}, definition.Board{Name: "b"})
	s := w.stores[0]
	for _, board := range []string{"fans:a", "fans:b", "b"} {
		w.write(s, board, "u", 1)
		require.NoError(t, s.Hide(t.Context(), board, "u", Moderator{}))
	}
	require.NoError(t, s.Delete(t.Context(), "fans:a", Moderator{}))
	require.NoError(t, s.Delete(t.Context(), "b", Moderator{}))
	w.until("all to go", func() error {
		n, err := w.rdb.ZCard(t.Context(), keyspace.New("rc").Hidden()).Result()
		if err == nil && n > 0 {
			err = fmt.Errorf("%d are still hidden", n)
		}
		return err
	})
	require.NoError(t, s.setHidden(t.Context(), Action{Action: actionHide, Board: "gone", Member: "u"}))
	require.NoError(t, s.Show(t.Context(), "gone", "u", Moderator{}))
	require.ErrorIs(t, s.Hide(t.Context(), "gone", "u", Moderator{}), definition.ErrUnknownBoard)
}

// A board whose moderation is ahead of what Redis knows, because that was lost with the
// nodes that knew, takes updates all the same.
func TestModerationThatWasLost(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		a := newNode(t, url)
		define(t, a, definition.Board{Name: "b"})
		apply(t, a, "b", definition.Update{Member: "m", Score: 1})
		require.NoError(t, a.Hide(t.Context(), "b", "m", Moderator{}))
		rdb, k := redistest.Dial(t, url), keyspace.New("rc")
		require.NoError(t, rdb.Del(t.Context(), k.Hidden(), k.Shown()).Err())
		require.NoError(t, rdb.HDel(t.Context(), k.Definitions(), "moderated").Err())
		b := newNode(t, url)
		require.Equal(t, Result{Current: &Standing{2, 1}, Previous: &Standing{1, 0}},
			apply(t, b, "b", definition.Update{Member: "m", Score: 1}).Result)
		require.NoError(t, b.Hide(t.Context(), "b", "m", Moderator{}))
		require.EqualValues(t, 0, apply(t, b, "b", definition.Update{Member: "m", Score: 1}).Result.Current.Rank)
	})
}

// Hiding many, and showing one, while others write and moderate too by what was before:
// in the end all is as it was asked for last.
func TestModerationInSteps(t *testing.T) {
	onTwoNodes(t, []definition.Board{{Name: "b"}}, func(t *testing.T, a, b *Store) {
		var updates []definition.Update
		for i := range 2*moderateAtOnce + 9 {
			updates = append(updates, definition.Update{Member: fmt.Sprint("m", i), Score: 1})
		}
		must(a.Apply(t.Context(), "b", updates))(t)
		require.NoError(t, b.Hide(t.Context(), "b", "first", Moderator{}))
		stall(b)
		old := b.catalog.latest.Load()
		for _, u := range updates {
			require.NoError(t, a.setHidden(t.Context(), Action{Action: actionHide, Board: "b", Member: u.Member}))
		}
		d := must(a.catalog.readFresh(t.Context()))(t)
		periods := must(a.periodRecords(t.Context(), nil, "b"))(t)
		// Another, who knows less, comes between the parts.
		steps := 0
		a.rdb.AddHook(&cutter{answered: func(sc string) {
			if sc == script.Moderate.Name {
				steps++
				require.NoError(t, b.moderate(t.Context(), "b", old.boards["b/0"], old.hidden, periods))
			}
		}})
		require.NoError(t, a.moderate(t.Context(), "b", d.boards["b/0"], d.hidden, periods))
		require.Greater(t, steps, 3)
		require.Empty(t, entriesOf(t, a, "b"))

		// One who hides by a flag while another shows.
		require.NoError(t, a.setHidden(t.Context(), Action{Action: actionShow, Board: "b", Member: "m0"}))
		d = must(a.catalog.readFresh(t.Context()))(t)
		require.NoError(t, a.moderate(t.Context(), "b", d.boards["b/0"], d.hidden, periods))
		require.Equal(t, []string{"m0 1 #1"}, entriesOf(t, a, "b"))
	})
}

func TestImpossibleModerationIsRefused(t *testing.T) {
	t.Parallel()
	s := newNode(t, redistest.Embedded(t))
	define(t, s, definition.Board{Name: "b", Period: "day"})
	ctx := t.Context()
	refused(t, s.Hide(ctx, "b@-1", "m", Moderator{}), "board")
	refused(t, s.Hide(ctx, "b", "\n", Moderator{}), "member")
	refused(t, s.Hide(ctx, "b", "m", Moderator{Reason: "\n"}), "reason")
	refused(t, s.Hide(ctx, "b", "m", Moderator{By: "\xff"}), "by")
	refused(t, s.HideEverywhere(ctx, "Users", "m", Moderator{}), "kind")
	require.ErrorIs(t, s.Hide(ctx, "none", "m", Moderator{}), definition.ErrUnknownBoard)
	refused(t, errorOf(s.Hidden(ctx, "b", "", MaxHiddenPage+1)), "limit")
	refused(t, errorOf(s.HiddenEverywhere(ctx, "user", "", 0)), "limit")
	refused(t, errorOf(s.Audit(ctx, "x", 1)), "cursor")
	refused(t, errorOf(s.Audit(ctx, "", MaxAudit+1)), "limit")
	require.Empty(t, must(s.Audit(ctx, "", 10))(t))
}

// A board with few members costs few calls, however many members of the kind were hidden since.
func TestHidesCostWhatTheBoardHas(t *testing.T) {
	onNode(t, []definition.Board{{Name: "b", Kind: "user"}}, func(t *testing.T, s *Store) {
		apply(t, s, "b", definition.Update{Member: "m7", Score: 1})
		apply(t, s, "b", definition.Update{Member: "other", Score: 2})
		require.NoError(t, s.Hide(t.Context(), "b", "x", Moderator{})) // since then Redis knows the script
		const many = 3 * moderateAtOnce
		for i := range many {
			require.NoError(t, s.HideEverywhere(t.Context(), "user", fmt.Sprint("m", i), Moderator{}))
		}
		calls := count(s)
		d, _, err := s.leasedDefinitions(t.Context())
		require.NoError(t, err)
		periods := must(s.periodRecords(t.Context(), nil, "b"))(t)
		require.NoError(t, s.moderate(t.Context(), "b", d.boards["b/0"], d.hidden, periods))
		require.Equal(t, 2, calls.times(script.Moderate), "it is begun, and ended with all changes")
		page := must(s.Page(t.Context(), "b", 1, 10))(t)
		require.EqualValues(t, 1, page.Total)
		require.Equal(t, "other", page.Entries[0].Member)
		require.NoError(t, s.ShowEverywhere(t.Context(), "user", "m7", Moderator{}))
		d, _, err = s.leasedDefinitions(t.Context())
		require.NoError(t, err)
		require.NoError(t, s.moderate(t.Context(), "b", d.boards["b/0"], d.hidden, periods))
		page = must(s.Page(t.Context(), "b", 1, 10))(t)
		require.EqualValues(t, 2, page.Total)
	})
}

// The deletion of a board with many hidden members shows many in one call, and no others. Each node knows.
func TestADeletedBoardForgetsManyHiddenMembers(t *testing.T) {
	onTwoNodes(t, nil, func(t *testing.T, s, other *Store) {
		require.NoError(t, s.rdb.HSet(t.Context(), s.keys.Definitions(), "moderated", 2).Err())
		all := []redis.Z{
			{Score: 1, Member: hiddenEntry("b/ba", "m1")}, {Score: 1, Member: hiddenEntry("b/bc", "kept")},
			{Score: 1, Member: hiddenEntry("k/user", "m1")},
		}
		const many = 3*unhiddenAtOnce + 1
		for i := range many {
			all = append(all, redis.Z{Score: 2, Member: hiddenEntry("b/b", fmt.Sprint("m", i))})
		}
		require.NoError(t, s.rdb.ZAdd(t.Context(), s.keys.Hidden(), all...).Err())
		var old []redis.Z
		for i := range maxEmptied - 2*unhiddenAtOnce {
			old = append(old, redis.Z{Score: 1, Member: hiddenEntry("b/old", fmt.Sprint(i))})
		}
		require.NoError(t, s.rdb.ZAdd(t.Context(), s.keys.Shown(), old...).Err())
		require.Equal(t, many, lookAtHidden(t, s).count("b/b"))
		require.Equal(t, many, lookAtHidden(t, other).count("b/b"))
		require.NoError(t, s.forgetHidden(t.Context(), "ba")) // since then Redis knows the script
		calls := 0
		s.rdb.AddHook(&cutter{answered: func(string) { calls++ }})
		require.NoError(t, s.forgetHidden(t.Context(), "b"))
		require.Equal(t, 4, calls)
		require.Equal(t, []string{hiddenEntry("b/bc", "kept"), hiddenEntry("k/user", "m1")},
			s.rdb.ZRange(t.Context(), s.keys.Hidden(), 0, -1).Val())
		for _, node := range []*Store{s, other} {
			m := lookAtHidden(t, node)
			require.Zero(t, m.count("b/b"))
			require.Equal(t, 1, m.count("b/bc"))
			require.True(t, m.hides("b", "user", "m1"))
		}
		require.EqualValues(t, many+1, s.rdb.ZCard(t.Context(), s.keys.Shown()).Val(), "older ones had to go")
		require.Equal(t, "1", s.rdb.HGet(t.Context(), s.keys.Definitions(), forgottenField).Val())
	})
}

// After a restart, Redis has all members of a sorted set in other places. A moderation that is reading them to hide some
// finds all of them.
func TestModerationOutlivesARestartOfRedis(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t, "--appendonly", "yes")
	s := newNode(t, r.URL())
	define(t, s, definition.Board{Name: "b", Kind: "user"})
	const members = 3*moderationPage + 7
	applyScores(t, s, "b", members, func(int) int64 { return 1 })
	find := func() (n int) {
		found := make(map[string]bool)
		for _, name := range ShardNames("b", Shards) {
			require.NoError(t, s.scanMembers(t.Context(), s.keys.Board(name, "").Members, func(member, _ string) { found[member] = true }))
		}
		return len(found)
	}
	require.Equal(t, members, find(), "Redis knows the script now")
	restarted := false
	after(t, s, script.Scan, 0, func() {
		restarted = true
		r.Kill()
		r.Start()
		redistest.Eventually(t, "Redis to answer", func() error { return s.Ping(t.Context()) })
	})
	require.Equal(t, members, find())
	require.True(t, restarted)
}
