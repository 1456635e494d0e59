package server

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/semaphore"

	"rankcast/hub"
	"rankcast/ranking"
	"rankcast/server/access"
	"rankcast/server/certificate"
	"rankcast/server/internal/host"
	"rankcast/server/internal/origin"
	"rankcast/server/internal/refusal"
	"rankcast/server/internal/sharedread"
	"rankcast/server/live"
	"rankcast/server/pages"
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
	// StopTimeout bounds a graceful stop: then the server closes the connections of pending
	// requests, and of clients that have not answered the close frame. Default 5 s.
	StopTimeout time.Duration
	// Log gets messages for operators. Default slog.Default.
	Log *slog.Logger
	// Metrics gets the metrics of the server, and is what /metrics shows. Default a registry of the server's own.
	Metrics *prometheus.Registry
}

// Server answers requests and serves sockets. New makes one, Serve runs it. All methods may be
// called concurrently.
type Server struct {
	store *ranking.Store
	hub   *hub.Hub
	cfg   Config
	log   *slog.Logger
	echo  *echo.Echo

	addresses *access.Addresses
	limits    *access.Limits
	guard     *access.Guard
	needs     map[string]map[string]need // by method and path of a route

	reads       sharedread.Reads[boardRead, []byte] // with encoded answers
	overviews   recentReads[*overview]
	families    recentReads[*familyOverview]
	familyReads *semaphore.Weighted // of maxFamilyReads
	rates       changeRates
	boardList   definitionsCache
	eventList   definitionsCache
	pages       *pages.Site
	cards       *cards

	sessions *live.Sessions
	stopping atomic.Bool

	hosts      *host.List
	checksHost atomic.Bool // whether the rule of Config.Hosts applies

	loggedAt                atomic.Int64 // time of the last log entry about a failed request, Unix ns
	unauthorized, forbidden refusal.Count
}

// New makes a Server of a store and a hub that watches it. It starts nothing.
func New(store *ranking.Store, h *hub.Hub, cfg Config) *Server {
	cfg.MaxTop = cmp.Or(cfg.MaxTop, 1000)
	cfg.WriteTimeout = cmp.Or(cfg.WriteTimeout, 10*time.Second)
	cfg.PingAfter = cmp.Or(cfg.PingAfter, 25*time.Second)
	cfg.RequestTimeout = cmp.Or(cfg.RequestTimeout, 30*time.Second)
	cfg.IdleTimeout = cmp.Or(cfg.IdleTimeout, 620*time.Second)
	cfg.StopTimeout = cmp.Or(cfg.StopTimeout, 5*time.Second)
	cfg.Log = cmp.Or(cfg.Log, slog.Default())
	cfg.Limits.Log = cmp.Or(cfg.Limits.Log, cfg.Log)
	cfg.Metrics = cmp.Or(cfg.Metrics, prometheus.NewRegistry())
	s := &Server{store: store, hub: h, cfg: cfg, log: cfg.Log, familyReads: semaphore.NewWeighted(maxFamilyReads)}
	s.reads.Read, s.reads.FailsWaiting = s.encodeRead, isTimeout
	s.addresses, s.limits = access.NewAddresses(cfg.TrustedProxies, cfg.Log), access.New(cfg.Limits)
	if s.guard = cfg.Access; s.guard == nil {
		s.guard = access.NewOpenGuard()
	}
	s.cards = newCards(s.readCard, s.limits)
	s.hosts = host.New(cfg.Hosts, cfg.Log)
	s.checksHost.Store(len(cfg.Hosts) > 0)
	origins := origin.New(cfg.Origins, s.hosts.Names, cfg.Log)
	s.sessions = live.New(store, socketUpdater{s}, h, live.Config{
		MaxTop: cfg.MaxTop, WriteTimeout: cfg.WriteTimeout, PingAfter: cfg.PingAfter, ReadOnly: cfg.ReadOnlySockets, Origins: origins, Guard: s.guard, Limits: s.limits, Refused: s.noteRefusal, Metrics: cfg.Metrics,
	})

	s.pages = pages.New(pages.Config{ReadOnly: cfg.ReadOnlySockets, CheckBoard: s.checkPageBoard, AnonymousMaySend: s.anonymousMaySend, SiteURL: s.siteURL, MaxTop: cfg.MaxTop, FrameOrigins: cfg.FrameOrigins, AvatarOrigins: cfg.AvatarOrigins, Reader: pageReader{s}, MayRead: func(c echo.Context) error { return s.takeRate(c, 1) }, Version: s.guard.Version})

	e := echo.New()
	s.echo = e
	e.HTTPErrorHandler = s.handleError
	logPanics := middleware.RecoverWithConfig(middleware.RecoverConfig{LogErrorFunc: func(c echo.Context, err error, stack []byte) error {
		s.log.Error("handler panicked", "method", c.Request().Method, "route", documentedPath(c.Path()), "request", requestID(c), "error", err, "stack", string(stack))
		return err
	}})
	cfg.Metrics.MustRegister(newLimitedCounter(s.limits), newProbeCollector(s))
	routes := s.apiRoutes()
	countReads(cfg.Metrics, routes)
	s.needs = needsOf(routes)
	e.Use(chain(allowOrigins(origins, s.needOf), logPanics, s.limitRequests, s.rejectOtherHosts, answerPreflights(origins, s.needOf), rejectDotSegments, s.authenticate, rejectCrossOrigin(origins), s.authorize, s.takeTurns))
	s.addRoutes(e, routes)
	return s
}

