package server

import (
	"log/slog"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rankcast/server/access"
	"rankcast/server/certificate"
	"rankcast/server/internal/host"
	"rankcast/server/internal/origin"
)

// Config configures a Server. The zero value of each field means its default.
type Config struct {
	// MaxTop is the maximum number of entries in a subscription or a page, 1 to 1,000.
	// Default 1,000.
	MaxTop int
	// WriteTimeout is how long a WebSocket may take to accept 2 KiB, or the rest of a frame,
	// before the server closes it.
	// Default 10 s.
	WriteTimeout time.Duration
	// PingAfter is the silence of a socket after which the server pings it. A socket that sends nothing
	// for further 10 s is closed. Proxies close idle connections after 30 s to 60 s. Default 25 s.
	PingAfter time.Duration
	// RequestTimeout bounds the arrival of a request, and the sending of its answer. For an
	// import or export it bounds the time without any byte. Default 30 s.
	RequestTimeout time.Duration
	// IdleTimeout is how long a connection may stay open between two requests. A load balancer that keeps connections
	// for longer than the node sends a request on one that the node closes, and answers 502. Default 620 s: balancers
	// commonly keep theirs for up to 600 s.
	IdleTimeout time.Duration
	// ReadOnlySockets makes WebSockets refuse updates and events. Default false.
	ReadOnlySockets bool
	// Origins are the origins of other sites whose pages may read what is under /v1/ and open
	// sockets. Such sockets accept updates and events only with credentials. The server closes a socket of any
	// other origin at once, with 4503. CheckOrigin checks an origin. Default none.
	Origins []string
	// FrameOrigins are the origins of other sites whose pages may frame /embed/{board}. CheckFrameOrigin checks an origin.
	// Default none.
	FrameOrigins []string
	// AvatarOrigins are the origins of other sites whose images the server's pages may show as avatars.
	// CheckAvatarOrigin checks an origin. Default none.
	AvatarOrigins []string
	// TrustedProxies are the proxies whose Forwarded or X-Forwarded-For names the client of a request.
	// access.ParseProxies reads them. Default none.
	TrustedProxies []netip.Prefix
	// Limits bounds what clients may use of the node. Default: the defaults of access.Config.
	Limits access.Config
	// Hosts are the names of the server, such as scores.example.com or *.example.com, with an optional
	// port. With Hosts, and always on a loopback address or without Access, the server answers only
	// requests whose Host is one of them, localhost, a name below localhost or an IP literal. It answers
	// all others with 421. CheckHost checks a host. Default none.
	Hosts []string
	// Access finds the callers of requests, and their rights. The caller of New runs it. Default: anybody may
	// do anything.
	Access *access.Guard
	// Certificate makes the server speak TLS, with HTTP/2 and HTTP/1.1. The caller of New runs it. Default: no
	// TLS, and HTTP/1.1 alone.
	Certificate *certificate.Files
	// Node is the id of the node, of status.NewID, under which it reports of itself. Default one without a port.
	Node string
	// Version is the version of the program, for the same reports. Default none.
	Version string
	// StopTimeout bounds a graceful stop: then the server closes the connections of pending
	// requests, and of clients that have not answered the close frame. Default 5 s.
	StopTimeout time.Duration
	// Log gets messages for operators. Default slog.Default.
	Log *slog.Logger
	// Metrics gets the metrics of the server, and is what /metrics shows. Default a registry of the server's own.
	Metrics *prometheus.Registry
}

// CheckOrigin returns an error for a value that Config.Origins does not accept: one that is not an
// origin, or that no browser would send in that form.
func CheckOrigin(value string) error { return origin.Check(value) }

// CheckFrameOrigin returns an error for a value that Config.FrameOrigins does not accept: one that is not an origin, or
// that no policy of a page can name.
func CheckFrameOrigin(value string) error { return origin.CheckFrames(value) }

// CheckAvatarOrigin returns an error for a value that Config.AvatarOrigins does not accept: one that is not an origin
// by https, or by http of this machine.
func CheckAvatarOrigin(value string) error { return origin.CheckAvatars(value) }

// CheckHost returns an error for a value that Config.Hosts does not accept: one that is not a host with an
// optional port, or "*." and a host.
func CheckHost(value string) error { return host.Check(value) }
