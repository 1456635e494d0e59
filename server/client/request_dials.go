package client

import (
	"context"
	"net/http/httptrace"
	"sync/atomic"
)

// dialTrace records how far the attempts of a call got. An http.Transport calls both hooks; another
// RoundTripper may call none, so that only wants says that the hooks work.
type dialTrace struct{ attempts, wants, gets atomic.Int64 }

// trace returns a context for one attempt.
func (d *dialTrace) trace(ctx context.Context) context.Context {
	d.attempts.Add(1)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { d.wants.Add(1) },
		GotConn: func(httptrace.GotConnInfo) { d.gets.Add(1) },
	})
}

// sentNothing reports whether each attempt wanted a connection, and none got one.
func (d *dialTrace) sentNothing() bool {
	return d.gets.Load() == 0 && d.wants.Load() >= d.attempts.Load()
}
