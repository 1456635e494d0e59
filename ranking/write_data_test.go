package ranking_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/feed"
	"rankcast/ranking/redistest"
)

// Each way to read an entry shows its data, and no one else's.
func TestDataIsReadWithTheEntry(t *testing.T) {
	onStore(t, []definition.Board{{Name: "b"}}, func(t *testing.T, s *ranking.Store) {
		const members = ranking.MaxPage
		want := func(i int) string {
			if i%3 == 0 {
				return ""
			}
			return fmt.Sprintf(`{"n":%d}`, i)
		}
		updates := make([]definition.Update, members)
		for i := range updates {
			updates[i] = definition.Update{Member: fmt.Sprintf("m%04d", i), Score: int64(members - i), Data: want(i)}
		}
		must(s.Apply(t.Context(), "b", updates))(t)
		all := must(s.Page(t.Context(), "b", 1, ranking.MaxPage))(t)
		require.Len(t, all.Entries, members)
		for i, e := range all.Entries {
			require.Equal(t, updates[i].Member, e.Member)
			require.Equal(t, want(i), e.Data, e.Member)
		}
		after := must(s.Read(t.Context(), "b", ranking.Query{After: &ranking.Cursor{Key: all.Entries[9].Key,
			Member: all.Entries[9].Member}, Limit: 7}))(t)
		require.Equal(t, all.Entries[10:17], after.Entries)
		around := must(s.Around(t.Context(), "b", "m0100", 5))(t)
		require.Equal(t, all.Entries[100], around.Entry)
		require.Equal(t, all.Entries[95:106], around.Around)
		some := must(s.Members(t.Context(), "b", []string{"m0007", "nobody", "m0003"}))(t)
		require.Equal(t, []ranking.Entry{all.Entries[7], {Member: "nobody"}, all.Entries[3]},
			[]ranking.Entry{some.List[0].Entry, some.List[1].Entry, some.List[2].Entry})
	})
}

// A change of data alone is a change, with the key and the rank that the entry has.
func TestDataIsTold(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s := open(t, url, definition.Board{Name: "b", Ties: definition.ByMember})
		f, heard := follow(t, url, 0)
		f.Watch("b")
		next[subscribed](t, heard)
		o, err := s.Apply(t.Context(), "b", []definition.Update{
			{Member: "a", Score: 3, Data: `{"x":1}`},
			{Member: "b", Score: 5},
			{Member: "a", Data: `{"x":1}`}, // as it is
			{Member: "a", Data: `{"x":2}`},
			{Member: "a", Data: `{"x":2}`, If: definition.Absent},
			{Member: "b", Data: `null`}, // has none
			{Member: "a", Score: 4},
			{Member: "a", Data: `null`},
		})
		require.NoError(t, err)
		require.Equal(t, applied(3, 2, &ranking.Standing{Score: 3, Rank: 2}), o[3])
		require.Equal(t, applied(7, 1, &ranking.Standing{Score: 7, Rank: 1}), o[7])
		c := next[*feed.Changes](t, heard)
		require.Equal(t, &feed.Changes{Board: "b", Epoch: c.Epoch, Seq: 1, At: c.At, Received: c.Received, List: []feed.Change{
			{Member: "a", New: key(-3), Rank: 1, Position: 1, Data: `{"x":1}`},
			{Member: "b", New: key(-5), Rank: 1, Position: 1},
			{Member: "a", Old: key(-3), New: key(-3), Rank: 2, Position: 2, Data: `{"x":2}`},
			{Member: "a", Old: key(-3), New: key(-7), Rank: 1, Position: 1, Data: `{"x":2}`},
			{Member: "a", Old: key(-7), New: key(-7), Rank: 1, Position: 1},
		}}, c)
		require.EqualValues(t, 5, must(s.Info(t.Context(), "b"))(t).Seq)
	})
}

func TestDataThatIsRefused(t *testing.T) {
	onStore(t, []definition.Board{{Name: "b"}}, func(t *testing.T, s *ranking.Store) {
		most := `"` + strings.Repeat("x", 254) + `"`
		for _, bad := range []string{"{", "nul", `{"a":1,"a":2}`, "1 2", "\"\x1e\"", "\"\xff\"", most[:255] + `x"`} {
			o := applyOne(t, s, "b", definition.Update{Member: "m", Score: 1, Data: bad})
			ranking.Refuses(t, "data", definition.ErrInvalid, o.Err, "%q", bad)
		}
		for given, kept := range map[string]string{most: most, ` {"a": 1} `: `{"a":1}`} {
			require.NoError(t, applyOne(t, s, "b", definition.Update{Member: "m", Score: 1, Data: given}).Err)
			require.Equal(t, map[string]string{"m": kept}, data(t, s, "b"))
		}
	})
}

// An update with a condition that does not hold changes nothing and tells how things
// stand. It has counted for its id all the same.
func TestConditions(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s := open(t, url, definition.Board{Name: "b"})
		nothing := ranking.Outcome{}
		asIs := applied(5, 1, &ranking.Standing{Score: 5, Rank: 1})
		require.Equal(t, nothing, applyOne(t, s, "b", definition.Update{Member: "a", Score: 1, If: definition.Exists}))
		require.Equal(t, []string{"rc:{/}:definitions"}, allKeys(t, url), "nothing has come to be")
		require.Equal(t, nothing, applyOne(t, s, "b", definition.Update{Member: "a", Score: 1, If: definition.Exists, ID: "1"}))
		require.Equal(t, applied(5, 1, nil), applyOne(t, s, "b", definition.Update{Member: "a", Score: 5, If: definition.Absent, ID: "2"}))
		require.Equal(t, asIs, applyOne(t, s, "b", definition.Update{Member: "a", Score: 7, If: definition.Absent, ID: "3"}))
		require.Equal(t, asIs, applyOne(t, s, "b", definition.Update{Member: "a", Score: 7, If: definition.Absent, Op: definition.Last}))
		require.Equal(t, asIs, applyOne(t, s, "b", definition.Update{Member: "a", Score: definition.MaxScore, If: definition.Absent}),
			"nor is it out of range")
		require.Equal(t, applied(6, 1, &ranking.Standing{Score: 5, Rank: 1}),
			applyOne(t, s, "b", definition.Update{Member: "a", Score: 1, If: definition.Exists}))

		again := applyOne(t, s, "b", definition.Update{Member: "a", Score: 1, If: definition.Exists, ID: "1"})
		require.Equal(t, ranking.Outcome{Result: ranking.Result{Duplicate: true}}, again, "as it was the first time")
		asIs.Result = ranking.Answered(asIs.Result)
		asIs.Result.Duplicate = true
		require.Equal(t, asIs, applyOne(t, s, "b", definition.Update{Member: "a", Score: 7, If: definition.Absent, ID: "3"}))
		for _, u := range []definition.Update{
			{Member: "a", Score: 1, ID: "1"},
			{Member: "a", Score: 1, If: definition.Absent, ID: "1"},
			{Member: "a", Score: 1, If: definition.Exists, Data: "1", ID: "1"},
		} {
			require.ErrorIs(t, applyOne(t, s, "b", u).Err, definition.ErrIDMismatch, "%+v", u)
		}
		o := applyOne(t, s, "b", definition.Update{Member: "a", Score: 1, If: "perhaps"})
		require.ErrorIs(t, o.Err, definition.ErrInvalid)
		require.EqualValues(t, 2, must(s.Info(t.Context(), "b"))(t).Seq)
	})
}
