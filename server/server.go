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

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"rankcast/hub"
	"rankcast/ranking"
	"rankcast/server/live"
	"rankcast/server/pages"
)

// Config is what a Server can be told. The zero value is the documented default.
type Config struct {
	// MaxTop is the most entries of a board that a client may watch or read at
	// once, 1 to 1,000. Default 1,000.
	MaxTop int
	// WriteTimeout is how long a WebSocket may accept nothing before it is
	// closed. Default 10 s.
	WriteTimeout time.Duration
	// RequestTimeout is how long a request may take to arrive, and its answer to be
	// sent; of an import and an export, how long nothing may come, or be taken. Default 30 s.
	RequestTimeout time.Duration
	// ReadOnlySockets refuses updates and events that come over WebSockets.
	ReadOnlySockets bool
	// Origins are those of other sites whose pages may open sockets, which take no
	// updates and events from them, and read what is under /v1/: each as CheckOrigin
	// wants it. Default none.
	Origins []string
	// StopTimeout bounds a graceful stop: requests under way, and clients that
	// still owe their farewell, are cut off then. Default 5 s.
	StopTimeout time.Duration
	// Log gets what an operator should know. Default slog.Default.
	Log *slog.Logger
}

// Server answers requests and serves sockets. New makes one, Serve runs it; all
// its methods may be called concurrently.
type Server struct {
	store *ranking.Store
	hub   *hub.Hub
	cfg   Config
	log   *slog.Logger
	echo  *echo.Echo

	overviews overviewCache
	pages     *pages.Site

	sessions *live.Sessions
	stopping atomic.Bool
	loggedAt atomic.Int64 // when a failed request was last logged, ns since 1970
}

// New makes a server of a store and a hub that watches it.
func New(store *ranking.Store, h *hub.Hub, cfg Config) *Server {
	cfg.MaxTop = cmp.Or(cfg.MaxTop, 1000)
	cfg.WriteTimeout = cmp.Or(cfg.WriteTimeout, 10*time.Second)
	cfg.RequestTimeout = cmp.Or(cfg.RequestTimeout, 30*time.Second)
	cfg.StopTimeout = cmp.Or(cfg.StopTimeout, 5*time.Second)
	cfg.Log = cmp.Or(cfg.Log, slog.Default())
	s := &Server{store: store, hub: h, cfg: cfg, log: cfg.Log}
	s.sessions = live.New(store, socketUpdates{s}, h, live.Config{
		MaxTop: cfg.MaxTop, WriteTimeout: cfg.WriteTimeout, ReadOnly: cfg.ReadOnlySockets, Origins: cfg.Origins,
	})

	s.pages = pages.New(pages.Config{ReadOnly: cfg.ReadOnlySockets})

	e := echo.New()
	s.echo = e
	e.HTTPErrorHandler = s.handleError
	e.Use(middleware.RecoverWithConfig(middleware.RecoverConfig{LogErrorFunc: func(c echo.Context, err error, stack []byte) error {
		s.log.Error("handler panicked", "path", c.Request().URL.Path, "error", err, "stack", string(stack))
		return err
	}}))
	e.Use(rejectCrossOrigin, corsOrigins(cfg.Origins).allowReads)
	s.addRoutes(e)
	return s
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.echo.ServeHTTP(w, r) }

// Limits of a connection. Requests and answers are small, so they have little
// time. (A WebSocket is free of them: hijacking clears deadlines.)
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	headerBytes   = 32 << 10
)

// Serve takes connections from l until ctx ends, then stops gracefully: no new
// connections, requests under way answered, every socket told to come back
// elsewhere. It returns when all of that is done, with nil unless l failed.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	web := &http.Server{
		Handler: s, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		ReadHeaderTimeout: headerTimeout, ReadTimeout: s.cfg.RequestTimeout, WriteTimeout: s.cfg.RequestTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: headerBytes,
	}
	failed := make(chan error, 1)
	go func() { failed <- web.Serve(l) }()
	var err error
	select {
	case err = <-failed:
		err = fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	s.stopping.Store(true)
	grace, cancel := context.WithTimeout(context.Background(), s.cfg.StopTimeout)
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() { s.sessions.Stop(grace) }) // at once: no request makes a socket wait
	if stopErr := web.Shutdown(grace); stopErr != nil {
		s.log.Warn("requests were cut off", "error", stopErr)
		web.Close()
	}
	if err == nil {
		<-failed
	}
	wg.Wait()
	return err
}
