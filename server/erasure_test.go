package server_test

import (
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// An erasure beyond the bound of its kind is refused by a problem that says so, and others are not.
func TestTooManyErasures(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		n := servertest.Start(t, url, servertest.Config{}, definition.Board{Name: "b", Kind: "user"})
		rdb := redistest.Dial(t, url)
		var waiting []redis.Z
		for i := range 10_000 {
			waiting = append(waiting, redis.Z{Score: 1, Member: fmt.Sprint("m", i)})
		}
		require.NoError(t, rdb.ZAdd(t.Context(), "rc:{/}:erasing:user", waiting...).Err())
		a := n.Do("DELETE", "/v1/members/user/one?reason=asked", "")
		servertest.RequireProblem(t, a, 503, "unavailable", "kind")
		require.Contains(t, a.Body, "10000 other members of kind user are being erased")
		require.NotEmpty(t, a.Header.Get("Retry-After"))
		require.Equal(t, 404, n.Do("GET", "/v1/members/user/one/erasure", "").Status)
		require.Equal(t, 202, n.Do("DELETE", "/v1/members/star/one?reason=asked", "").Status)
	})
}
