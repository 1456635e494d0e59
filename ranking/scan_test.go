package ranking

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
	"rankcast/ranking/redistest"
)

// After a restart, Redis has all members of a sorted set in other places. A moderation that is reading them to hide some
// finds all of them.
func TestModerationOutlivesARestartOfRedis(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t, "--appendonly", "yes")
	s := newNode(t, r.URL())
	define(t, s, definition.Board{Name: "b", Kind: "user"})
	const members = 3*moderationPage + 7
	applyScores(t, s, "b", members, func(int) int64 { return 1 })
	find := func() (n int) {
		found := make(map[string]bool)
		require.NoError(t, s.scanMembers(t.Context(), s.keys.Board("b", "").Members, func(member, _ string) { found[member] = true }))
		return len(found)
	}
	require.Equal(t, members, find(), "Redis knows the script now")
	restarted := false
	after(t, s, script.Scan, 0, func() {
		restarted = true
		r.Kill()
		r.Start()
		redistest.Eventually(t, "Redis to answer", func() error { return s.Ping(t.Context()) })
	})
	require.Equal(t, members, find())
	require.True(t, restarted)
}
