package client_test

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/client"
	"rankcast/server/servertest"
)

// ranked is a list as text: "1 ann 30, 2 bob 20".
func ranked(entries []client.Entry) string {
	var list []string
	for _, e := range entries {
		list = append(list, fmt.Sprint(e.Rank, " ", e.Member, " ", e.Score))
	}
	return strings.Join(list, ", ")
}

func TestReads(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		b := definition.Board{Name: "b", Ties: definition.Shared, Kind: "user"}
		n := servertest.Start(t, url, servertest.Config{}, b)
		c, ctx := newClient(t, n.Addr), t.Context()
		_, err := c.Updates(ctx, "b", []client.Update{{Member: "ann", Score: 30}, {Member: "bob", Score: 20},
			{Member: "cy", Score: 20}, {Member: "dee & co", Score: 10, Data: []byte(`7`)}})
		require.NoError(t, err)
		top := func(q client.Query, want string) client.Page {
			t.Helper()
			p := redistest.Must(c.Top(ctx, "b", q))(t)
			require.Equal(t, want, ranked(p.Top))
			return p
		}
		p := top(client.Query{Limit: 3}, "1 ann 30, 2 bob 20, 2 cy 20")
		require.Nil(t, p.Count)
		require.Empty(t, top(client.Query{Cursor: p.Cursor}, "4 dee & co 10").Cursor)
		top(client.Query{FromRank: 3}, "4 dee & co 10")
		p = top(client.Query{MinScore: new(int64(15)), MaxScore: new(int64(25)), Limit: 1}, "2 bob 20")
		require.EqualValues(t, 2, *p.Count)
		top(client.Query{MaxScore: new(int64(25)), Cursor: p.Cursor}, "2 cy 20, 4 dee & co 10")

		at := redistest.Must(c.At(ctx, "b", 20, 1, ""))(t)
		require.Equal(t, [4]int64{4, 20, 2, 2}, [4]int64{at.Total, at.Score, at.Rank, at.Count})
		require.Equal(t, "2 bob 20", ranked(at.Members))
		at = redistest.Must(c.At(ctx, "b", 20, 0, at.Cursor))(t)
		require.Equal(t, "2 cy 20", ranked(at.Members))
		require.Empty(t, at.Cursor)
		for want, bounds := range map[int64][2]*int64{4: {}, 3: {new(int64(20))}, 1: {nil, new(int64(10))}, 0: {new(int64(11)), new(int64(19))}} {
			count := redistest.Must(c.Count(ctx, "b", bounds[0], bounds[1]))(t)
			require.Equal(t, want, count)
		}
		require.NoError(t, c.SetProfile(ctx, b.Kind, "bob", client.Profile{Name: "Bób & Sons", Avatar: "/b.png"}))
		found := redistest.Must(c.Search(ctx, "b", "sons & BOB", 0))(t)
		require.Equal(t, []client.Entry{{Rank: 2, Member: "bob", Score: 20, Name: "Bób & Sons", Avatar: "/b.png"}}, found.Entries)
		require.Equal(t, [2]any{"b", int64(4)}, [2]any{found.Board, found.Total})
		found = redistest.Must(c.Search(ctx, "b", "dee & co", 1))(t)
		require.Equal(t, "4 dee & co 10", ranked(found.Entries))
		_, err = c.Search(ctx, "b", "b", 51)
		require.Equal(t, "limit", refusal(t, err).Field)
		friends := redistest.Must(c.Members(ctx, "b", "dee & co", "nobody", "bob"))(t)
		require.Len(t, friends, 3)
		require.Equal(t, [4]any{"dee & co", int64(4), int64(2), "7"}, [4]any{friends[0].Member, *friends[0].Rank, *friends[0].Among,
			string(friends[0].Data)})
		require.Equal(t, client.MemberRank{Member: "nobody"}, friends[1])
		require.Equal(t, [2]int64{20, 1}, [2]int64{*friends[2].Score, *friends[2].Among})

		for field, err := range map[string]error{
			"from_rank": second(c.Top(ctx, "b", client.Query{Cursor: p.Cursor, FromRank: 2})),
			"max_score": second(c.Count(ctx, "b", new(int64(2)), new(int64(1)))),
			"score":     second(c.At(ctx, "b", client.MaxScore+1, 0, "")),
			"id":        second(c.Members(ctx, "b")),
		} {
			require.Equal(t, field, refusal(t, err, field).Field)
		}
	})
}

