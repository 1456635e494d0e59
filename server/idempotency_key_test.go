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

// An Idempotency-Key is taken for each item of a batch or for none: the longest key that fits all
// items counts once, and one byte more is refused before anything counts.
func TestIdempotencyKeyIsTakenOrRefusedWhole(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		n := servertest.Start(t, url, servertest.Config{}, definition.Board{Name: "b"})
		require.Equal(t, 201, n.Do("PUT", "/v1/events/e", `{"updates":[{"board":"b","member":"m","score":1}]}`).Status)
		one := func(item string) func(int) string { return func(int) string { return item } }
		batch := func(field, item string) func(int) string {
			return func(items int) string { return `{"` + field + `":[` + strings.Repeat(item+",", items-1) + item + `]}` }
		}
		counted := int64(0)
		for i, c := range []struct {
			path        string
			body        func(items int) string
			items, most int
		}{
			{"/v1/boards/b/scores", one(`{"member":"m","score":1}`), 1, 128},
			{"/v1/events/e", one(`{}`), 1, 128},
			{"/v1/boards/b/scores", batch("updates", `{"member":"m","score":1}`), 1, 126},
			{"/v1/boards/b/scores", batch("updates", `{"member":"m","score":1}`), 10, 126},
			{"/v1/boards/b/scores", batch("updates", `{"member":"m","score":1}`), 11, 125},
			{"/v1/boards/b/scores", batch("updates", `{"member":"m","score":1}`), 100, 125},
			{"/v1/boards/b/scores", batch("updates", `{"member":"m","score":1}`), 101, 124},
			{"/v1/boards/b/scores", batch("updates", `{"member":"m","score":1}`), 1000, 124},
			{"/v1/events/e", batch("events", `{}`), 10, 126},
			{"/v1/events/e", batch("events", `{}`), 12, 125},
		} {
			what := fmt.Sprintf("%d items to %s", c.items, c.path)
			key := fmt.Sprintf("%03d", i) + strings.Repeat("k", c.most-3)
			long := n.Do("POST", c.path, c.body(c.items), "Idempotency-Key", key+"k")
			servertest.RequireProblem(t, long, 400, "invalid_request", "Idempotency-Key")
			require.Contains(t, long.Body, fmt.Sprintf("has %d bytes; want 1 to %d", c.most+1, c.most), what)
			for range 2 {
				answer := n.Do("POST", c.path, c.body(c.items), "Idempotency-Key", key)
				require.Equal(t, 200, answer.Status, "%s: %s", what, answer.Body)
				require.NotContains(t, answer.Body, "error", what)
			}
			counted += int64(c.items)
			top, _ := n.Top("b", 1)
			require.Equal(t, counted, top[0].Score, what)
		}

		for _, key := range []string{"tab\tkey", "\xff"} {
			answer := n.Do("POST", "/v1/boards/b/scores", `{"updates":[{"member":"m","score":1}]}`, "Idempotency-Key", key)
			servertest.RequireProblem(t, answer, 400, "invalid_request", "Idempotency-Key")
		}
		top, _ := n.Top("b", 1)
		require.Equal(t, counted, top[0].Score, "what is refused does not count")
	})
}
