package main

import (
	"context"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"rankcast/cmd/rankcast/internal/flags"
	"rankcast/ranking"
	"rankcast/server/client"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newParser parses the command line.
func newParser(t *testing.T) *kong.Kong {
	parser, err := kong.New(new(commands), kong.BindTo(t.Context(), (*context.Context)(nil)), kong.Vars{"version": "v", "addr": "a"})
	require.NoError(t, err)
	return parser
}

// Each tag range of a flag can be read. Bounds that a package sets are those of the package.
func TestBoundsOfFlags(t *testing.T) {
	t.Parallel()
	most := make(map[string]int64) // of the flags of each command
	require.NoError(t, kong.Visit(newParser(t).Model, func(node kong.Visitable, next kong.Next) error {
		command, isCommand := node.(*kong.Node)
		if !isCommand {
			return next(nil)
		}
		for _, flag := range command.Flags {
			if _, greatest, isBounded := flags.Bounds(flag); isBounded {
				most[command.Name+" "+flag.Name] = greatest
			}
		}
		return next(nil)
	}))
	require.Greater(t, len(most), 40)
	require.EqualValues(t, ranking.MaxAnnounce, most["serve webhook-top"])
	for _, batch := range []string{"replay batch", "updates batch", "show batch"} {
		require.EqualValues(t, client.MaxUpdates, most[batch], batch)
	}
}
