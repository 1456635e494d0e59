package card

import (
	"cmp"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// A card shows each score and each name of the tables that all surfaces share: what no font has shows as something, or
// is a picture beside a text that says the same.
func TestCardsDrawTheTables(t *testing.T) {
	t.Parallel()
	f := newFaces()
	for file, field := range map[string]string{"cases.json": "text", "names.json": "name"} {
		b, err := os.ReadFile("../../../../ranking/scoretext/testdata/" + file)
		require.NoError(t, err)
		var cases []map[string]any
		require.NoError(t, json.Unmarshal(b, &cases))
		require.NotEmpty(t, cases)
		for _, c := range cases {
			text, _ := c[field].(string)
			onCard, _ := c["card"].(string)
			require.Equal(t, cmp.Or(onCard, text), f.presentable(text), "%q", text)
			for _, r := range f.presentable(text) {
				require.True(t, f.canDraw(r), "%U of %q", r, text)
			}
		}
	}
}
