package example_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/internal/example"
	"rankcast/ranking/definition"
)

// The documentation names these boards and this event.
func TestExampleBoards(t *testing.T) {
	t.Parallel()
	defined, err := definition.ParseFile(example.Boards)
	require.NoError(t, err)
	var boards []string
	for _, b := range defined.Boards {
		boards = append(boards, b.Name)
	}
	require.Equal(t, []string{"fans3h:{star}", "fans:{star}", "givers-month", "givers-week", "laps", "points", "stars"}, boards)
	require.Len(t, defined.Events, 1)
	require.Equal(t, "gift", defined.Events[0].Name)
	require.Len(t, defined.Events[0].Updates, 5)
}
