package ranking_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/proptest"
	"rankcast/ranking/rankingtest"
	"rankcast/ranking/redistest"
)

// export reads a whole board.
func export(t require.TestingT, s *ranking.Store, board string) (entries []ranking.Entry) {
	for page, err := range s.Export(context.Background(), board) {
		require.NoError(t, err)
		entries = append(entries, page.Entries...)
	}
	return entries
}

// rows returns the rows of an import from the entries of an export.
func rows(entries []ranking.Entry) func() (ranking.Row, error) {
	line := 0
	return func() (ranking.Row, error) {
		if line == len(entries) {
			return ranking.Row{}, io.EOF
		}
		e := entries[line]
		line++
		return ranking.Row{Line: int64(line), Member: e.Member, Score: e.Score, Data: e.Data}, nil
	}
}

// transferred are boards of each tie rule and order.
func transferred() (defs []definition.Board) {
	for i, ties := range []definition.Ties{definition.First, definition.Shared, definition.Dense, definition.ByMember} {
		for _, order := range []definition.Order{definition.Desc, definition.Asc} {
			def := definition.Board{
				Name: fmt.Sprintf("%s-%s:{n}", ties, order), Ties: ties, Order: order,
				Mode:      []definition.Mode{definition.Sum, definition.Best, definition.Last}[i%3],
				MaxChange: 1 << 45, // which an import does not care for
			}
			if i%2 == 1 {
				def.Period, def.Base = "3660d", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			}
			defs = append(defs, def)
		}
	}
	return defs
}

// An export that is imported gives the same ranks, ties included, whatever the boards
// are, as far as they rank alike; and where it is imported twice, the second time changes
// nothing.
func TestExportThatIsImported(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		defs := transferred()
		s := open(t, url, defs...)
		runs := 0
		named := func(d definition.Board) string { return fmt.Sprintf("%s-%s:%d", d.Ties, d.Order, runs) }
		proptest.CheckSeeded(t, redistest.Volume(url, 100), func(t *rapid.T) {
			runs++
			source := rapid.SampledFrom(defs).Draw(t, "source")
			var updates []definition.Update
			for range rapid.IntRange(1, 60).Draw(t, "updates") {
				updates = append(updates, definition.Update{
					Member: fmt.Sprint("m", rapid.IntRange(0, 30).Draw(t, "member")), Op: definition.Last,
					Score: rapid.SampledFrom([]int64{0, 1, -1, 7, 1 << 20, -1 << 39, 1 << 40}).Draw(t, "score"),
					Data:  rapid.SampledFrom([]string{"", "7", `{"a":"b"}`}).Draw(t, "data"),
				})
			}
			must(s.Apply(context.Background(), named(source), updates))(t)
			exported := export(t, s, named(source))
			runs++
			for _, d := range defs {
				for range 2 {
					done := must(s.Import(context.Background(), named(d), rows(exported)))(t)
					require.EqualValues(t, len(exported), done.Rows)
					require.Zero(t, done.Refused)
				}
				got := must(s.Page(context.Background(), named(d), 1, 100))(t)
				require.EqualValues(t, len(exported), got.Seq)
				require.Equal(t, rankingtest.Ranked(d, exported), rankingtest.Unkeyed(got.Entries), "from %s to %s", named(source), named(d))
				if d.Ties == source.Ties && d.Order == source.Order {
					require.Equal(t, rankingtest.Unkeyed(exported), rankingtest.Unkeyed(export(t, s, named(d))))
				}
			}
		})
	})
}

// What an import comes to on a board that has members: they keep their places.
func TestImportAmongMembers(t *testing.T) {
	onStore(t, []definition.Board{
		{Name: "b"}, {Name: "few", Mode: definition.Best, Limit: 2},
	}, func(t *testing.T, s *ranking.Store) {
		for _, u := range []definition.Update{{Member: "late", Score: 5, Data: "1"}, {Member: "z", Score: 5}, {Member: "x", Score: 9}} {
			applyOne(t, s, "b", u)
		}
		file := []ranking.Entry{{Member: "a", Score: 5}, {Member: "late", Score: 5}, {Member: "x", Score: 5},
			{Member: "y", Score: 4, Data: "2"}, {Member: "a", Score: 3}}
		want := []ranking.Entry{
			{Rank: 1, Member: "late", Score: 5, Data: "1"}, {Rank: 2, Member: "z", Score: 5}, {Rank: 3, Member: "x", Score: 5},
			{Rank: 4, Member: "y", Score: 4, Data: "2"}, {Rank: 5, Member: "a", Score: 3},
		}
		// It breaks off on the way, and is made again.
		broken := errors.New("broken")
		next := rows(file)
		for i, fail := range []bool{true, false} {
			n := 0
			done, err := s.Import(t.Context(), "b", func() (ranking.Row, error) {
				if n++; fail && n == 3 {
					return ranking.Row{}, broken
				}
				return next()
			})
			if fail {
				require.ErrorIs(t, err, broken)
				require.EqualValues(t, 2, done.Rows)
			} else {
				require.NoError(t, err)
				require.EqualValues(t, len(file), done.Rows, i)
			}
			next = rows(file)
		}
		require.Equal(t, want, rankingtest.Unkeyed(export(t, s, "b")))
		o := applyOne(t, s, "b", definition.Update{Member: "after", Score: 5})
		require.EqualValues(t, 4, o.Result.Current.Rank, "who comes later comes behind")

		require.EqualValues(t, len(file), must(s.Import(t.Context(), "few", rows(file)))(t).Rows)
		require.Equal(t, []string{"late", "a"}, names(export(t, s, "few")), "the limit holds")
		applyOne(t, s, "few", definition.Update{Member: "a", Score: 50})
		must(s.Import(t.Context(), "few", rows(file[4:])))(t)
		require.EqualValues(t, 3, export(t, s, "few")[1].Score, "a row sets the score, also below a best")
	})
}

