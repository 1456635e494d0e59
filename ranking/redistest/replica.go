package redistest

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// Replicate makes the server a read-only replica of primary, by a proxy that lasts until the end of the
// test. It waits until the replica holds the data of the primary.
func (r *Redis) Replicate(primary *Redis) {
	r.t.Helper()
	ctx := context.Background()
	// By default, a primary waits for further replicas for some seconds.
	require.NoError(r.t, primary.Admin().ConfigSet(ctx, "repl-diskless-sync-delay", "0").Err())
	host, port, _ := strings.Cut(strings.TrimPrefix(StartProxy(r.t, primary.URL()).URL(), "redis://"), ":")
	require.NoError(r.t, r.Admin().Do(ctx, "REPLICAOF", host, port).Err())
	primary.AwaitReplica()
}

// Promote makes the server, which is a replica, a primary.
func (r *Redis) Promote() {
	require.NoError(r.t, r.Admin().Do(context.Background(), "REPLICAOF", "NO", "ONE").Err())
}

// acknowledges matches a replica in INFO that has acknowledged writes.
var acknowledges = regexp.MustCompile(`(?m)^slave\d+:.*,offset=[1-9]`)

// AwaitReplica waits until a replica of the server holds all its data.
func (r *Redis) AwaitReplica() {
	r.t.Helper()
	ctx := context.Background()
	Eventually(r.t, "the replica to hold all data", func() error {
		conn := r.Admin().Conn() // WAIT is about the writes of its own connection
		defer conn.Close()
		if err := conn.Set(ctx, "other", "", 0).Err(); err != nil {
			return err
		}
		if err := conn.Del(ctx, "other").Err(); err != nil {
			return err
		}
		if n, err := conn.Wait(ctx, 1, time.Second).Result(); err != nil || n < 1 {
			return fmt.Errorf("%d replicas (%v)", n, err)
		}
		// WAIT counts a replica from the end of the snapshot that the primary sends. Until the replica has loaded it, the
		// replica has acknowledged nothing.
		replicas, err := conn.Info(ctx, "replication").Result()
		if err == nil && !acknowledges.MatchString(replicas) {
			err = errors.New(replicas)
		}
		return err
	})
}
