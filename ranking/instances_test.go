package ranking_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/feed"
	"rankcast/ranking/redistest"
)

// An instance comes to be when it is first written to, and by nothing else.
func TestReadingCreatesNothing(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s := open(t, url, definition.Board{Name: "fans:{star}", Period: "week"}, definition.Board{Name: "stars"})
		before := allKeys(t, url)
		for _, name := range []string{"fans:s1", "fans:s1@-1", "stars"} {
			require.Equal(t, ranking.State{}, must(s.Page(t.Context(), name, 1, 10))(t).State)
			must(s.Info(t.Context(), name))(t)
			must(s.Places(t.Context(), name, []ranking.Lookup{{Member: "m", Around: 3}}))(t)
			must(s.Members(t.Context(), name, []string{"m"}))(t)
			require.Equal(t, strings.TrimSuffix(name, "@-1"), must(s.Board(t.Context(), name))(t).Instance)
			must(s.Periods(t.Context(), name))(t)
		}
		s.States(t.Context(), []string{"fans:s1", "stars", "fans:s1@-1"})
		require.Empty(t, must(s.MemberBoards(t.Context(), "member", "m", ranking.MemberBoardsQuery{Limit: 10}))(t))
		got := must(s.Instances(t.Context(), "fans:{star}", "", 10))(t)
		require.Equal(t, ranking.Instances{Names: []string{}}, got)
		require.ErrorIs(t, errorOf(s.Remove(t.Context(), "fans:s1", "m")), definition.ErrUnknownMember)
		require.Equal(t, before, allKeys(t, url))

		applyOne(t, s, "fans:s1", definition.Update{Member: "m", Score: 1})
		got = must(s.Instances(t.Context(), "fans:{star}", "", 10))(t)
		require.Equal(t, ranking.Instances{Total: 1, Names: []string{"fans:s1"}}, got)
	})
}

// Instances have the definition of their family and nothing else in common. A family
// and a plain board of one name stand beside each other.
func TestInstancesStandAlone(t *testing.T) {
	onStore(t, []definition.Board{{Name: "hot"}, {Name: "hot:{genre}", Order: definition.Asc},
		{Name: "hot:{genre}:{device}", Mode: definition.Last}}, func(t *testing.T, s *ranking.Store) {
		boards := []string{"hot", "hot:moba", "hot:fps", "hot:moba:phone", "hot:moba:pc"}
		for i, b := range boards {
			for range i + 1 {
				require.NoError(t, applyOne(t, s, b, definition.Update{Member: "m", Score: int64(i + 1), ID: "x" + b}).Err)
				applyOne(t, s, b, definition.Update{Member: "m", Score: int64(i + 1)})
			}
		}
		want := map[string]int64{"hot": 2, "hot:moba": 6, "hot:fps": 12, "hot:moba:phone": 4, "hot:moba:pc": 5}
		for b, score := range want {
			page := must(s.Page(t.Context(), b, 1, 10))(t)
			require.Len(t, page.Entries, 1)
			require.Equal(t, score, page.Entries[0].Score, b)
		}
		for _, name := range []string{"hot:a:b:c", "cold:moba", "cold"} {
			_, err := s.Apply(t.Context(), name, []definition.Update{{Member: "m", Score: 1}})
			require.ErrorIs(t, err, definition.ErrUnknownBoard, name)
		}
		for _, name := range []string{"hot:", ":moba", "hot::pc", "hot:{genre}", "hot:a/b", "hot:a\x1fb",
			"hot:" + strings.Repeat("x", 65), "hot:\xff"} {
			_, err := s.Apply(t.Context(), name, []definition.Update{{Member: "m", Score: 1}})
			require.ErrorIs(t, err, definition.ErrInvalid, name)
		}
		require.NoError(t, s.Delete(t.Context(), "hot:moba", ranking.Moderator{}))
		page, err := s.Page(t.Context(), "hot:moba", 1, 10)
		require.NoError(t, err, "an instance that was deleted may be written to again")
		require.Zero(t, page.Total)
		page = must(s.Page(t.Context(), "hot:moba:pc", 1, 10))(t)
		require.EqualValues(t, 1, page.Total)
	})
}

