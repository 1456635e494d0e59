package replay

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

func TestParseTime(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		`"2026-11-20T08:00:00Z"`: at, `"2026-11-20T16:00:00.250+08:00"`: at.Add(250 * time.Millisecond), `"2026-11-20"`: at.Add(-8 * time.Hour),
		`1795161600250`: at.Add(250 * time.Millisecond), `"1795161600250"`: at.Add(250 * time.Millisecond), `-1000`: time.Unix(-1, 0),
	} {
		got, err := parseTime(jsontext.Value(text))
		require.NoError(t, err)
		require.True(t, want.Equal(got), "%s: %v", text, got)
	}
	for _, bad := range []string{`"20.11.2026"`, `""`, `1.5`, `null`, `true`, `[]`, `"08:00"`} {
		_, err := parseTime(jsontext.Value(bad))
		require.ErrorContains(t, err, "want a time", bad)
	}
}
