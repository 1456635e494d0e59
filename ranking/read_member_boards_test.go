package ranking

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// standings lists "board score #rank" of a member, on all pages of limit boards.
func standings(t testing.TB, s *Store, kind, member string, limit int) []string {
	t.Helper()
	list := []string{}
	for after := ""; ; {
		page := must(s.MemberBoards(t.Context(), kind, member, MemberBoardsQuery{After: after, Limit: limit}))(t)
		require.LessOrEqual(t, len(page.Boards), limit)
		require.Zero(t, page.Unavailable)
		for _, b := range page.Boards {
			require.Equal(t, member, b.Entry.Member)
			list = append(list, fmt.Sprintf("%s %d #%d", b.Board, b.Entry.Score, b.Entry.Rank))
		}
		if page.Next == "" {
			return list
		}
		require.NotEqual(t, after, page.Next, "the next page goes on")
		after = page.Next
	}
}

// eachPage calls page with the boards of each page for the member "m", and with the number of boards that did not answer.
func eachPage(t testing.TB, s *Store, q MemberBoardsQuery, page func(boards []string, missing int)) error {
	for more := true; more; more = q.After != "" {
		p, err := s.MemberBoards(t.Context(), "member", "m", q)
		if err != nil {
			return err
		}
		var boards []string
		for _, b := range p.Boards {
			boards = append(boards, b.Board)
		}
		page(boards, p.Unavailable)
		q.After = p.Next
	}
	return nil
}

// The answer has each board of the kind on which the member stands, with what a look-up on that board says.
func TestMemberBoards(t *testing.T) {
	onNode(t, []definition.Board{{Name: "laps", Kind: "user", Order: definition.Asc, Mode: definition.Best},
		{Name: "week", Kind: "user", Period: "week", Ties: definition.Shared},
		{Name: "fans:{star}", Kind: "user"}, {Name: "fans", Kind: "user"},
		{Name: "hot:{a}:{b}", Kind: "user"}, {Name: "stars", Kind: "star"},
		{Name: "empty:{x}", Kind: "user"}}, func(t *testing.T, s *Store) {
		for _, board := range []string{"laps", "week", "fans:s1", "fans:s2", "fans", "hot:x:y", "stars"} {
			apply(t, s, board, definition.Update{Member: "u", Score: 5, Data: `{"n":1}`})
			apply(t, s, board, definition.Update{Member: "v", Score: 5})
			apply(t, s, board, definition.Update{Member: "w", Score: 9})
		}
		apply(t, s, "fans:s3", definition.Update{Member: "w", Score: 1})
		want := []string{"fans 5 #3", "fans:s1 5 #3", "fans:s2 5 #3", "hot:x:y 5 #3", "laps 5 #2", "week 5 #2"}
		for _, limit := range []int{1, 2, 3, 5, 6, MaxMemberBoards} {
			require.Equal(t, want, standings(t, s, "user", "v", limit))
		}
		page := must(s.MemberBoards(t.Context(), "user", "u", MemberBoardsQuery{Limit: 10}))(t)
		require.Empty(t, page.Next)
		require.Zero(t, page.NotBuilt)
		require.Len(t, page.Boards, 6)
		for _, b := range page.Boards {
			n := must(s.Around(t.Context(), b.Board, "u", 1))(t)
			n.Left = b.Left
			require.Equal(t, n, b.Neighbourhood)
		}
		require.Equal(t, []string{"stars 5 #2"}, standings(t, s, "star", "u", 10))
		require.Empty(t, standings(t, s, "user", "nobody", 1))
		require.Empty(t, standings(t, s, "nothing", "u", 1))

		require.NoError(t, s.Hide(t.Context(), "fans:s2", "u", Moderator{}))
		must(s.Remove(t.Context(), "laps", "u"))(t)
		require.NoError(t, s.Delete(t.Context(), "fans", Moderator{}))
		require.Equal(t, []string{"fans:s1 5 #2", "hot:x:y 5 #2", "week 5 #2"}, standings(t, s, "user", "u", 2))
		require.NoError(t, s.Show(t.Context(), "fans:s2", "u", Moderator{}))
		require.Equal(t, []string{"fans:s1 5 #2", "fans:s2 5 #2", "hot:x:y 5 #2", "week 5 #2"}, standings(t, s, "user", "u", 2))

		for field, ask := range map[string]func() error{
			"kind":   func() error { return errorOf(s.MemberBoards(t.Context(), "K", "u", MemberBoardsQuery{Limit: 1})) },
			"member": func() error { return errorOf(s.MemberBoards(t.Context(), "user", "", MemberBoardsQuery{Limit: 1})) },
			"limit": func() error {
				_, none := s.MemberBoards(t.Context(), "user", "u", MemberBoardsQuery{})
				require.ErrorIs(t, none, definition.ErrInvalid)
				return errorOf(s.MemberBoards(t.Context(), "user", "u", MemberBoardsQuery{Limit: MaxMemberBoards + 1}))
			},
		} {
			refused(t, ask(), field)
		}
	})
}

