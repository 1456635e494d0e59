package gate

import (
	"net"
	"net/http"
)

const (
	// maxStreams bounds the requests of one HTTP/2 connection that are under way. RFC 9113, section 6.5.2,
	// recommends 100 at least.
	maxStreams = 100
	// maxFrame bounds a frame of HTTP/2 that the node reads, in bytes, and is the least that RFC 9113, section
	// 4.2, allows. A connection keeps a buffer for the largest one that has come.
	maxFrame = 16 << 10
)

// Serve accepts connections from l within the limits of addresses, with TLS if there is a certificate. TLS stands above
// the listener, so that the limits hold for clients that never finish a handshake. ReadHeaderTimeout and ReadTimeout of
// web bound the handshake too. Serve returns when web is shut down, or l fails.
func (g *Gate) Serve(web *http.Server, l net.Listener) error {
	if g.cfg.Guard.Open() || IsLoopback(l.Addr()) {
		g.checksHost.Store(true)
	}
	limited := g.cfg.Limits.Listener(l, g.addresses, g.cfg.Log)
	if g.cfg.Certificate == nil {
		if !g.cfg.Origins.None() {
			limited = corsListener{limited}
		}
		return web.Serve(limited)
	}
	web.TLSConfig = g.cfg.Certificate.TLS()
	// A connection whose client reads nothing ends by WriteByteTimeout alone: until then even the end of a stream
	// cannot be sent, and each stream keeps its memory.
	web.HTTP2 = &http.HTTP2Config{
		MaxConcurrentStreams: maxStreams, MaxReadFrameSize: maxFrame,
		WriteByteTimeout: g.cfg.WriteTimeout, SendPingTimeout: g.cfg.PingAfter,
	}
	return web.ServeTLS(limited, "", "") // offers HTTP/2 and HTTP/1.1
}
