package ranking_test

import (
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

// allKeys lists the keys that there are, sorted.
func allKeys(t testing.TB, url string) []string {
	t.Helper()
	rdb := redistest.Dial(t, url)
	defer rdb.Close()
	keys, err := rdb.Keys(t.Context(), "*").Result()
	require.NoError(t, err)
	slices.Sort(keys)
	return keys
}

// patience bounds every wait: far beyond what a slow machine takes.
const patience = time.Minute

func unmarshal(text string, v any) error {
	return json.Unmarshal([]byte(text), v, json.MatchCaseInsensitiveNames(true))
}
