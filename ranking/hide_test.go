package ranking

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

// entriesOf lists "member score rank" of a board.
func entriesOf(t testing.TB, s *Store, board string) []string {
	t.Helper()
	p, err := s.Page(t.Context(), board, 1, 100)
	require.NoError(t, err)
	list := []string{}
	for _, e := range p.Entries {
		list = append(list, fmt.Sprintf("%s %d #%d", e.Member, e.Score, e.Rank))
	}
	return list
}

// Who is hidden on a board leaves its ranks, and those of its other periods, counts on
// unseen, and comes back to the place that its score gives it.
func TestHideOnBoard(t *testing.T) {
	for _, ties := range []Ties{First, Shared, Dense, ByMember} {
		t.Run(string(ties), func(t *testing.T) {
			redistest.Engines(t, func(t *testing.T, url string) {
				a, b := newNode(t, url), newNode(t, url)
				define(t, a, Definition{Board: "b", Ties: ties}, Definition{Board: "other", Ties: ties})
				for _, board := range []string{"b", "other"} {
					for _, m := range []string{"p", "q", "r", "s"} {
						score := map[string]int64{"p": 9, "q": 9, "r": 5, "s": 1}[m]
						apply(t, a, board, Update{Member: m, Score: score, Data: `{"of":"` + m + `"}`})
					}
				}
				all := entriesOf(t, a, "b")
				why := Moderator{Reason: "plays by machine", By: "mod-1"}
				require.NoError(t, a.Hide(t.Context(), "b", "q", why))
				require.NoError(t, a.Hide(t.Context(), "b", "s", why))
				next := map[Ties]string{Dense: "r 5 #2"}[ties]
				if next == "" {
					next = "r 5 #2"
				}
				require.Equal(t, []string{"p 9 #1", next}, entriesOf(t, b, "b"))
				require.Equal(t, all, entriesOf(t, b, "other"))

				// Its updates are taken, also by a node that has not heard of it.
				o := apply(t, b, "b", Update{Member: "q", Score: 1, ID: "1"})
				require.Equal(t, Outcome{Result: Result{Current: &Standing{10, 0}, Previous: &Standing{9, 0}}}, o)
				o = apply(t, a, "b", Update{Member: "q", Score: 1, ID: "1"})
				require.Equal(t, Outcome{Result: Result{Current: &Standing{10, 0}, Previous: &Standing{9, 0}, Duplicate: true}}, o)
				o = apply(t, b, "b", Update{Member: "new", Score: 3})
				require.EqualValues(t, 3, o.Result.Current.Rank)
				_, err := a.Around(t.Context(), "b", "q", 1)
				require.ErrorIs(t, err, ErrUnknownMember)
				hidden, err := a.Hidden(t.Context(), "b")
				require.NoError(t, err)
				require.Equal(t, []HiddenMember{{"q", new(int64(10)), false}, {"s", new(int64(1)), false}}, hidden)

				require.NoError(t, b.Show(t.Context(), "b", "q", why))
				require.NoError(t, b.Show(t.Context(), "b", "s", why))
				p, err := a.Page(t.Context(), "b", 1, 10)
				require.NoError(t, err)
				require.Equal(t, []string{"q 10 #1", "p 9 #2", "r 5 #3", "new 3 #4", "s 1 #5"}, entriesOf(t, a, "b"))
				require.Equal(t, `{"of":"q"}`, p.Entries[0].Data)

				lines, err := b.Audit(t.Context(), "", 3)
				require.NoError(t, err)
				require.Len(t, lines, 3)
				require.Equal(t, Action{Line: lines[0].Line, At: lines[0].At, Action: "show", Board: "b", Member: "s", Moderator: why}, lines[0])
				more, err := b.Audit(t.Context(), lines[2].Line, 3)
				require.NoError(t, err)
				require.Len(t, more, 1)
				require.Equal(t, []string{"hide", "q"}, []string{more[0].Action, more[0].Member})
			})
		})
	}
}

