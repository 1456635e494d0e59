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
		"erasure": func() error { _, err := parseErasure(`{"member":"` + member); return err },
		"walk":    func() error { _, err := parseWalk(`{"member":"` + member); return err },
		"fields":  func() error { _, err := feed.ParseChanges("b\x1f\x1fE\x1f7\x1f1\x1e" + member); return err },
		"data": func() error {
			_, err := feed.ParseChanges("b\x1f\x1fE\x1f7\x1f1\x1e" + member + "\x1f\x1f2\x1f1\x1f")
			return err
		},
		"place": func() error {
			_, err := feed.ParseChanges("b\x1f\x1fE\x1f7\x1f1\x1e" + member + "\x1f\x1f2\x1fx")
			return err
		},
	} {
		err := parse()
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), member, name)
	}
}
