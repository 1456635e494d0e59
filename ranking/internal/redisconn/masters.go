package redisconn

import (
	"cmp"
	"context"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/internal/pipeline"
)

// EachMaster calls do for each master of a cluster, with its address, host:port. Without a cluster it calls do once, with
// rdb and the address "". The calls of a cluster run at the same time. EachMaster returns the first error of do, or the
// error of the search for the masters.
func EachMaster(ctx context.Context, rdb redis.UniversalClient,
	do func(ctx context.Context, address string, master redis.UniversalClient) error) error {
	cluster := pipeline.ClusterOf(rdb)
	if cluster == nil {
		return do(ctx, "", rdb)
	}
	return cluster.ForEachMaster(ctx, func(ctx context.Context, master *redis.Client) error {
		return do(ctx, master.Options().Addr, master)
	})
}

// Address returns host:port of the Redis of a client, or the path of its socket; "" for a cluster and behind Sentinels, where
// that changes.
func Address(rdb redis.UniversalClient) string {
	if client, ok := rdb.(*pipeline.Client); ok {
		rdb = client.Unwrap()
	}
	if one, ok := rdb.(*redis.Client); ok && one.Options().Addr != failover {
		return one.Options().Addr
	}
	return ""
}

// failover is what the library has in place of the address of a client behind Sentinels.
const failover = "FailoverClient"

// User returns the name of the ACL user of a client.
func User(rdb redis.UniversalClient) string {
	if client, ok := rdb.(*pipeline.Client); ok {
		rdb = client.Unwrap()
	}
	name := ""
	switch rdb := rdb.(type) {
	case *redis.Client:
		name = rdb.Options().Username
	case *redis.ClusterClient:
		name = rdb.Options().Username
	}
	return cmp.Or(name, "default")
}
