package faults

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/ranking/redistest"
)

// No command touches data of another layout: each ends, and says how to come over.
func TestDataOfAnotherLayout(t *testing.T) {
	t.Parallel()
	for name, fields := range map[string][]any{
		"a later layout": {"version", "x", "layout", "999"},
		"no layout":      {"version", "x"},
	} {
		t.Run(name, func(t *testing.T) {
			r := redistest.Start(t, redistest.WithDebug...)
			require.NoError(t, r.Admin().HSet(t.Context(), "rc:{/}:definitions", fields...).Err())
			requireLayoutRefused(t, r)
		})
	}
}

// requireLayoutRefused requires that the commands of this version that use Redis refuse its data, and change
// nothing.
func requireLayoutRefused(t *testing.T, r *redistest.Redis) {
	t.Helper()
	before := r.Digest()
	for _, args := range [][]string{
		{"serve", "--addr", "127.0.0.1:0", "--redis", r.URL()},
		{"ingest", "--redis", r.URL()},
		{"ingest", "--redis", r.URL(), "--replay-dead"},
		{"doctor", "--redis", r.URL()},
	} {
		got := e2etest.RunUntil(t, "Redis holds data of ", args...)
		require.NotZero(t, got.Code, args)
		require.Regexp(t, `Redis holds data of .* under the prefix "?\\?"?rc`, got.Stdout+got.Stderr, args)
		require.Contains(t, got.Stdout+got.Stderr, "export the boards with the version that wrote them", args)
	}
	require.Equal(t, before, r.Digest())
}