func second[T any](_ T, err error) error { return err }

// rows are those of an export, which must come to its end.
func rows(t *testing.T, export iter.Seq2[client.Row, error]) (rows []client.Row) {
	t.Helper()
	for row, err := range export {
		require.NoError(t, err)
		rows = append(rows, row)
	}
	return rows
}

func TestExportAndImport(t *testing.T) {
	servertest.With(servertest.Config{}, definition.Board{Name: "b", Max: new(int64(1000))},
		definition.Board{Name: "copy", Mode: definition.Best}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		c, ctx := newClient(t, n.Addr), t.Context()
		var want []client.Row
		for i := range 1200 { // more than a batch and a page
			want = append(want, client.Row{Member: fmt.Sprint("m ", i*7919%1200), Score: int64(1000 - i/50)})
		}
		want[7].Data = []byte(`{"a":"é"}`)
		done := redistest.Must(c.Import(ctx, "b", slices.Values(want)))(t)
		require.Equal(t, client.Imported{Imported: 1200, FirstErrors: []client.RowError{}}, done)
		require.Equal(t, want, rows(t, c.Export(ctx, "b")))
		for range 2 {
			redistest.Must(c.Import(ctx, "copy", slices.Values(rows(t, c.Export(ctx, "b")))))(t)
		}
		require.Equal(t, want, rows(t, c.Export(ctx, "copy")))
		for range c.Export(ctx, "b") {
			break // and nothing is left behind
		}

		// What is wrong, and how far it came.
		done, err := c.Import(ctx, "b", slices.Values([]client.Row{{Member: "x", Score: 1}, {Member: "y", Score: 1001},
			{Member: "w", Score: 1, Data: []byte(`"` + strings.Repeat("x", 256) + `"`)}, {Member: "z"}}))
		require.Equal(t, client.Error{Status: 400, Code: "invalid_request", Field: "data"}, refusal(t, err), "%v", err)
		require.ErrorContains(t, err, "line 3: ")
		require.Equal(t, [2]int64{1, 1}, [2]int64{done.Imported, done.Refused})
		require.Len(t, done.FirstErrors, 1)
		require.EqualValues(t, 2, done.FirstErrors[0].Line)
		require.Equal(t, "out_of_range", done.FirstErrors[0].Code)
		endless := func(yield func(client.Row) bool) {
			for yield(client.Row{Member: "m", Score: 1}) {
			}
		}
		_, err = c.Import(ctx, "nope", endless)
		require.Error(t, err, "an import that is refused at once takes no more rows")
		for _, err = range c.Export(ctx, "nope") {
		}
		require.Equal(t, "unknown_board", refusal(t, err).Code)
	})
}