// What is out of range is refused, and the rest goes on; at anything else that is wrong
// the import ends, and nothing is done of what comes after.
func TestImportRefuses(t *testing.T) {
	onStore(t, []definition.Board{
		{Name: "b", Min: new(int64(0)), Max: new(int64(100)), MaxChange: 3},
		{Name: "week", Period: "week"},
		{Name: "over", Starts: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Ends: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)},
	}, func(t *testing.T, s *ranking.Store) {
		file := []ranking.Entry{{Member: "a", Score: 100}, {Member: "b", Score: 101}, {Member: "c", Score: definition.MaxScore + 1},
			{Member: "d", Score: -1}, {Member: "a", Score: 0}}
		done := must(s.Import(t.Context(), "b", rows(file)))(t)
		require.Equal(t, [2]int64{2, 3}, [2]int64{done.Rows, done.Refused})
		for i, refused := range done.First {
			require.EqualValues(t, i+2, refused.Line)
			require.ErrorIs(t, refused, definition.ErrOutOfRange)
		}
		many := slices.Repeat(file[1:2], 2500)
		done = must(s.Import(t.Context(), "b", rows(append(many, file[0]))))(t)
		require.Equal(t, [2]int64{1, 2500}, [2]int64{done.Rows, done.Refused})
		require.Len(t, done.First, ranking.MaxRowErrors)

		wrong := []ranking.Entry{{Member: "e", Score: 1}, {Member: "f", Score: 101}, {Member: "h", Score: 1, Data: "no JSON"},
			{Member: "g", Score: 1}}
		done, err := s.Import(t.Context(), "b", rows(wrong))
		var row *ranking.RowError
		require.ErrorAs(t, err, &row)
		require.EqualValues(t, 3, row.Line)
		require.ErrorIs(t, err, definition.ErrInvalid)
		require.Equal(t, [2]int64{1, 1}, [2]int64{done.Rows, done.Refused}, "the row that it ended at is told by the error alone")
		require.Len(t, done.First, 1)
		require.EqualValues(t, 2, done.First[0].Line)
		require.Equal(t, []string{"a", "e"}, names(export(t, s, "b")), "and g, which comes after, is not there")

		for board, kind := range map[string]error{"week@-1": definition.ErrNotOpen, "nope": definition.ErrUnknownBoard,
			"over": definition.ErrNotOpen, "Week": definition.ErrInvalid} {
			done, err := s.Import(t.Context(), board, rows(file[:1]))
			require.ErrorIs(t, err, kind, board)
			require.Zero(t, done.Rows)
		}
		require.Error(t, errorOf(s.Import(t.Context(), "nope", func() (ranking.Row, error) {
			require.Fail(t, "nothing is read for a board that there is not")
			return ranking.Row{}, io.EOF
		})))
	})
}

// A period that turns while it is imported, or exported, is not mixed with the next.
func TestTransferOverATurn(t *testing.T) {
	t.Parallel()
	url, set := redistest.Clocked(t)
	now := time.Now().UTC().Truncate(24 * time.Hour).Add(12 * time.Hour)
	set(now)
	s := open(t, url, definition.Board{Name: "b", Period: "day"})
	const members = 2100 // beyond a page
	file := make([]ranking.Entry, members)
	for i := range file {
		file[i] = ranking.Entry{Member: fmt.Sprintf("m%04d", i), Score: int64(members - i)}
	}
	today, tomorrow := now.Format(time.DateOnly), now.AddDate(0, 0, 1).Format(time.DateOnly)
	done, err := s.Import(t.Context(), "b", rows(file))
	require.NoError(t, err)
	require.Equal(t, today, done.Period)
	var exported []ranking.Entry
	for page, err := range s.Export(t.Context(), "b") {
		require.NoError(t, err)
		require.Equal(t, today, page.Period)
		exported = append(exported, page.Entries...)
		set(now.AddDate(0, 0, 1))
	}
	require.Equal(t, names(file), names(exported))

	set(now)
	next, n := rows(file), 0
	done, err = s.Import(t.Context(), "b", func() (ranking.Row, error) {
		if n++; n == 1500 {
			set(now.AddDate(0, 0, 1))
		}
		return next()
	})
	require.ErrorIs(t, err, definition.ErrConflict)
	require.Equal(t, [2]any{today, int64(1000)}, [2]any{done.Period, done.Rows})
	done = must(s.Import(t.Context(), "b", rows(file)))(t)
	require.Equal(t, tomorrow, done.Period)
	require.Equal(t, names(file), names(export(t, s, "b")), "sent again it is whole")
}

// A board that is made anew while it is exported is not mixed with what it was.
func TestExportOfABoardThatIsDeleted(t *testing.T) {
	onStore(t, []definition.Board{{Name: "fans:{star}"}}, func(t *testing.T, s *ranking.Store) {
		var file []ranking.Entry
		for i := range 1500 {
			file = append(file, ranking.Entry{Member: fmt.Sprint(i), Score: 1})
		}
		fill := func() {
			must(s.Import(t.Context(), "fans:s", rows(file)))(t)
		}
		fill()
		seen := 0
		var last error
		for page, err := range s.Export(t.Context(), "fans:s") {
			if last = err; err == nil {
				seen += len(page.Entries)
				require.NoError(t, s.Delete(t.Context(), "fans:s", ranking.Moderator{}))
				fill()
			}
		}
		require.ErrorIs(t, last, definition.ErrConflict)
		require.Equal(t, 1000, seen)
	})
}
