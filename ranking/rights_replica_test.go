package ranking_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

const readOnlyReplica = "READONLY You can't write against a read only replica."

// becomeReplica makes a server the replica of another one that has the same data.
func becomeReplica(t *testing.T, r *redistest.Redis) {
	other := redistest.Start(t)
	other.Replicate(r)
	other.Promote()
	r.Replicate(other)
}

// A check on a read-only replica fails. No update counts before a check on the primary has succeeded.
func TestCheckOnReplica(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t, redistest.WithDebug...)
	open(t, r.URL(), definition.Board{Name: "stars"})
	becomeReplica(t, r)
	s := newNode(t, r.URL(), ranking.Config{})
	var missing *ranking.MissingRightsError
	require.ErrorAs(t, s.CheckRights(t.Context()), &missing)
	require.Equal(t, readOnlyReplica, missing.Reason)
	requireRefused(t, r, s, readOnlyReplica)

	// A check on a replica tries no HSET, as it could not take the key away again.
	r.Promote()
	requireRefused(t, r, s, readOnlyReplica)
	require.NoError(t, s.CheckRights(t.Context()))
	require.Equal(t, applied(1, 1, nil), applyOne(t, s, "stars", definition.Update{Member: "ana", Score: 1, ID: "1"}))
}

// A node whose Redis has become a replica goes on sending writes: the first one after the failover
// counts, though no check has run.
func TestFirstWriteAfterFailover(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t, redistest.WithDebug...)
	s := open(t, r.URL(), definition.Board{Name: "stars", Kind: "user"})
	require.NoError(t, s.CheckRights(t.Context()))
	becomeReplica(t, r)
	requireRefused(t, r, s, readOnlyReplica) // though no check has run
	for range 2 {
		require.ErrorContains(t, s.CheckRights(t.Context()), readOnlyReplica)
		requireRefused(t, r, s, readOnlyReplica)
		_, err := s.SetProfile(t.Context(), "user", "ana", ranking.Profile{Name: "Ana"})
		require.ErrorContains(t, err, readOnlyReplica)
	}
	r.Promote()
	require.Equal(t, applied(1, 1, nil), applyOne(t, s, "stars", definition.Update{Member: "ana", Score: 1, ID: "1"}))
	require.ErrorContains(t, s.MissingRights(), readOnlyReplica)
	require.NoError(t, s.CheckRights(t.Context()))
	require.NoError(t, s.MissingRights())
}

// The first write that a replica refuses makes the node check at once: it does not wait for the next probe, and neither does
// the readiness of the node.
func TestARefusedWriteFindsReplica(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t, redistest.WithDebug...)
	s := newNode(t, r.URL(), ranking.Config{ProbeInterval: time.Hour})
	require.NoError(t, s.DefineBoard(t.Context(), definition.Board{Name: "stars"}, ranking.Moderator{}))
	require.NoError(t, s.CheckRights(t.Context()))
	checksRights(t, s)
	becomeReplica(t, r)
	require.NoError(t, s.MissingRights(), "no write was refused")
	requireRefused(t, r, s, readOnlyReplica)
	redistest.Until(t, "the check after a refused write", func() bool { return s.MissingRights() != nil })
}

// A probe finds that Redis has become a replica, without any write and with all connections whole. The
// log has it once, and the node goes on by itself.
func TestProbeFindsReplica(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	s := newNode(t, r.URL(), ranking.Config{ProbeInterval: 20 * time.Millisecond})
	require.NoError(t, s.CheckRights(t.Context()))
	log := checksRights(t, s)
	for round := range 2 {
		becomeReplica(t, r)
		redistest.Until(t, "the probe", func() bool { return s.MissingRights() != nil })
		require.ErrorContains(t, s.MissingRights(), readOnlyReplica)
		r.Promote()
		goesOn(t, log, round+1)
		require.NoError(t, s.MissingRights())
		require.Equal(t, round+1, strings.Count(log.String(), readOnlyReplica), log.String())
	}
	require.Empty(t, allKeys(t, r.URL()), "a probe leaves nothing behind")
}
