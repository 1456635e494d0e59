package gate

import (
	"errors"
	"log/slog"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v5"
	"github.com/labstack/echo/v5/middleware"

	"rankcast/ranking/lru"
	"rankcast/server/access"
	"rankcast/server/certificate"
	"rankcast/server/internal/host"
	"rankcast/server/internal/origin"
	"rankcast/server/internal/refusal"
)

// Config is what a Gate decides by. All fields but Certificate are required.
type Config struct {
	Guard          *access.Guard
	Limits         *access.Limits
	TrustedProxies []netip.Prefix
	Origins        *origin.List
	Hosts          *host.List
	// ChecksHost makes the gate refuse other hosts than Hosts on every listener. Without it, the gate does so on a
	// loopback address, and where Guard is open.
	ChecksHost bool
	// Certificate makes Serve speak TLS; nil for none.
	Certificate *certificate.Files
	// WriteTimeout and PingAfter are those of an HTTP/2 connection.
	WriteTimeout, PingAfter time.Duration
	Tickets                 TicketStore
	Sessions                SessionStore
	// NotFound may answer a request for a path that does not exist, and reports whether it has.
	NotFound func(c *echo.Context) (answered bool, err error)
	Log      *slog.Logger
}

// Gate admits requests, and answers those that fail. New makes it; all methods may be called concurrently.
type Gate struct {
	cfg       Config
	addresses *access.Addresses
	needs     Needs
	sessions  *lru.Cache[string, session] // by hash: those that requests to this node had

	checksHost              atomic.Bool
	loggedAt                atomic.Int64 // time of the last log entry about a failed request, Unix ns
	unauthorized, forbidden refusal.Count
}

// New makes a Gate. Protect tells it of the routes.
func New(cfg Config) *Gate {
	g := &Gate{cfg: cfg, addresses: access.NewAddresses(cfg.TrustedProxies, cfg.Log), sessions: lru.New[string, session](maxSessions)}
	g.checksHost.Store(cfg.ChecksHost)
	return g
}

// Protect makes each request to e pass the gate, and the gate answer the errors of handlers. It is called once, before the
// first request.
func (g *Gate) Protect(e *echo.Echo, needs Needs) {
	g.needs = needs
	e.HTTPErrorHandler = g.HandleError
	e.Use(g.allowOrigins, g.logPanics, middleware.Recover(), g.limitRequests, g.rejectOtherHosts,
		g.answerPreflights, rejectDotSegments, g.authenticate, g.rejectCrossOrigin, g.authorize, g.takeTurns)
}

// logPanics logs the panic of a handler, which Recover below it turns into an error.
func (g *Gate) logPanics(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c *echo.Context) error {
		err := next(c)
		if panicked, ok := errors.AsType[*middleware.PanicStackError](err); ok {
			err = panicked.Err
			g.cfg.Log.Error("handler panicked", "method", c.Request().Method, "route", DocumentedPath(c.Path()), "request", requestID(c),
				"error", err, "stack", string(panicked.Stack))
		}
		return err
	}
}