// A member that is hidden on all boards of a kind, or erased, stands on none of them.
func TestMemberBoardsWithoutTheHiddenAndErased(t *testing.T) {
	t.Parallel()
	boards := func(time.Time) []definition.Board {
		return []definition.Board{{Name: "day", Period: "day", Kind: "user"}, {Name: "fans:{star}", Kind: "user"}, {Name: "stars", Kind: "star"}}
	}
	worlds(t, 1, patient, boards, func(t *testing.T, w *world) {
		s := w.stores[0]
		for _, board := range []string{"day", "fans:a", "fans:b", "stars"} {
			for _, member := range []string{"hidden", "erased", "v"} {
				w.write(s, board, member, 5)
				w.passSimulated(time.Second) // the clocks of shards tell who was first
			}
		}
		require.NoError(t, s.HideEverywhere(t.Context(), "user", "hidden", Moderator{}))
		must(s.Erase(t.Context(), "user", "erased", Moderator{}))(t)
		w.until("the erasure", func() error { return w.erased("user", "erased") })
		w.until("the boards without the hidden member", func() error {
			if list := standings(t, s, "user", "hidden", 10); len(list) > 0 {
				return fmt.Errorf("it stands on %v", list)
			}
			return nil
		})
		require.Empty(t, standings(t, s, "user", "erased", 10))
		require.Equal(t, []string{"day 5 #1", "fans:a 5 #1", "fans:b 5 #1"}, standings(t, s, "user", "v", 10))
		require.Equal(t, []string{"stars 5 #2"}, standings(t, s, "star", "erased", 10))
	})
}

// A result that is present and young enough counts. Nothing is built for the answer, which says how many results are
// missing. A live window counts what a read of it would.
func TestMemberBoardsOfResults(t *testing.T) {
	t.Parallel()
	boards := []definition.Board{
		{Name: "a"}, {Name: "u", Union: &definition.Union{Of: []string{"a"}, Refresh: time.Minute}},
		{Name: "built:{x}", Window: time.Hour}, {Name: "live", Window: time.Hour, Refresh: definition.Live},
	}
	simulatedWorlds(t, 1, patient, boards, func(t *testing.T, w *world) {
		s := w.stores[0]
		answer := func() (list []string, notBuilt int) {
			t.Helper()
			var before []int64
			for _, board := range []string{"u", "built:x"} {
				at := must(s.builtAt(t.Context(), s.keys.Board(board, "").Meta))(t)
				before = append(before, at)
			}
			page := must(s.MemberBoards(t.Context(), "member", "m", MemberBoardsQuery{Limit: 10}))(t)
			redistest.Wait(t, "the builds of the node", s.builds.running.Wait)
			for i, board := range []string{"u", "built:x"} {
				at := must(s.builtAt(t.Context(), s.keys.Board(board, "").Meta))(t)
				require.Equal(t, before[i], at, "nothing is built for it")
			}
			for _, b := range page.Boards {
				list = append(list, fmt.Sprintf("%s %d", b.Board, b.Entry.Score))
			}
			return list, page.NotBuilt
		}
		for _, board := range []string{"a", "built:x", "live"} {
			apply(t, s, board, definition.Update{Member: "m", Score: 3})
		}
		list, notBuilt := answer()
		require.Equal(t, []string{"a 3", "live 3"}, list)
		require.Equal(t, 2, notBuilt)

		for _, board := range []string{"u", "built:x"} {
			must(s.Page(t.Context(), board, 1, 1))(t)
		}
		redistest.Wait(t, "the builds of the node", s.builds.running.Wait)
		list, notBuilt = answer()
		require.Equal(t, []string{"a 3", "built:x 3", "live 3", "u 3"}, list)
		require.Zero(t, notBuilt)

		w.pass(30 * time.Minute)
		apply(t, s, "live", definition.Update{Member: "m", Score: 4})
		w.pass(31 * time.Minute)
		list, notBuilt = answer()
		require.Equal(t, []string{"a 3", "live 4"}, list, "the first event has left the window")
		require.Equal(t, 2, notBuilt, "the results are too old")
		w.pass(time.Hour)
		list, _ = answer()
		require.Equal(t, []string{"a 3"}, list)
	})
}

