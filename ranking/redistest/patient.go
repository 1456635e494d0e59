package redistest

import (
	"context"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
)

// CallTimeout is what a test gives one call to Redis: on a machine with much else to
// do even a quick one may take seconds.
const CallTimeout = patience

// Patient has a client that was just opened wait for Redis as long.
func Patient(rdb redis.UniversalClient) {
	set := func(timeouts ...*time.Duration) {
		for _, timeout := range timeouts {
			*timeout = patience
		}
	}
	switch rdb := rdb.(type) {
	case *redis.Client:
		o := rdb.Options()
		set(&o.DialTimeout, &o.ReadTimeout, &o.WriteTimeout)
		rdb.AddHook(patientDial{})
	case *redis.ClusterClient: // the clients of its nodes are made when they are needed
		o := rdb.Options()
		set(&o.DialTimeout, &o.ReadTimeout, &o.WriteTimeout)
	}
}

// patientDial gives a connection patience to come about. The pool of a client took its
// timeout from the options when the client was made.
type patientDial struct{}

func (patientDial) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		return next(ctx, network, addr)
	}
}

func (patientDial) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

func (patientDial) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