// An export that is cut off says so, wherever that is.
func TestInterruptedExport(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"member":"a","score":1}`+"\n")
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}))
	defer web.Close()
	c := redistest.Must(client.New(web.URL, client.Config{}))(t)
	defer c.Close()
	seen := 0
	var err error
	for _, err = range c.Export(t.Context(), "b") {
		seen++
	}
	require.Equal(t, 2, seen)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

func TestHistory(t *testing.T) {
	servertest.With(servertest.Config{}, definition.Board{Name: "b", Kind: "user"}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		c, ctx := newClient(t, n.Addr), t.Context()
		require.NoError(t, c.SetProfile(ctx, "user", "ann", client.Profile{Name: "Ann"}))
		redistest.Must(c.Updates(ctx, "b", []client.Update{{Member: "ann", Score: 30}, {Member: "bob", Score: 20}}))(t)
		_, err := c.History(ctx, "b", client.HistoryQuery{})
		require.Equal(t, "unknown_history", refusal(t, err).Code)

		require.NoError(t, n.Store.Define(ctx, definition.Set{Boards: []definition.Board{{Name: "b", Kind: "user", History: time.Minute}}}))
		var h client.History
		redistest.Eventually(t, "the first step", func() error {
			if h, err = c.History(ctx, "b", client.HistoryQuery{}); err == nil && len(h.Steps) == 0 {
				err = errors.New("nothing is recorded yet")
			}
			return err
		})
		require.Equal(t, "1m", h.Step)
		require.Equal(t, []client.HistoryEntry{{Rank: 1, Member: "ann", Score: 30}, {Rank: 2, Member: "bob", Score: 20}}, h.Steps[0].Entries)
		require.True(t, h.Steps[0].GapFrom.IsZero())
		require.False(t, h.Until.Before(h.Steps[0].At))
		require.Equal(t, map[string]client.Profile{"ann": {Name: "Ann"}}, h.Profiles)
		require.Empty(t, h.Cursor)

		at := h.Steps[0].At
		after := redistest.Must(c.History(ctx, "b", client.HistoryQuery{From: at, To: at.Add(time.Hour), Step: 2 * time.Minute, Limit: 1}))(t)
		require.Equal(t, h.Steps, after.Steps)
		before := redistest.Must(c.History(ctx, "b", client.HistoryQuery{To: at.Add(-time.Millisecond)}))(t)
		require.Empty(t, before.Steps)

		bob := redistest.Must(c.MemberHistory(ctx, "b", "bob", client.HistoryQuery{}))(t)
		require.Equal(t, "bob", bob.Member)
		require.Equal(t, &client.BestRank{Rank: 2, At: at}, bob.Best)
		require.Equal(t, []client.MemberStep{{At: at, Rank: new(int64(2)), Score: new(int64(20))}}, bob.Steps)
		for _, step := range []time.Duration{time.Second, time.Minute + 500*time.Millisecond, 61*time.Second + 1, time.Millisecond,
			-time.Minute} {
			_, err = c.History(ctx, "b", client.HistoryQuery{Step: step})
			require.Equal(t, "step", refusal(t, err, step).Field, step)
		}
	})
}

// The pages of a member's boards follow one another until the cursor is empty.
func TestMemberBoardsByTheClient(t *testing.T) {
	servertest.With(servertest.Config{}, definition.Board{Name: "fans:{star}", Kind: "user", Period: "week"},
		definition.Board{Name: "laps", Kind: "user", Order: definition.Asc},
		definition.Board{Name: "hour", Kind: "user", Window: time.Hour}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		c, ctx := newClient(t, n.Addr), t.Context()
		for _, board := range []string{"fans:s1", "fans:s2", "laps"} {
			redistest.Must(c.Updates(ctx, board, []client.Update{{Member: "a/b", Score: 7, Data: []byte(`{"x":1}`)}, {Member: "z", Score: 9}}))(t)
		}
		require.NoError(t, c.SetProfile(ctx, "user", "a/b", client.Profile{Name: "Ana", Avatar: "/a.png"}))
		var list []string
		cursor, pages, notBuilt := "", 0, 0
		for more := true; more; more = cursor != "" {
			page := redistest.Must(c.MemberBoards(ctx, "user", "a/b", 1, cursor))(t)
			require.Equal(t, [2]string{"user", "a/b"}, [2]string{page.Kind, page.Member})
			for _, b := range page.Boards {
				require.Equal(t, [2]string{"Ana", "/a.png"}, [2]string{page.Name, page.Avatar})
				m := redistest.Must(c.Member(ctx, b.Board, "a/b", 0))(t)
				require.Equal(t, client.MemberBoard{Head: m.Head, Rank: m.Rank,
					Score: m.Score, Data: m.Data, Total: m.Total, Percentile: m.Percentile, ToNext: m.ToNext}, b)
				list = append(list, fmt.Sprintf("%s %d of %d", b.Board, b.Rank, b.Total))
			}
			cursor, notBuilt = page.Cursor, notBuilt+page.NotBuilt
			pages++
		}
		require.Equal(t, []string{"fans:s1 2 of 2", "fans:s2 2 of 2", "laps 1 of 2"}, list)
		require.GreaterOrEqual(t, pages, 3)
		require.Equal(t, 1, notBuilt)

		none := redistest.Must(c.MemberBoards(ctx, "user", "nobody", 0, ""))(t)
		require.Empty(t, none.Boards)
		for field, err := range map[string]error{
			"limit": second(c.MemberBoards(ctx, "user", "a/b", 101, "")), "cursor": second(c.MemberBoards(ctx, "user", "a/b", 0, "!")),
			"kind": second(c.MemberBoards(ctx, "User", "a/b", 0, "")),
		} {
			require.Equal(t, field, refusal(t, err, field).Field)
		}
	})
}