// A node whose estimate of Redis's clock is behind finds a member in the period that has begun.
func TestMemberBoardsJustAfterARollover(t *testing.T) {
	t.Parallel()
	boards := []definition.Board{{Name: "day", Period: "day"}, {Name: "days:{x}", Period: "day"}}
	simulatedWorlds(t, 2, patient, boards, func(t *testing.T, w *world) {
		behind, other := w.stores[0], w.stores[1]
		for _, board := range []string{"day", "days:x"} {
			w.write(other, board, "old", 1)
		}
		w.pass(14 * time.Hour)
		for _, board := range []string{"day", "days:x"} {
			w.write(other, board, "m", 2)
		}
		behind.catalog.clock.set(w.now.Add(-time.Second).UnixMicro())
		require.Equal(t, []string{"day 2 #1", "days:x 2 #1"}, standings(t, behind, "member", "m", 10))
		behind.catalog.clock.set(w.now.Add(-time.Second).UnixMicro())
		require.Empty(t, standings(t, behind, "member", "old", 10), "it stood in the period before")
	})
}

// A page looks into 1,000 boards at most, and into none that the caller may not read.
func TestMemberBoardsCost(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	s := newNode(t, r.URL())
	define(t, s, definition.Board{Name: "b:{n}"}, definition.Board{Name: "hidden"})
	const boards = 2*MaxBoardLookups + 300
	pipe := s.rdb.Pipeline()
	for i := range boards { // as registerInstance lists them
		pipe.ZAdd(t.Context(), s.keys.Instances("b/1"), redis.Z{Member: fmt.Sprintf("b:%04d", i)})
	}
	must(pipe.Exec(t.Context()))(t)
	apply(t, s, "b:2100", definition.Update{Member: "m", Score: 1})
	apply(t, s, "hidden", definition.Update{Member: "m", Score: 1})

	var found []string
	for page, after := 0, ""; page == 0 || after != ""; page++ {
		before := calls(t, r, "zscore")
		answer := must(s.MemberBoards(t.Context(), "member", "m", MemberBoardsQuery{After: after, Limit: 10}))(t)
		require.Equal(t, []int{1000, 1000, 301}[page], calls(t, r, "zscore")-before)
		for _, b := range answer.Boards {
			found = append(found, b.Board)
		}
		after = answer.Next
	}
	require.Equal(t, []string{"b:2100", "hidden"}, found)

	only := &BoardFilter{Has: func(board string) bool { return board == "b:2100" || strings.HasPrefix(board, "b:20") },
		Spans: definition.JoinSpans([]definition.NameSpan{definition.SpanOfName("b:2100"), definition.SpanOfPrefix("b:20")})}
	before, reads := calls(t, r, "zscore"), calls(t, r, "zrange")
	answer := must(s.MemberBoards(t.Context(), "member", "m", MemberBoardsQuery{Limit: 10, Only: only}))(t)
	require.Len(t, answer.Boards, 1)
	require.Equal(t, "b:2100", answer.Boards[0].Board)
	require.Empty(t, answer.Next)
	require.Equal(t, 101, calls(t, r, "zscore")-before)
	require.LessOrEqual(t, calls(t, r, "zrange")-reads, 4, "a read for each span, and what a node does by itself")
}

