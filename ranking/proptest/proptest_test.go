package proptest_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking/proptest"
)

// Tests that run side by side draw their own number of cases each, and the seeded ones the
// same cases.
func TestTestsSideBySideDrawTheirOwnCases(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	drawn := make(map[string][]int64)
	t.Run("all", func(t *testing.T) {
		for i, n := range []int{5, 25, 50, 50} {
			name := fmt.Sprint("test", i)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				proptest.CheckSeeded(t, n, func(t *rapid.T) {
					value := rapid.Int64().Draw(t, "value")
					mu.Lock()
					defer mu.Unlock()
					drawn[name] = append(drawn[name], value)
				})
			})
		}
	})
	require.Less(t, len(drawn["test0"]), len(drawn["test1"]))
	require.Less(t, len(drawn["test1"]), len(drawn["test2"]))
	require.Equal(t, drawn["test0"], drawn["test2"][:len(drawn["test0"])])
	require.Equal(t, drawn["test2"], drawn["test3"])
}
