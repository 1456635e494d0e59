package ranking

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/feed"
)

// What Redis holds, or sends, may be damaged. The error about it goes to the log, so it names no member.
func TestErrorsAboutDamagedDataNameNoMember(t *testing.T) {
	t.Parallel()
	const member = "secret-member"
	for name, parse := range map[string]func() error{
		"erasure": func() error { return errorOf(parseErasure(`{"member":"` + member)) },
		"walk":    func() error { return errorOf(parseWalk(`{"member":"` + member)) },
		"fields":  func() error { return errorOf(feed.ParseChanges("b\x1f\x1fE\x1f7\x1f1\x1e" + member)) },
		"data": func() error {
			return errorOf(feed.ParseChanges("b\x1f\x1fE\x1f7\x1f1\x1e" + member + "\x1f\x1f2\x1f1\x1f"))
		},
		"place": func() error {
			return errorOf(feed.ParseChanges("b\x1f\x1fE\x1f7\x1f1\x1e" + member + "\x1f\x1f2\x1fx"))
		},
	} {
		err := parse()
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), member, name)
	}
}
