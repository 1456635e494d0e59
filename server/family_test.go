package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// One request returns what the cards of a page of a family's boards show: the members of their names, leaders and totals.
func TestFamilyOverview(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		n := servertest.Start(t, url, servertest.Config{},
			definition.Board{Name: "fans:{star}", Title: definition.Label{"": "Fans of {star}"}, Kind: "user"}, definition.Board{Name: "plain"})
		for path, name := range map[string]string{"star/s1": "Lin Xi", "star/s2": "Nova", "user/u4": "Ana"} {
			require.Equal(t, 201, n.Do("PUT", "/v1/members/"+path, `{"name":"`+name+`","avatar":"/a.png"}`).Status)
		}
		require.Equal(t, 204, n.Do("PUT", "/v1/hidden/star/s2", "{}").Status)
		for _, board := range []string{"fans:s1", "fans:s2", "fans:s3", "plain"} {
			require.Equal(t, 200, n.Do("POST", "/v1/boards/"+board+"/scores",
				`{"updates":[{"member":"u4","score":9},{"member":"u5","score":3}]}`).Status)
		}
		type part struct{ Kind, Member, Name, Avatar string }
		type entry struct {
			Rank, Score  int64
			Member, Name string
		}
		var page struct {
			Board, Cursor string
			Total         int
			Boards        []struct {
				Board     string
				Total     int
				Parts     []part
				Leader    entry
				RunnersUp []entry `json:"runners_up"`
				Info      struct{ Title string }
			}
		}
		const path = "/v1/boards/fans:%7Bstar%7D/overview"
		n.Do("GET", path+"?limit=2", "").Into(&page)
		require.Equal(t, []any{"fans:{star}", 3, 2}, []any{page.Board, page.Total, len(page.Boards)})
		first := page.Boards[0]
		require.Equal(t, []any{"fans:s1", 2, "Fans of Lin Xi"}, []any{first.Board, first.Total, first.Info.Title})
		require.Equal(t, []part{{"star", "s1", "Lin Xi", "/a.png"}}, first.Parts)
		require.Equal(t, entry{1, 9, "u4", "Ana"}, first.Leader)
		require.Equal(t, []entry{{2, 3, "u5", ""}}, first.RunnersUp)
		require.Equal(t, []part{{Kind: "star", Member: "s2"}}, page.Boards[1].Parts, "a hidden member has neither name nor avatar")

		cursor := page.Cursor
		page.Boards, page.Cursor = nil, ""
		n.Do("GET", path+"?limit=2&cursor="+cursor, "").Into(&page)
		require.Len(t, page.Boards, 1)
		require.Equal(t, []any{"fans:s3", ""}, []any{page.Boards[0].Board, page.Cursor})

		page.Boards = nil
		n.Do("GET", "/v1/boards/plain/overview", "").Into(&page)
		require.Equal(t, "plain", page.Boards[0].Board, "a board is its own only instance")
		require.Empty(t, page.Boards[0].Parts)

		servertest.RequireProblem(t, n.Do("GET", path+"?limit=101", ""), 400, "invalid_request", "limit")
		servertest.RequireProblem(t, n.Do("GET", "/v1/boards/none:%7Bx%7D/overview", ""), 404, "unknown_board", "board")
	})
}