// A page that meets only names that the caller may not read says so, and its cursor names none of them.
func TestMemberBoardsBetweenUnreadableNames(t *testing.T) {
	onNode(t, []definition.Board{{Name: "b:{n}"}, {Name: "c"}}, func(t *testing.T, s *Store) {
		for i := range 40 {
			apply(t, s, fmt.Sprintf("b:%02d", i), definition.Update{Member: "m", Score: 1})
		}
		apply(t, s, "c", definition.Update{Member: "m", Score: 1})
		sizes := walkSizes{lookups: 100, pipeline: 10, names: 5, nameReads: 4}
		readable := []string{"b:03", "b:07", "c"}
		q := MemberBoardsQuery{Limit: 10, Only: &BoardFilter{
			Has: func(board string) bool { return slices.Contains(readable, board) }, Spans: []definition.NameSpan{definition.SpanOfPrefix("")},
		}}
		page := must(s.memberBoards(t.Context(), "member", "m", q, sizes))(t)
		require.Len(t, page.Boards, 2)
		require.Equal(t, "b/1 b:07", page.Next)
		q.After = page.Next
		require.ErrorIs(t, errorOf(s.memberBoards(t.Context(), "member", "m", q, sizes)), definition.ErrTooLarge)

		// Spans that leave those names out go past them.
		q.Only.Spans = []definition.NameSpan{definition.SpanOfName("b:03"), definition.SpanOfName("b:07"), definition.SpanOfName("c")}
		page = must(s.memberBoards(t.Context(), "member", "m", q, sizes))(t)
		require.Len(t, page.Boards, 1)
		require.Equal(t, "c", page.Boards[0].Board)
		require.Empty(t, page.Next)

		// A page that has read all names of a span goes on after them.
		q.After, q.Only.Spans = "", []definition.NameSpan{definition.SpanOfPrefix("b:1"), definition.SpanOfPrefix("b:2"),
			definition.SpanOfPrefix("c")}
		sizes.names, sizes.nameReads = 6, 2
		page = must(s.memberBoards(t.Context(), "member", "m", q, sizes))(t)
		require.Empty(t, page.Boards)
		q.After = page.Next
		page = must(s.memberBoards(t.Context(), "member", "m", q, sizes))(t)
		require.Len(t, page.Boards, 1)
		require.Empty(t, page.Next)
	})
}

// A caller of some suffix learns of no family without a board for it: neither from a cursor, nor by an error where
// there are many such families.
func TestMemberBoardsOfASuffix(t *testing.T) {
	onNode(t, nil, func(t *testing.T, s *Store) {
		defined := []definition.Board{{Name: "b:{n}"}, {Name: "z:{n}"}}
		boards := []string{"b:vip", "z:vip"}
		for i := range 60 {
			defined = append(defined, definition.Board{Name: fmt.Sprintf("secret%02d:{n}", i)})
			boards = append(boards, fmt.Sprintf("secret%02d:1", i))
		}
		define(t, s, defined...)
		for _, board := range boards {
			apply(t, s, board, definition.Update{Member: "m", Score: 1})
		}
		q := MemberBoardsQuery{Limit: 10, Only: &BoardFilter{
			Has: func(board string) bool { return strings.HasSuffix(board, ":vip") }, Spans: []definition.NameSpan{definition.SpanOfPrefix("")},
		}}
		page := must(s.MemberBoards(t.Context(), "member", "m", q))(t)
		require.Len(t, page.Boards, 2)
		require.Empty(t, page.Next)
		page, err := s.memberBoards(t.Context(), "member", "m", q, walkSizes{lookups: 100, pipeline: 10, names: 5, nameReads: 4})
		require.NoError(t, err)
		require.Len(t, page.Boards, 1)
		require.Equal(t, "b/1 b:vip", page.Next)
	})
}

// Boards of a master of a cluster that is away are counted, and hide no others. The names of all instances are on one
// master: without it, each family counts as one.
func TestMemberBoardsWithoutAMaster(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		killed  int // counted from the master with the names
		unknown int // families
	}{{"with names", 1, 0}, {"without names", 0, 2}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cluster := redistest.StartCluster(t)
			for _, m := range cluster.Masters {
				require.NoError(t, m.Admin().ConfigSet(t.Context(), "cluster-require-full-coverage", "no").Err())
			}
			rdb := must(Open(cluster.URL))(t)
			defer rdb.Close()
			s := New(rdb, Config{CallTimeout: 2 * time.Second})
			defer s.Close()
			away := (cluster.MasterOf(s.keys.Instances("f/1")) + c.killed) % 3
			defined := []definition.Board{{Name: "f:{x}"}, {Name: "g:{x}"}}
			var boards, want []string
			for i := range 12 {
				defined = append(defined, definition.Board{Name: fmt.Sprint("p", i)})
				boards = append(boards, fmt.Sprint("p", i), fmt.Sprint("f:", i))
			}
			other := newNode(t, cluster.URL)
			define(t, other, defined...)
			missing := c.unknown
			for _, board := range boards {
				apply(t, other, board, definition.Update{Member: "m", Score: 1, ID: "1"})
				switch isInstance := strings.Contains(board, ":"); {
				case isInstance && c.unknown > 0:
				case slices.ContainsFunc(ShardNames(board, Shards), func(name string) bool {
					return cluster.MasterOf(s.keys.Board(name, "").Members) == away
				}):
					missing++
				default:
					want = append(want, board)
				}
			}
			require.Greater(t, missing, c.unknown)
			answers := func(want []string, missing int) {
				t.Helper()
				slices.Sort(want)
				redistest.Eventually(t, "an answer of the masters that are there", func() error {
					var found []string
					unavailable := 0
					if err := eachPage(t, s, MemberBoardsQuery{Limit: 100}, func(boards []string, missing int) {
						found, unavailable = append(found, boards...), unavailable+missing
					}); err != nil {
						return err
					}
					slices.Sort(found)
					if !slices.Equal(want, found) || unavailable != missing {
						return fmt.Errorf("boards %v and %d unavailable, want %v and %d", found, unavailable, want, missing)
					}
					return nil
				})
			}
			answers(boards, 0)
			cluster.Masters[away].Kill()
			answers(want, missing)
			cluster.Masters[away].Start()
			answers(boards, 0)
		})
	}
}

