package ranking

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/feed"
)

func FuzzParseCursor(f *testing.F) {
	f.Add(Cursor{Key: -3.25, Member: "s17"}.String())
	f.Add("AX_4AAAAAAAAbQ") // NaN
	f.Add("!")
	f.Fuzz(func(t *testing.T, s string) {
		c, err := ParseCursor(s)
		if err != nil {
			require.ErrorIs(t, err, definition.ErrInvalid)
			return
		}
		require.Equal(t, s, c.String())
		require.NoError(t, definition.CheckMember(c.Member))
	})
}

func FuzzParseHistoryCursor(f *testing.F) {
	f.Add(HistoryCursor{At: time.UnixMilli(1)}.String())
	f.Add(HistoryCursor{Period: "2026-W47", At: time.UnixMilli(1_795_168_800_000)}.String())
	f.Add("AQ")
	f.Fuzz(func(t *testing.T, s string) {
		c, err := ParseHistoryCursor(s)
		if err != nil {
			require.ErrorIs(t, err, definition.ErrInvalid)
			return
		}
		require.Equal(t, s, c.String())
	})
}

func FuzzParseOutcome(f *testing.F) {
	f.Add("a 3 1 - -")
	f.Add("d2026-W47 3 1 -9 2")
	f.Add("r")
	f.Add("c")
	f.Add("n")
	f.Add("d2026-11-20T06:30Z - - - -")
	r := must(definition.Compile(definition.Board{Name: "b"}))(f)
	f.Fuzz(func(t *testing.T, s string) {
		o, err := parseOutcome(r, s)
		if err == nil && o.Err == nil && o.Result.Current != nil {
			require.Positive(t, o.Result.Current.Rank)
		}
	})
}

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
