package flags

import (
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"
)

// A value out of the bounds is refused, with them. What is not given has no bounds.
func TestCheckRanges(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"":                                {"--n=1", "--d=5m", "--limit=0"},
		"--n must be from 1 to 1000":      {"--n=0"},
		"--d must be from 10ms to 5m":     {"--d=5m1s"},
		"--limit must be 0 or more":       {"--limit=-1"},
		"--rounds must be from 1 to 1000": {"--rounds=0"},
	} {
		var command struct {
			N      int           `range:"1..1000" default:"7"`
			D      time.Duration `range:"10ms..5m" default:"10s"`
			Limit  int           `range:"0.."`
			Rounds *int          `range:"1..1000"`
			Free   int
		}
		parsed, err := kong.Must(&command).Parse(args)
		require.NoError(t, err)
		if err := CheckRanges(parsed); want == "" {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, want)
		}
	}
}

// A tag that cannot be read ends the program, so that no flag loses its bounds unseen.
func TestMalformedRanges(t *testing.T) {
	t.Parallel()
	for _, command := range []any{
		&struct {
			N int `range:"1"`
		}{}, &struct {
			N int `range:"..9"`
		}{}, &struct {
			N int `range:"1..1,000"`
		}{}, &struct {
			N *int `range:"9..1"`
		}{}, &struct {
			N time.Duration `range:"10..5m"`
		}{},
	} {
		parsed, err := kong.Must(command).Parse(nil)
		require.NoError(t, err)
		require.PanicsWithValue(t, "flag --n: range \""+parsed.Flags()[1].Tag.Get("range")+"\" is malformed", func() { CheckRanges(parsed) })
	}
}
