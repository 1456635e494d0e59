package client_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/client"
	"rankcast/server/servertest"
)

// The pages of a member's boards follow one another until the cursor is empty.
func TestMemberBoardsByTheClient(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		n := servertest.Start(t, url, servertest.Config{}, definition.Board{Name: "fans:{star}", Kind: "user", Period: "week"},
			definition.Board{Name: "laps", Kind: "user", Order: definition.Asc},
			definition.Board{Name: "hour", Kind: "user", Window: time.Hour})
		c, ctx := newClient(t, n.Addr), t.Context()
		for _, board := range []string{"fans:s1", "fans:s2", "laps"} {
			_, err := c.Updates(ctx, board, []client.Update{{Member: "a/b", Score: 7, Data: []byte(`{"x":1}`)}, {Member: "z", Score: 9}})
			require.NoError(t, err)
		}
		require.NoError(t, c.SetProfile(ctx, "user", "a/b", client.Profile{Name: "Ana", Avatar: "/a.png"}))
		var list []string
		cursor, pages, notBuilt := "", 0, 0
		for more := true; more; more = cursor != "" {
			page, err := c.MemberBoards(ctx, "user", "a/b", 1, cursor)
			require.NoError(t, err)
			require.Equal(t, [2]string{"user", "a/b"}, [2]string{page.Kind, page.Member})
			for _, b := range page.Boards {
				require.Equal(t, [2]string{"Ana", "/a.png"}, [2]string{page.Name, page.Avatar})
				m, err := c.Member(ctx, b.Board, "a/b", 0)
				require.NoError(t, err)
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

		none, err := c.MemberBoards(ctx, "user", "nobody", 0, "")
		require.NoError(t, err)
		require.Empty(t, none.Boards)
		for field, err := range map[string]error{
			"limit": second(c.MemberBoards(ctx, "user", "a/b", 101, "")), "cursor": second(c.MemberBoards(ctx, "user", "a/b", 0, "!")),
			"kind": second(c.MemberBoards(ctx, "User", "a/b", 0, "")),
		} {
			require.Equal(t, field, refusal(t, err).Field)
		}
	})
}
