package definition

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

// Two definitions differ in the fields that only one has, and in those with another value.
func TestChanges(t *testing.T) {
	t.Parallel()
	board := func(text string) Board { return redistest.Must(ParseBoardYAML("b", []byte(text)))(t) }
	require.Equal(t, []Change{}, Changes(board("{mode: sum}"), board("{order: desc, ties: first}")))
	require.Equal(t, []Change{
		{"day_starts_at", jsontext.Value(`"00:00"`), nil},
		{"keep", jsontext.Value("8"), nil},
		{"mode", jsontext.Value(`"sum"`), jsontext.Value(`"best"`)},
		{"period", jsontext.Value(`"day"`), nil},
		{"timezone", jsontext.Value(`"UTC"`), nil},
		{"title", nil, jsontext.Value(`{"en":"A","zh":"B"}`)},
	}, Changes(board("{period: day}"), board("{mode: best, title: {zh: B, en: A}}")))
}
