package servertest

import "go.uber.org/goleak"

// IdleConnections makes redistest.Main ignore the idle connections of http.DefaultTransport and of clients that
// tests do not close.
func IdleConnections() []goleak.Option {
	return []goleak.Option{
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"),
	}
}
