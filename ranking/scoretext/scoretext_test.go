package scoretext_test

import (
	"cmp"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/scoretext"
)

func TestScores(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("testdata/cases.json")
	require.NoError(t, err)
	var cases []struct {
		Score   int64
		Display definition.Display
		Text    string
		Short   string // "": as Text
		ShortZh string `json:"short_zh"`
	}
	require.NoError(t, json.Unmarshal(b, &cases))
	require.NotEmpty(t, cases)
	for _, c := range cases {
		require.Equal(t, c.Text, scoretext.Score(c.Score, c.Display, "en"), "%d %+v", c.Score, c.Display)
		require.Equal(t, cmp.Or(c.Short, c.Text), scoretext.Short(c.Score, c.Display, "en"), "%d %+v", c.Score, c.Display)
		require.Equal(t, cmp.Or(c.ShortZh, c.Text), scoretext.Short(c.Score, c.Display, "zh-Hans"), "%d %+v", c.Score, c.Display)
		if c.Display.Unit == nil && c.Display.Decimals == 0 && c.Display.Format == "" {
			require.Equal(t, c.Text, scoretext.Number(c.Score))
		}
	}
}
