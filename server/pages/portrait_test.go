package pages

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// The portraits of the first answer are those of the kit: TestKitDrawsPortraitsAsTheServer reads the same table.
func TestPortraits(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../web/testdata/portraits.json")
	require.NoError(t, err)
	var cases []struct {
		ID, Name, Initial string
		Hue               int
	}
	require.NoError(t, json.Unmarshal(b, &cases))
	require.NotEmpty(t, cases)
	for _, c := range cases {
		require.Equal(t, c.Initial, initialOf(c.Name), c.Name)
		require.Equal(t, c.Hue, hueOf(c.ID), c.ID)
	}
}