// Who is hidden everywhere of a kind is so on all boards of it, in all their periods, and
// on those that come to be; whoever writes.
func TestHideEverywhere(t *testing.T) {
	boards := func(now time.Time) []Definition {
		return []Definition{
			{Board: "week", Period: "week", Kind: "user"}, {Board: "fans:{star}", Kind: "user", Ties: Dense},
			{Board: "stars", Kind: "star"},
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
			w.pass(7 * 24 * time.Hour)
			w.tend()
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
		list, err := w.stores[1].HiddenEverywhere(t.Context(), "user")
		require.NoError(t, err)
		require.Equal(t, []string{"u"}, list)
		hidden, err := w.stores[1].Hidden(t.Context(), "fans:a")
		require.NoError(t, err)
		require.Equal(t, []HiddenMember{{"u", new(int64(6)), true}}, hidden)

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

// A node that has not heard yet shows nobody again whom another has hidden, and hides
// nobody who was shown: Redis tells it.
func TestHideBehindANodesBack(t *testing.T) {
	redistest.Engines(t, func(t *testing.T, url string) {
		a, b := newNode(t, url), newNode(t, url)
		define(t, a, Definition{Board: "b"})
		apply(t, b, "b", Update{Member: "m", Score: 5})
		for range 3 {
			stall(b)
			require.NoError(t, a.Hide(t.Context(), "b", "m", Moderator{}))
			require.EqualValues(t, 0, apply(t, b, "b", Update{Member: "m", Score: 1}).Result.Current.Rank)
			require.Empty(t, entriesOf(t, a, "b"))
			stall(b)
			require.NoError(t, a.Show(t.Context(), "b", "m", Moderator{}))
			require.EqualValues(t, 1, apply(t, b, "b", Update{Member: "m", Score: 1}).Result.Current.Rank)
		}
		require.Equal(t, []string{"m 11 #1"}, entriesOf(t, a, "b"))
	})
}

// What a node knows of who is hidden is what Redis has, whatever of it the node has seen
// before.
func TestModerationIsCaughtUpWith(t *testing.T) {
	redistest.Engines(t, func(t *testing.T, url string) {
		a, b := newNode(t, url), newNode(t, url)
		define(t, a, Definition{Board: "b"})
		many := moderationPage + 5
		for i := range many {
			require.NoError(t, a.censor(t.Context(), "hide", onBoard("b"), fmt.Sprint("m", i), Moderator{}))
		}
		look := func(s *Store) *moderation {
			d, err := s.catalog.fresh(t.Context())
			require.NoError(t, err)
			return d.hidden
		}
		require.Len(t, look(b).hidden["b/b"].members, many)
		require.NoError(t, a.censor(t.Context(), "show", onBoard("b"), "m7", Moderator{}))
		require.NoError(t, a.censor(t.Context(), "show", onBoard("b"), "m8", Moderator{}))
		require.NoError(t, a.censor(t.Context(), "hide", onBoard("b"), "m8", Moderator{}))
		require.False(t, look(b).hides("b", "member", "m7"))
		require.True(t, look(b).hides("b", "member", "m8"))
		require.Equal(t, look(newNode(t, url)).hidden, look(b).hidden)

		// Redis has lost the last of it.
		rdb := newClient(t, url)
		require.NoError(t, rdb.Del(t.Context(), keys{"rc"}.shown()).Err())
		require.NoError(t, rdb.ZRem(t.Context(), keys{"rc"}.hidden(), "b/b\x1fm8").Err())
		require.NoError(t, rdb.HSet(t.Context(), keys{"rc"}.definitions(), "moderated", a.catalog.latest.Load().hidden.revision-5).Err())
		require.False(t, look(b).hides("b", "member", "m8"))
		require.True(t, look(b).hides("b", "member", "m9"))
	})
}

func TestImpossibleModerationIsRefused(t *testing.T) {
	s := newNode(t, redistest.Embedded(t))
	define(t, s, Definition{Board: "b", Period: "day"})
	ctx := t.Context()
	refused(t, s.Hide(ctx, "b@-1", "m", Moderator{}), "board")
	refused(t, s.Hide(ctx, "b", "\n", Moderator{}), "member")
	refused(t, s.Hide(ctx, "b", "m", Moderator{Reason: "\n"}), "reason")
	refused(t, s.Hide(ctx, "b", "m", Moderator{By: "\xff"}), "by")
	refused(t, s.HideEverywhere(ctx, "Users", "m", Moderator{}), "kind")
	require.ErrorIs(t, s.Hide(ctx, "none", "m", Moderator{}), ErrUnknownBoard)
	_, err := s.Audit(ctx, "x", 1)
	refused(t, err, "cursor")
	_, err = s.Audit(ctx, "", MaxAudit+1)
	refused(t, err, "limit")
	lines, err := s.Audit(ctx, "", 10)
	require.NoError(t, err)
	require.Empty(t, lines)
}