// chain is middleware that passes a request to each of all in turn, and then to the handler of its route. Echo
// would make the handlers of all for each request anew: chain makes them once.
func chain(all ...echo.MiddlewareFunc) echo.MiddlewareFunc {
	handle := func(c echo.Context) error { return c.Handler()(c) }
	for _, m := range slices.Backward(all) {
		handle = m(handle)
	}
	return func(echo.HandlerFunc) echo.HandlerFunc { return handle }
}

// ServeHTTP answers one request; Server is an http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.stopping.Load() { // the client's next request goes to another node
		w.Header().Set("Connection", "close") // by HTTP/2: net/http sends GOAWAY
	}
	if r.ProtoMajor >= 2 {
		var done func()
		r, done = s.countStream(w, r)
		defer done()
	}
	s.echo.ServeHTTP(w, r)
}

// Limits of a connection. They do not hold for a WebSocket: hijacking clears the deadlines.
const (
	headerTimeout = 10 * time.Second
	headerBytes   = 16 << 10
)

// Drain makes readiness checks fail from now on, so that a load balancer sends clients elsewhere. All else
// goes on, but each answer closes its connection. Serve does the same when it stops.
func (s *Server) Drain() { s.stopping.Store(true) }

// Serve accepts connections from l until ctx ends, then stops gracefully: it accepts no more
// connections, answers pending requests, and tells the client of each socket to reconnect to another
// node. Serve returns once all that is done, with nil unless l failed.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	web := &http.Server{
		Handler: s, ConnContext: live.ConnContext, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		ReadHeaderTimeout: headerTimeout, ReadTimeout: s.cfg.RequestTimeout, WriteTimeout: s.cfg.RequestTimeout, IdleTimeout: s.cfg.IdleTimeout, MaxHeaderBytes: headerBytes,
	}
	if s.guard.Open() || isLoopback(l.Addr()) {
		s.checksHost.Store(true)
	}
	var wg, keeping sync.WaitGroup
	serving, end := context.WithCancel(ctx)
	keeping.Go(func() { s.sessions.KeepAlive(serving) })
	failed := make(chan error, 1)
	limited := s.limits.Listener(l, s.addresses, s.log)
	if len(s.cfg.Origins) > 0 && s.cfg.Certificate == nil {
		limited = corsListener{limited}
	}
	go func() { failed <- s.serveOn(web, limited) }()
	var err error
	select {
	case err = <-failed:
		err = fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	end()
	keeping.Wait()
	s.stopping.Store(true)
	grace, cancel := context.WithTimeout(context.Background(), s.cfg.StopTimeout)
	defer cancel()
	wg.Go(func() { s.sessions.Stop(grace) }) // beside Shutdown: no request delays a socket
	if stopErr := web.Shutdown(grace); stopErr != nil {
		s.log.Warn("the server closed connections with pending requests", "error", stopErr)
		web.Close()
	}
	if err == nil {
		<-failed
	}
	wg.Wait()
	s.reads.Wait()
	return err
}
