package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

func TestPaginationOverHTTP(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		n := servertest.Start(t, url, servertest.Config{}, definition.Board{Name: "b"})
		var updates []string
		for i := range 25 {
			updates = append(updates, fmt.Sprintf(`{"member":"m%02d","score":%d}`, i, 100-i))
		}
		require.Equal(t, 200, n.Do("POST", "/v1/boards/b/scores", `{"updates":[`+strings.Join(updates, ",")+`]}`).Status)
		type page struct {
			Total  int
			Top    []struct{ Rank, Score int }
			Cursor *string
		}
		get := func(query string) (p page) {
			a := n.Do("GET", "/v1/boards/b/top"+query, "")
			require.Equal(t, 200, a.Status, a.Body)
			a.Into(&p)
			return p
		}
		p := get("")
		require.Len(t, p.Top, 10)
		require.Equal(t, 25, p.Total)
		p = get("?limit=20&cursor=" + *p.Cursor)
		require.Len(t, p.Top, 15)
		require.Equal(t, 11, p.Top[0].Rank)
		require.Nil(t, p.Cursor)
		p = get("?from_rank=24&limit=5")
		require.Equal(t, 24, p.Top[0].Rank)
		require.Len(t, p.Top, 2)
		require.Empty(t, get("?from_rank=26").Top)
		require.Contains(t, n.Do("GET", "/v1/boards/b/top?from_rank=26", "").Body, `"top":[],"cursor":null`)
	})
}