// A family whose names do not come in time counts as one, and the next page goes on after it. A caller who may not know of
// the family sees no count of it, and its next page fails.
func TestMemberBoardsWithoutNames(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	p := redistest.StartProxy(t, r.URL())
	rdb := must(Open(p.URL()))(t)
	defer rdb.Close()
	s := New(rdb, Config{CallTimeout: time.Second})
	defer s.Close()
	other := newNode(t, r.URL())
	define(t, other, definition.Board{Name: "a"}, definition.Board{Name: "b:{x}"}, definition.Board{Name: "c"})
	for _, board := range []string{"a", "b:1", "c"} {
		apply(t, other, board, definition.Update{Member: "m", Score: 1})
	}
	p.Hold(s.keys.Instances("b/1"))
	for who, c := range map[string]struct {
		only *BoardFilter
		want []string
	}{
		"all boards": {nil, []string{"a", "1", "c", "0"}},
		"the family": {&BoardFilter{Has: func(board string) bool { return board != "b:1" && board != "b:\xff" },
			Spans: definition.JoinSpans([]definition.NameSpan{definition.SpanOfName("a"), definition.SpanOfPrefix("b:"),
				definition.SpanOfName("c")})}, []string{"a", "1", "c", "0"}},
		"a suffix": {&BoardFilter{Has: func(board string) bool { return !strings.Contains(board, ":") || strings.HasSuffix(board, ":vip") },
			Spans: []definition.NameSpan{definition.SpanOfPrefix("")}}, []string{"a", "0", "unavailable"}},
	} {
		redistest.Eventually(t, "the other boards of a caller of "+who, func() error { // a slow machine may miss more of them
			var got []string
			err := eachPage(t, s, MemberBoardsQuery{Limit: 10, Only: c.only}, func(boards []string, missing int) {
				got = append(append(got, boards...), fmt.Sprint(missing))
			})
			if errors.Is(err, definition.ErrUnavailable) {
				got = append(got, "unavailable")
			} else if err != nil {
				return err
			}
			if !slices.Equal(c.want, got) {
				return fmt.Errorf("%v; want %v", got, c.want)
			}
			return nil
		})
	}
}

// Without Redis there is an error, and no empty list.
func TestMemberBoardsWithoutRedis(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	s := newNode(t, r.URL())
	define(t, s, definition.Board{Name: "b"}, definition.Board{Name: "c:{x}", Kind: "other"})
	apply(t, s, "b", definition.Update{Member: "m", Score: 1})
	require.Equal(t, []string{"b 1 #1"}, standings(t, s, "member", "m", 1))
	r.Kill()
	for _, kind := range []string{"member", "other"} {
		_, err := s.MemberBoards(t.Context(), kind, "m", MemberBoardsQuery{Limit: 1})
		require.ErrorIs(t, err, definition.ErrUnavailable)
		var f *definition.FieldError
		require.False(t, errors.As(err, &f))
	}
	r.Start()
	redistest.Eventually(t, "an answer", func() error {
		page, err := s.MemberBoards(t.Context(), "member", "m", MemberBoardsQuery{Limit: 1})
		if err == nil && len(page.Boards) != 1 {
			err = fmt.Errorf("%d boards, %d unavailable", len(page.Boards), page.Unavailable)
		}
		return err
	})
}
