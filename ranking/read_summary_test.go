package ranking

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// A glance tells what a read would, but has nothing built for it, and keeps nothing that
// nobody asks for.
func TestGlance(t *testing.T) {
	t.Parallel()
	boards := []definition.Board{
		{Name: "a", Kind: "star"}, {Name: "day", Period: "day"}, {Name: "u", Union: &definition.Union{Of: []string{"a"}, Refresh: time.Minute}},
		{Name: "built", Window: time.Hour}, {Name: "live", Window: time.Hour, Refresh: definition.Live},
	}
	simulatedWorlds(t, 1, patient, boards, func(t *testing.T, w *world) {
		s := w.stores[0]
		glance := func(board string) Summary {
			t.Helper()
			meta := s.keys.Board(board, "").Meta
			before := must(s.builtAt(t.Context(), meta))(t)
			g := must(s.Summary(t.Context(), board))(t)
			redistest.Wait(t, "the builds of the node", s.builds.running.Wait)
			require.Equal(t, before, must(s.builtAt(t.Context(), meta))(t), "nothing is built for it")
			require.Equal(t, board, g.About.Instance)
			g.About = About{}
			return g
		}
		leads := func(g Summary, member string, total int64) {
			t.Helper()
			require.NotEmpty(t, g.Top)
			require.Equal(t, member, g.Top[0].Member)
			require.Equal(t, total, g.Total)
		}
		empty := glance("a")
		require.Equal(t, Summary{Head: Head{Kind: "star", Shards: IfSharded(empty.Shards)}}, empty)
		for _, board := range []string{"a", "day", "built", "live"} {
			apply(t, s, board, definition.Update{Member: "x", Score: 3})
			apply(t, s, board, definition.Update{Member: "y", Score: 5})
		}
		leads(glance("a"), "y", 2)
		leads(glance("live"), "y", 2)
		day := glance("day")
		leads(day, "y", 2)
		require.Equal(t, "2026-11-20", day.Period)
		require.Equal(t, friday.Truncate(24*time.Hour).Add(24*time.Hour), day.Ends.UTC())
		require.EqualValues(t, 2, day.Seq)
		require.NotEmpty(t, day.Epoch)

		for _, board := range []string{"u", "built"} {
			g := glance(board)
			require.Equal(t, Summary{Head: Head{Kind: "member"}, Built: true}, g, "nobody has asked for a result")

			page := must(s.Page(t.Context(), board, 1, 1))(t)
			redistest.Wait(t, "the builds of the node", s.builds.running.Wait)
			g = glance(board)
			leads(g, "y", 2)
			require.Equal(t, page.State, g.State)
			w.pass(time.Minute + time.Second)
			g = glance(board)
			require.Nil(t, g.Top, "it is of a result that nothing may be served of")
			require.EqualValues(t, 2, g.Total)
		}
		for range 75 { // longer than any result stays that nobody asks for
			w.pass(time.Minute)
			glance("u")
			glance("built")
			w.tend()
		}
		require.Zero(t, glance("u").Total)
		require.Zero(t, glance("built").Total)
		g := glance("live")
		require.Nil(t, g.Top, "its points have left the window")
		require.Zero(t, g.Total)

		require.ErrorIs(t, errorOf(s.Summary(t.Context(), "nothing")), definition.ErrUnknownBoard)
	})
}

// The titles of a page of boards cost a round trip for each family, however many instances are among them.
func TestAboutEachReadsAFamilyInOneRoundTrip(t *testing.T) {
	t.Parallel()
	s := newNode(t, redistest.Embedded(t))
	define(t, s, definition.Board{Name: "fans:{star}", Title: definition.Label{"": "Fans of {star}"}},
		definition.Board{Name: "hot:{star}", Title: definition.Label{"": "{star}, hot"}},
		definition.Board{Name: "bare:{star}"}, definition.Board{Name: "plain", Title: definition.Label{"": "Plain"}})
	must(s.SetProfile(t.Context(), "star", "s1", Profile{Name: "Lin Xi"}))(t)
	boards := []string{"plain", "bare:s100"}
	for i := range 50 {
		boards = append(boards, fmt.Sprintf("fans:s%d", i), fmt.Sprintf("hot:s%d", 50+i))
	}
	holdDefinitions(s)
	reads := new(profileReads)
	s.rdb.AddHook(redistest.Hook(reads.pass))
	abouts := s.AboutEach(t.Context(), boards)
	require.EqualValues(t, 2, reads.sent.Load())
	require.Len(t, abouts, len(boards))
	require.Equal(t, []string{"Fans of Lin Xi", "Fans of s2", "s51, hot", "Plain", ""},
		[]string{abouts["fans:s1"].Title.In("en"), abouts["fans:s2"].Title.In("en"), abouts["hot:s51"].Title.In("en"),
			abouts["plain"].Title.In("en"), abouts["bare:s100"].Title.In("en")})
}
