package server

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v5"
	"github.com/prometheus/client_golang/prometheus"

	"rankcast/hub"
	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/access"
	"rankcast/server/cards"
	"rankcast/server/internal/entry"
	"rankcast/server/internal/gate"
	"rankcast/server/internal/host"
	"rankcast/server/internal/origin"
	"rankcast/server/internal/recent"
	"rankcast/server/internal/sharedread"
	"rankcast/server/live"
	"rankcast/server/overview"
	"rankcast/server/pages"
	"rankcast/server/status"
)

// Server answers requests and serves sockets. New makes one, Serve runs it. All methods may be
// called concurrently.
type Server struct {
	store *ranking.Store
	hub   *hub.Hub
	cfg   Config
	log   *slog.Logger
	echo  *echo.Echo

	limits *access.Limits
	guard  *access.Guard
	hosts  *host.List
	gate   *gate.Gate

	reads     sharedread.Reads[string, []byte] // with encoded answers
	endReads  context.CancelFunc               // ends shared reads
	entries   *entry.Reader
	overviews *overview.Reader
	boardList *definitionsCache
	eventList *definitionsCache
	pages     *pages.Site
	cards     *cards.Cards
	reporter  *status.Reporter
	statuses  *recent.Cache[*status.Report]

	sessions *live.Sessions
	stopping atomic.Bool
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
	s := &Server{store: store, hub: h, cfg: cfg, log: cfg.Log, limits: access.New(cfg.Limits),
		boardList: newDefinitionsCache(), eventList: newDefinitionsCache()}
	s.reads.FailsWaiting = definition.IsTimeout
	s.reads.Context, s.endReads = context.WithCancel(context.Background())
	if s.guard = cfg.Access; s.guard == nil {
		s.guard = access.NewOpenGuard()
	}
	s.hosts = host.New(cfg.Hosts, cfg.Log)
	origins := origin.New(cfg.Origins, s.hosts.Names, cfg.Log)
	s.gate = gate.New(gate.Config{
		Guard: s.guard, Limits: s.limits, TrustedProxies: cfg.TrustedProxies, Origins: origins, Hosts: s.hosts, ChecksHost: len(cfg.Hosts) > 0,
		Certificate: cfg.Certificate, WriteTimeout: cfg.WriteTimeout, PingAfter: cfg.PingAfter, Tickets: store, Sessions: store,
		NotFound: func(c *echo.Context) (bool, error) { return s.pages.ServeNotFound(c) }, Log: cfg.Log,
	})
	s.entries = &entry.Reader{Store: store, Warn: s.gate.WarnOnceASecond}
	s.overviews = overview.New(store, s.entries, cfg.Log)
	s.cards = cards.New(store, s.entries, s.limits)
	s.sessions = live.New(store, socketUpdater{store}, h, live.Config{
		MaxTop: cfg.MaxTop, WriteTimeout: cfg.WriteTimeout, PingAfter: cfg.PingAfter, ReadOnly: cfg.ReadOnlySockets,
		Origins: origins, Guard: s.guard, Limits: s.limits, Refused: s.gate.NoteRefusal, Metrics: cfg.Metrics,
	})
	s.pages = pages.New(pages.Config{
		Store: store, Guard: s.guard, Overviews: s.overviews, Entries: s.entries, MaxTop: cfg.MaxTop, ReadOnly: cfg.ReadOnlySockets,
		SiteURL: s.gate.SiteURL, FrameOrigins: cfg.FrameOrigins, AvatarOrigins: cfg.AvatarOrigins,
		MayRead: func(c *echo.Context) error { return s.gate.TakeRate(c, 1) },
	})

	cfg.Metrics.MustRegister(countLimited(s.limits), stateMetrics{s})
	s.reporter = status.NewReporter(store, status.Config{ID: cmp.Or(cfg.Node, status.NewID(nil)), Role: status.Serve, Version: cfg.Version,
		Metrics: cfg.Metrics, State: s.reportedState, Log: cfg.Log})
	s.statuses = recent.New(recent.Age, 1, func(*status.Report) int { return 1 })
	routes := s.apiRoutes()
	countReads(cfg.Metrics, routes)
	s.echo = echo.New()
	s.gate.Protect(s.echo, needsOf(routes))
	s.addRoutes(s.echo, routes)
	return s
}

// ServeHTTP answers one request; Server is an http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.stopping.Load() { // the client's next request goes to another node
		w.Header().Set("Connection", "close") // by HTTP/2: net/http sends GOAWAY
	}
	if r.ProtoMajor >= 2 {
		var done func()
		r, done = s.gate.CountStream(w, r)
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
		ReadHeaderTimeout: headerTimeout, ReadTimeout: s.cfg.RequestTimeout, WriteTimeout: s.cfg.RequestTimeout,
		IdleTimeout: s.cfg.IdleTimeout, MaxHeaderBytes: headerBytes,
	}
	var wg, keeping sync.WaitGroup
	serving, end := context.WithCancel(ctx)
	keeping.Go(func() { s.sessions.KeepAlive(serving) })
	failed := make(chan error, 1)
	go func() { failed <- s.gate.Serve(web, l) }()
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
	s.endReads() // nobody waits for one now
	s.reads.Wait()
	return err
}