// Whatever a part is made of, it works everywhere that a board does, and pages list
// the instances by the bytes of their names.
func TestPartsOfAnyCharacters(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s := open(t, url, definition.Board{Name: "b:{x}", Period: "year"})
		f, heard := follow(t, url, 0)
		next[up](t, heard)
		parts := []string{"s17", "S17", "a b", " a ", ".", "..", "*", "?", "[a]", "|", `"`, `'`, `\`, "%s", "$1", "~", "-1", "(x",
			"-", "+", "é", "e\u0301",
			"星", "👩‍🚀", strings.Repeat("x", 64), strings.Repeat("é", 32), "a\u00a0b", "\u200fא", "\u200da", "z"}
		var names []string
		for i, part := range parts {
			name := "b:" + part
			names = append(names, name)
			f.Watch(name)
			require.EqualValues(t, name, next[subscribed](t, heard))
			o := applyOne(t, s, name, definition.Update{Member: "m" + part, Score: int64(i + 1), ID: part, Data: `1`})
			require.NoError(t, o.Err, "part %q", part)
			c := next[*feed.Changes](t, heard)
			require.Equal(t, name, c.Board)
			require.Equal(t, o.Result.Period, c.Period)
			for _, n := range []string{name, definition.Qualify(name, o.Result.Period)} {
				page := must(s.Page(t.Context(), n, 1, 10))(t)
				require.Equal(t, ranking.State{Epoch: c.Epoch, Seq: 1}, page.State)
				require.Equal(t, []ranking.Entry{{Rank: 1, Member: "m" + part, Score: int64(i + 1), Key: *c.List[0].New, Data: `1`}}, page.Entries)
			}
			require.Equal(t, []ranking.BoardState{{State: ranking.State{Epoch: c.Epoch, Seq: 1}, Kind: "member"}},
				s.States(t.Context(), []string{name}))
		}
		slices.Sort(names)
		for _, limit := range []int{1, 3, len(names) - 1, len(names), 1000} {
			var walked []string
			pages := 0
			for after := ""; after != "" || pages == 0; pages++ {
				page := must(s.Instances(t.Context(), "b:{x}", after, limit))(t)
				require.EqualValues(t, len(names), page.Total)
				require.LessOrEqual(t, len(page.Names), limit)
				walked = append(walked, page.Names...)
				after = page.Next
			}
			require.Equal(t, names, walked, "by %d", limit)
			require.Equal(t, (len(names)+limit-1)/limit, pages, "by %d", limit)
		}
		page := must(s.Instances(t.Context(), "b:{x}", "b:nobody is called that", 2))(t)
		i, _ := slices.BinarySearch(names, "b:nobody is called that")
		require.Equal(t, names[i:i+2], page.Names)
		for _, limit := range []int{0, -1, 1001} {
			require.ErrorIs(t, errorOf(s.Instances(t.Context(), "b:{x}", "", limit)), definition.ErrInvalid)
		}
	})
}

// A prefix finds instances by how their names begin, among however many others.
func TestInstancesWithPrefix(t *testing.T) {
	onStore(t, []definition.Board{{Name: "b:{x}"}}, func(t *testing.T, s *ranking.Store) {
		for _, part := range []string{"1", "10", "11", "12", "2", "星1", "星2", "[a", "(a", "-", "+"} {
			applyOne(t, s, "b:"+part, definition.Update{Member: "m", Score: 1})
		}
		for prefix, want := range map[string][]string{
			"b:1": {"b:1", "b:10", "b:11", "b:12"}, "b:12": {"b:12"}, "b:星": {"b:星1", "b:星2"}, "b:[": {"b:[a"}, "b:(": {"b:(a"},
			"b:-": {"b:-"}, "b:+": {"b:+"}, "+": {}, "-": {}, "b:3": {}, "1": {}, "c": {},
		} {
			for _, limit := range []int{1, 2, 100} {
				walked := []string{}
				for after, pages := "", 0; after != "" || pages == 0; pages++ {
					page := must(s.FindInstances(t.Context(), "b:{x}", ranking.InstancesQuery{Prefix: prefix, After: after, Limit: limit}))(t)
					require.EqualValues(t, len(want), page.Total, prefix)
					walked, after = append(walked, page.Names...), page.Next
				}
				require.Equal(t, want, walked, "%q by %d", prefix, limit)
			}
		}
		page := must(s.FindInstances(t.Context(), "b:{x}", ranking.InstancesQuery{Prefix: "b:1", After: "a", Limit: 1}))(t)
		require.Equal(t, ranking.Instances{Total: 4, Names: []string{"b:1"}, Next: "b:1"}, page, "a name before all of them")
		page = must(s.FindInstances(t.Context(), "b:{x}", ranking.InstancesQuery{Prefix: "b:1", After: "b:3", Limit: 1}))(t)
		require.Equal(t, ranking.Instances{Total: 4, Names: []string{}}, page, "a name behind all of them")
		for _, prefix := range []string{"b:\xff", "b:\x00", strings.Repeat("b", 257)} {
			_, err := s.FindInstances(t.Context(), "b:{x}", ranking.InstancesQuery{Prefix: prefix, Limit: 1})
			require.ErrorIs(t, err, definition.ErrInvalid)
		}
	})
}

// However many create instances at a time, on two nodes, there are as many as may be,
// and of the others there is nothing.
func TestMaxInstances(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		const most, creators = 7, 40
		nodes := []*ranking.Store{open(t, url, definition.Board{Name: "b:{x}", MaxInstances: most}), open(t, url)}
		var wg sync.WaitGroup
		errs := make([]error, creators)
		for i := range creators {
			wg.Go(func() {
				_, errs[i] = nodes[i%2].Apply(context.Background(), fmt.Sprint("b:", i), []definition.Update{{Member: "m", Score: 1, ID: "1"}})
			})
		}
		redistest.Wait(t, "the callers of the test", wg.Wait)
		var created []string
		for i, err := range errs {
			name := fmt.Sprint("b:", i)
			if err == nil {
				created = append(created, name)
				continue
			}
			conflicts(t, "board", err)
			require.ErrorContains(t, err, name)
			require.ErrorContains(t, err, fmt.Sprint(most))
			require.False(t, slices.ContainsFunc(allKeys(t, url), func(key string) bool { return strings.Contains(key, "{"+name+"}") }), name)
		}
		slices.Sort(created)
		got, err := nodes[0].Instances(t.Context(), "b:{x}", "", 100)
		require.NoError(t, err)
		require.Equal(t, ranking.Instances{Total: most, Names: created}, got)
		require.NoError(t, applyOne(t, nodes[1], created[0], definition.Update{Member: "m", Score: 1}).Err)

		// More may be allowed at any time; with fewer, those that there are stay.
		var refused string
		for i, err := range errs {
			if err != nil {
				refused = fmt.Sprint("b:", i)
			}
		}
		require.NoError(t, defineOne(t, nodes[0], definition.Board{Name: "b:{x}", MaxInstances: 1}))
		require.NoError(t, applyOne(t, nodes[0], created[1], definition.Update{Member: "m", Score: 1}).Err)
		require.NoError(t, defineOne(t, nodes[0], definition.Board{Name: "b:{x}", MaxInstances: most + 1}))
		require.NoError(t, applyOne(t, nodes[0], refused, definition.Update{Member: "m", Score: 1}).Err)
	})
}

// Two prefixes on one Redis see nothing of each other.
func TestPrefixes(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		opened := func(prefix string) *ranking.Store {
			rdb := redistest.Dial(t, url)
			s := ranking.New(rdb, ranking.Config{Prefix: prefix, CallTimeout: redistest.CallTimeout})
			t.Cleanup(s.Close)
			return s
		}
		use := func(s *ranking.Store, score int64) {
			require.NoError(t, s.Define(t.Context(), definition.Set{
				Boards: []definition.Board{{Name: "b"}, {Name: "fans:{x}", Period: "day", MaxInstances: 1}},
				Events: []definition.Event{{Name: "e", Updates: []definition.Target{{Board: "b", Member: "m", Score: "{n}"},
					{Board: "fans:a", Member: "m", Score: "{n}"}}}}}))
			for range 2 {
				h := must(s.ApplyEvents(t.Context(), "e", []ranking.EventCall{ranking.Occurs("1", "n", score)}))(t)
				require.NoError(t, errors.Join(h[0].Err, h[0].Outcomes[0].Err, h[0].Outcomes[1].Err))
				require.Equal(t, score, h[0].Outcomes[0].Result.Current.Score)
			}
		}
		one, two := opened("rc"), opened("rc-test")
		use(one, 3)
		before := allKeys(t, url)
		use(two, 5)
		var theirs []string
		for _, key := range allKeys(t, url) {
			if slices.Contains(before, key) {
				require.True(t, strings.HasPrefix(key, "rc:"), key)
			} else {
				require.True(t, strings.HasPrefix(key, "rc-test:"), key)
				theirs = append(theirs, strings.Replace(key, "rc-test:", "rc:", 1))
			}
		}
		require.Equal(t, before, theirs)
		require.NoError(t, two.DeleteEvent(t.Context(), "e", ranking.Moderator{}))
		require.NoError(t, two.Delete(t.Context(), "fans:a", ranking.Moderator{}))
		require.NoError(t, two.Delete(t.Context(), "b", ranking.Moderator{}))
		page := must(one.Page(t.Context(), "b", 1, 10))(t)
		require.EqualValues(t, 3, page.Entries[0].Score)
		page = must(one.Page(t.Context(), "fans:a", 1, 10))(t)
		require.EqualValues(t, 1, page.Total)
	})
}
