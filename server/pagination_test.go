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

// A loop over pages may begin with an empty cursor, on each resource that has pages.
func TestEmptyCursorMeansNone(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{}, definition.Board{Name: "b", Kind: "user"},
		definition.Board{Name: "fans:{star}"})
	for _, path := range []string{"/v1/boards/b", "/v1/boards/fans:s1", "/v1/boards/fans:s2"} {
		require.Equal(t, 200, n.Do("POST", path+"/scores", `{"updates":[{"member":"x","score":3},{"member":"y","score":3}]}`).Status)
	}
	for _, path := range []string{"/v1/boards/b/hidden/x", "/v1/boards/b/hidden/y", "/v1/hidden/user/x", "/v1/hidden/user/y"} {
		require.Equal(t, 204, n.Do("PUT", path, `{}`).Status, path)
	}
	require.Equal(t, 200, n.Do("POST", "/v1/boards/b/scores", `{"updates":[{"member":"v","score":3},{"member":"w","score":3}]}`).Status)
	for _, path := range []string{
		"/v1/boards/b/top?limit=1",
		"/v1/boards/b/at?score=3&limit=1",
		"/v1/boards/fans:%7Bstar%7D/instances?limit=1",
		"/v1/boards/b/hidden?limit=1",
		"/v1/hidden/user?limit=1",
		"/v1/audit?limit=1",
	} {
		without := n.Do("GET", path, "")
		require.Equal(t, 200, without.Status, path)
		require.NotContains(t, without.Body, `"cursor":null`, "there are more pages of %s", path)
		empty := n.Do("GET", path+"&cursor=", "")
		require.Equal(t, 200, empty.Status, "%s: %s", path, empty.Body)
		require.Equal(t, without.Body, empty.Body)
	}
	require.Equal(t, 200, n.Do("GET", "/v1/boards/b/top?from_rank=2&cursor=", "").Status)
}
