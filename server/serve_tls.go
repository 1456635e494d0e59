package server

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

// serveOn accepts connections from l, with TLS if there is a certificate. TLS stands above the listener, so
// that the limits of connections hold for clients that never finish a handshake. ReadHeaderTimeout and
// ReadTimeout bound the handshake too.
func (s *Server) serveOn(web *http.Server, l net.Listener) error {
	if s.cfg.Certificate == nil {
		return web.Serve(l)
	}
	web.TLSConfig = s.cfg.Certificate.TLS()
	// A connection whose client reads nothing ends by WriteByteTimeout alone: until then even the end of a stream
	// cannot be sent, and each stream keeps its memory.
	web.HTTP2 = &http.HTTP2Config{
		MaxConcurrentStreams: maxStreams, MaxReadFrameSize: maxFrame,
		WriteByteTimeout: s.cfg.WriteTimeout, SendPingTimeout: s.cfg.PingAfter,
	}
	return web.ServeTLS(l, "", "") // offers HTTP/2 and HTTP/1.1
}
