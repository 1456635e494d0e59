package example_test

import (
	"bytes"
	"testing"

	"github.com/alecthomas/kong"
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
	require.Equal(t, []string{"fans3h:{star}", "fans:{star}", "givers-month", "givers-week", "laps", "points", "stars", "total"}, boards)
	require.Len(t, defined.Events, 1)
	require.Equal(t, "gift", defined.Events[0].Name)
	require.Len(t, defined.Events[0].Updates, 6)
}

// Each command that prints has its file.
func TestExampleCommands(t *testing.T) {
	t.Parallel()
	printed := map[string][]byte{
		"boards": example.Boards, "alerts": example.Alerts, "grafana": example.Grafana, "compose": example.Compose,
		"kubernetes": example.Kubernetes,
	}
	all := kong.Must(&example.Command{}).Model.Children
	require.Len(t, all, len(printed)+1, "systemd writes its files")
	for _, command := range all {
		if command.Name == "systemd" {
			continue
		}
		var out bytes.Buffer
		parsed, err := kong.Must(&example.Command{}, kong.Writers(&out, &out)).Parse([]string{command.Name})
		require.NoError(t, err)
		require.NoError(t, parsed.Run(), command.Name)
		require.NotEmpty(t, out.Bytes(), command.Name)
		require.Equal(t, string(printed[command.Name]), out.String(), command.Name)
	}
}
