package redistest

import (
	"context"
	"net"
	"time"

	"rankcast/ranking/internal/redisconn"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// CallTimeout is the timeout of one call to Redis in a test. On a busy machine even a quick call
// may take seconds.
const CallTimeout = patience

// Dial opens a client of a test's own, with the timeouts of CallTimeout. It is closed when the test, or the case of a
// property, ends.
func Dial(t interface {
	require.TestingT
	Cleanup(end func())
}, url string) redis.UniversalClient {
	rdb, err := redisconn.Open(url)
	require.NoError(t, err)
	Patient(rdb)
	t.Cleanup(func() { rdb.Close() })
	return rdb
}

// Patient gives a client that was just opened the timeouts of CallTimeout.
func Patient(rdb redis.UniversalClient) {
	if over, ok := rdb.(interface{ Unwrap() redis.UniversalClient }); ok {
		rdb = over.Unwrap()
	}
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
