package redisconn

import (
	"context"
	"net"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/internal/pipeline"
)

const (
	// stateInterval is how often a client asks for the masters of a cluster. With the default of the library, a
	// node would use a former master that is cut off from the others for a minute.
	stateInterval = time.Second
	// slotsTimeout bounds the wait for a node of a cluster that is asked for the masters. The library asks one
	// node after another, so nodes that hang on one machine would each delay the answer by ioTimeout.
	slotsTimeout = 500 * time.Millisecond
)

func (u *redisURL) openCluster() (redis.UniversalClient, error) {
	o, err := redis.ParseClusterURL(u.forLibrary())
	if err != nil {
		return nil, err
	}
	o.Addrs = append(o.Addrs, u.hosts[1:]...)
	if err := u.trustEach(o.TLSConfig); err != nil {
		return nil, err
	}
	o.Protocol, o.MaxRetries, o.DialerRetries = 2, -1, 1
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout = dialTimeout, ioTimeout, ioTimeout
	o.ContextTimeoutEnabled, o.MaintNotificationsConfig = true, quiet()
	o.DisableRoutingPolicies = true
	o.ClusterStateReloadInterval = stateInterval
	var cluster *redis.ClusterClient
	slots := new(slotsHook)
	o.NewClient = func(o *redis.Options) *redis.Client {
		dial := redis.NewDialer(o)
		o.Dialer = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			if err != nil { // another node may be the master
				cluster.ReloadState(ctx)
			}
			return conn, err
		}
		node := redis.NewClient(o)
		node.AddHook(slots)
		return node
	}
	cluster = redis.NewClusterClient(o)
	return pipeline.New(cluster), nil
}

// slotsHook applies slotsTimeout to the nodes of a cluster, once one of them has answered. Before that, a client must
// also connect to the nodes, which takes longer on a slow line.
type slotsHook struct {
	answered atomic.Bool
}

// ProcessHook is part of redis.Hook.
func (h *slotsHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if _, asks := cmd.(*redis.ClusterSlotsCmd); !asks {
			return next(ctx, cmd)
		}
		if h.answered.Load() {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, slotsTimeout)
			defer cancel()
		}
		err := next(ctx, cmd)
		if err == nil {
			h.answered.Store(true)
		}
		return err
	}
}

// DialHook is part of redis.Hook.
func (*slotsHook) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessPipelineHook is part of redis.Hook.
func (*slotsHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
