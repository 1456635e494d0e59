package ranking_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
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

// A check on a read-only replica fails, and also finds what its user may not do: then no update counts until a check has
// succeeded. Once the replica is the primary, the first update counts.
func TestCheckOnReplica(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t, redistest.WithDebug...)
	open(t, r.URL(), definition.Board{Name: "stars"})
	becomeReplica(t, r)
	s := newNode(t, r.URL(), ranking.Config{})
	var missing *definition.MissingRightsError
	require.ErrorAs(t, s.CheckRights(t.Context()), &missing)
	require.Equal(t, readOnlyReplica, missing.Reason)
	requireRefused(t, r, s, readOnlyReplica)

	app := newNode(t, r.AppURL(without("-hset")...), ranking.Config{})
	require.ErrorContains(t, app.CheckRights(t.Context()), "HSET")
	require.ErrorContains(t, app.CheckRights(t.Context()), readOnlyReplica)
	r.Promote()
	requireRefused(t, r, app, "HSET")
	require.Equal(t, applied(1, 1, nil), applyOne(t, s, "stars", definition.Update{Member: "ana", Score: 1, ID: "1"}))
	require.NoError(t, s.CheckRights(t.Context()))
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

// Redis refuses all writes while its disk is full, its replicas are away, or its memory is full. The Store then refuses
// each write with the reason, as one that has changed nothing. Reads go on, and the first write afterwards counts.
func TestRedisAcceptsNoWrites(t *testing.T) {
	t.Parallel()
	set := func(setting, value string) func(*testing.T, *redistest.Redis) {
		return func(t *testing.T, r *redistest.Redis) {
			require.NoError(t, r.Admin().ConfigSet(t.Context(), setting, value).Err())
		}
	}
	// save makes a snapshot, and waits for its end: ok, or err because a folder has its name.
	save := func(t *testing.T, r *redistest.Redis, status string) {
		require.NoError(t, r.Admin().BgSave(t.Context()).Err())
		redistest.Eventually(t, "the end of the snapshot", func() error {
			info, err := r.Admin().InfoMap(t.Context(), "persistence").Result()
			if of := info["Persistence"]; err != nil || of["rdb_bgsave_in_progress"] != "0" || of["rdb_last_bgsave_status"] != status {
				return errors.Join(err, errors.New(of["rdb_last_bgsave_status"]))
			}
			return nil
		})
	}
	snapshot := func(t *testing.T, r *redistest.Redis) string {
		return filepath.Join(must(r.Admin().ConfigGet(t.Context(), "dir").Result())(t)["dir"], "dump.rdb")
	}
	for name, c := range map[string]struct {
		begin, end func(*testing.T, *redistest.Redis)
		reason     string
	}{
		"MISCONF": {
			func(t *testing.T, r *redistest.Redis) {
				set("save", "3600 1000000")(t, r)
				require.NoError(t, os.Mkdir(snapshot(t, r), 0o700))
				save(t, r, "err")
			},
			func(t *testing.T, r *redistest.Redis) {
				require.NoError(t, os.Remove(snapshot(t, r)))
				save(t, r, "ok")
			},
			" is configured to save RDB snapshots",
		},
		"NOREPLICAS": {
			set("min-replicas-to-write", "1"), set("min-replicas-to-write", "0"),
			"NOREPLICAS Not enough good replicas to write.",
		},
		"OOM": {
			set("maxmemory", "1"), set("maxmemory", "0"),
			"OOM command not allowed when used memory > 'maxmemory'.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := redistest.Start(t, redistest.WithDebug...)
			s := open(t, r.URL(), definition.Board{Name: "stars"})
			require.NoError(t, s.CheckRights(t.Context()))
			c.begin(t, r)
			requireRefused(t, r, s, c.reason) // though no check has run
			require.ErrorContains(t, s.ProbeWrite(t.Context()), c.reason)
			require.ErrorContains(t, s.CheckRights(t.Context()), c.reason)
			requireRefused(t, r, s, c.reason)
			must(s.Page(t.Context(), "stars", 1, 10))(t)
			c.end(t, r)
			require.Equal(t, applied(1, 1, nil), applyOne(t, s, "stars", definition.Update{Member: "ana", Score: 1, ID: "1"}))
			require.NoError(t, s.CheckRights(t.Context()))
			require.NoError(t, s.MissingRights())
		})
	}
}

// While a script runs for too long, Redis refuses all commands. It has not carried them out.
func TestBusyRedisCountsNothing(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	s := open(t, r.URL(), definition.Board{Name: "stars"})
	require.NoError(t, r.Admin().ConfigSet(t.Context(), "busy-reply-threshold", "1").Err())
	other, ended := redistest.Dial(t, r.URL()), make(chan error, 1)
	go func() { ended <- other.Eval(context.Background(), "while true do end", nil).Err() }()
	update := definition.Update{Member: "ana", Score: 1}
	counted := int64(0)
	var err error
	redistest.Eventually(t, "the script to run", func() error {
		if _, err = s.Apply(t.Context(), "stars", []definition.Update{update}); err == nil {
			counted++
			return errors.New("it does not")
		}
		return nil
	})
	require.ErrorContains(t, err, "BUSY ")
	require.ErrorIs(t, err, definition.ErrUnavailable)
	require.NotErrorIs(t, err, definition.ErrOutcomeUnknown)
	require.NoError(t, redistest.Dial(t, r.URL()).ScriptKill(t.Context()).Err())
	require.Error(t, redistest.Receive(t, "the run to end", ended))
	require.Equal(t, counted+1, applyOne(t, s, "stars", update).Result.Current.Score)
}
