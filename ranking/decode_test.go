package ranking

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzParseChanges(f *testing.F) {
	f.Add("b\x1f\x1fEPOCH\x1f1\x1em\x1f\x1f-3.5\x1f1\x1em\x1f-3.5\x1f\x1f")
	f.Add("b\x1f2026-W47\x1fE\x1f9007199254740991\x1e\x1f\x1f\x1f")
	f.Fuzz(func(t *testing.T, payload string) {
		c, err := parseChanges(payload)
		if err != nil {
			require.ErrorIs(t, err, errNotChanges)
			return
		}
		require.NotEmpty(t, c.List)
		require.Positive(t, c.Seq)
		for _, change := range c.List {
			require.True(t, change.Old != nil || change.New != nil)
			require.Equal(t, change.New != nil, change.Rank > 0)
		}
	})
}

func FuzzParseCursor(f *testing.F) {
	f.Add(Cursor{Key: -3.25, Member: "s17"}.String())
	f.Add("AX_4AAAAAAAAbQ") // NaN
	f.Add("!")
	f.Fuzz(func(t *testing.T, s string) {
		c, err := ParseCursor(s)
		if err != nil {
			require.ErrorIs(t, err, ErrInvalid)
			return
		}
		require.Equal(t, s, c.String())
		require.NoError(t, CheckMember(c.Member))
	})
}

func FuzzParseOutcome(f *testing.F) {
	f.Add("a 3 1 - -")
	f.Add("d2026-W47 3 1 -9 2")
	f.Add("r")
	f.Fuzz(func(t *testing.T, s string) {
		o, err := parseOutcome(s)
		if err == nil && o.Err == nil && o.Result.Current != nil {
			require.Positive(t, o.Result.Current.Rank)
		}
	})
}
