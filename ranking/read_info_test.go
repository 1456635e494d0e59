package ranking_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// A user who may not ask for the memory of a key gets an estimate.
func TestMemoryIsEstimatedWithoutTheRight(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	s := open(t, r.AppURL("~rc:*", "&rc:*", "+@all", "-memory"), definition.Board{Name: "stars"})
	applyOne(t, s, "stars", definition.Update{Member: "ana", Score: 1})
	require.Positive(t, must(s.Info(t.Context(), "stars"))(t).Memory)
}
