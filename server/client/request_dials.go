package client

import (
	"context"
	"net/http/httptrace"
	"sync/atomic"
)

// dialTrace records how far an attempt got. An http.Transport calls both hooks; another RoundTripper may call none,
// so that only wanted says that the hooks work.
type dialTrace struct{ wanted, got atomic.Bool }

// trace returns a context for the attempt.
func (d *dialTrace) trace(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { d.wanted.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { d.got.Store(true) },
	})
}
