package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/alecthomas/kong"

	"rankcast/cmd/rankcast/internal/demo"
	"rankcast/cmd/rankcast/internal/heapfloor"
	"rankcast/hub"
	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/embedded"
	"rankcast/ranking/feed"
	"rankcast/server"
	"rankcast/server/status"
	"rankcast/server/webhook"
)

// serve is rankcast serve: it runs one node. An environment variable sets each flag but
// --demo: RANKCAST_ADDR for --addr.
type serve struct {
	Addr          string        `default:"${addr}" env:"RANKCAST_ADDR" help:"Address to listen on. Other machines reach any that is not a loopback address, which takes --access or --insecure."`
	Redis         string        `env:"RANKCAST_REDIS" placeholder:"URL" help:"Redis or Valkey: redis://host:port, unix:///path, redis-sentinel://host:port,host2:port/master, redis-cluster://host:port; rediss:// and so on by TLS. Without it and --data the process holds the scores and loses them when it stops."`
	Data          string        `env:"RANKCAST_DATA" placeholder:"DIR" help:"Keep the scores in this directory, in a private redis-server that the node runs. Needs an installed redis-server; not together with --redis."`
	Fsync         string        `env:"RANKCAST_FSYNC" placeholder:"everysec|always" help:"When the disk stores what --data keeps: everysec (default), where a power cut loses a second or two, or always, before each answer."`
	Prefix        string        `default:"rc" env:"RANKCAST_PREFIX" help:"Start of all keys and channels in Redis."`
	Boards        string        `env:"RANKCAST_BOARDS" type:"existingfile" placeholder:"FILE" help:"Boards file (YAML): adds boards to those in Redis, or changes them. Without any board the server defines one, stars."`
	Demo          bool          `help:"Send made-up scores to demo boards."`
	MaxTop        int           `default:"1000" range:"1..1000" env:"RANKCAST_MAX_TOP" help:"Most entries of a board that a client may watch or read at once."`
	Interval      time.Duration `default:"100ms" range:"1ms.." env:"RANKCAST_INTERVAL" help:"Time in which a board sends one frame at most."`
	MeInterval    time.Duration `default:"1s" range:"1ms.." env:"RANKCAST_ME_INTERVAL" help:"Time in which a follower gets its rank once at most, unless its own score changed."`
	FeedRate      int           `default:"20" range:"1..1000" env:"RANKCAST_FEED_RATE" help:"Most items of a feed that a socket gets in a second."`
	SocketWrites  bool          `default:"true" negatable:"" env:"RANKCAST_SOCKET_WRITES" help:"Let sockets send updates and events. Turn it off where browsers reach the server."`
	Origins       []string      `env:"RANKCAST_ORIGINS" placeholder:"ORIGIN" help:"Other sites and apps whose pages may read and watch, and send with a token, as their pages send it in Origin: https://example.com, capacitor://localhost, null for files, or * for all."`
	FrameOrigins  []string      `env:"RANKCAST_FRAME_ORIGINS" placeholder:"ORIGIN" help:"Other sites whose pages may show a board in a frame, /embed/stars: https://example.com, or * for all."`
	AvatarOrigins []string      `env:"RANKCAST_AVATAR_ORIGINS" placeholder:"ORIGIN" help:"Other sites whose images the pages of this server may show as avatars: https://cdn.example.com."`
	Hosts         []string      `env:"RANKCAST_HOSTS" placeholder:"HOST" help:"Names of this server beside localhost and IP addresses: scores.example.com, *.example.com. With it, and always on a loopback address or without an access file, requests for other hosts get 421."`
	WriteTimeout  time.Duration `default:"10s" range:"1ms.." env:"RANKCAST_WRITE_TIMEOUT" help:"Close a socket that accepts nothing for this long."`
	IdleTimeout   time.Duration `default:"620s" range:"1ms.." env:"RANKCAST_IDLE_TIMEOUT" help:"Close a connection without a request for this long. Keep it above the time for which a load balancer keeps its connections, which else answers 502."`
	DrainTime     time.Duration `default:"0s" range:"0s.." env:"RANKCAST_DRAIN_TIME" help:"How long a node that stops goes on serving while /readyz answers 503, so that a load balancer can send clients elsewhere."`
	ProbeInterval time.Duration `default:"2s" range:"1ms.." env:"RANKCAST_PROBE_INTERVAL" help:"How often to check that changes still arrive from Redis, and that Redis takes writes."`
	Webhook       string        `env:"RANKCAST_WEBHOOK" placeholder:"URL" help:"Notify this receiver of each period that has closed, by a signed POST (Standard Webhooks), tried for a day. Set this flag and the other --webhook flags alike on all nodes."`
	WebhookSecret string        `env:"RANKCAST_WEBHOOK_SECRET" placeholder:"SECRET" help:"Secret that signs what --webhook gets: whsec_ and base64, or any text. Set it in the environment, where other users do not see it."`
	WebhookTop    int           `default:"10" range:"0..100" env:"RANKCAST_WEBHOOK_TOP" help:"How many of a closed period's first entries the webhook and the feed of periods get, 0 to 100."`
	WebhookBoards []string      `env:"RANKCAST_WEBHOOK_BOARDS" placeholder:"BOARD" help:"Boards and families, by the names of their definitions, of whose periods to notify the webhook. Default all."`

	Access serveAccess `embed:""`
	TLS    serveTLS    `embed:""`
	Limits serveLimits `embed:""`
	Log    serveLog    `embed:""`
	Admin  serveAdmin  `embed:""`
}

// Validate checks the flags.
func (s *serve) Validate() error {
	if err := ranking.CheckPrefix(s.Prefix); err != nil {
		return fmt.Errorf("--prefix %w", err)
	}
	for _, list := range []struct {
		flag   string
		values []string
		check  func(string) error
	}{
		{"origins", s.Origins, server.CheckOrigin}, {"frame-origins", s.FrameOrigins, server.CheckFrameOrigin},
		{"avatar-origins", s.AvatarOrigins, server.CheckAvatarOrigin}, {"hosts", s.Hosts, server.CheckHost},
		{"webhook-boards", s.WebhookBoards, definition.CheckBoard},
	} {
		for _, value := range list.values {
			if err := list.check(value); err != nil {
				return fmt.Errorf("--%s: %q: %w", list.flag, value, err)
			}
		}
	}
	return cmp.Or(checkAddr("--addr", s.Addr), s.validateData(), s.validateWebhook())
}

func (s *serve) validateWebhook() error {
	switch {
	case s.Webhook == "" && len(s.WebhookBoards) > 0:
		return errors.New("--webhook-boards needs --webhook")
	case s.Webhook == "":
		return nil
	}
	if err := webhook.CheckURL(s.Webhook); err != nil {
		return fmt.Errorf("--webhook: %w", err)
	}
	if err := webhook.CheckSecret(s.WebhookSecret); err != nil {
		return fmt.Errorf("--webhook-secret (RANKCAST_WEBHOOK_SECRET): %w", err)
	}
	return nil
}

// ranking is the configuration of the store and the feed.
func (s *serve) ranking() ranking.Config {
	cfg := ranking.Config{Prefix: s.Prefix, ProbeInterval: s.ProbeInterval, Announce: s.WebhookTop}
	if s.Webhook != "" {
		cfg.Deliver = s.WebhookBoards
		if len(cfg.Deliver) == 0 {
			cfg.Deliver = []string{ranking.AllBoards}
		}
	}
	return cfg
}

// playHistory gives an embedded store the history of the demo.
func (s *serve) playHistory(ctx context.Context, log *slog.Logger, store *embedded.Store, all definition.Set) {
	started := time.Now()
	log.Info("building two weeks of made-up history for the demo")
	define := func(ctx context.Context, store *ranking.Store) error { return s.define(ctx, store, log, all) }
	err := demo.PlayHistory(ctx, store, s.openStore, started, define)
	store.ResetClock()
	if err != nil {
		log.Info("the demo has no history, or a part of it", "error", err)
		return
	}
	log.Info("the history is ready", "took", time.Since(started).Round(time.Millisecond))
}

// openStore opens a store for the history of the demo. On a machine that stands still for seconds the
// history comes late, and not in part.
func (s *serve) openStore(url string) (store *ranking.Store, closeStore func(), err error) {
	rdb, err := ranking.Open(url)
	if err != nil {
		return nil, nil, err
	}
	store = ranking.New(rdb, ranking.Config{Prefix: s.Prefix, CallTimeout: 15 * time.Second})
	return store, func() {
		store.Close()
		rdb.Close()
	}, nil
}

// Run serves until --drain-time after the end of signal, and returns within stopTimeout after that.
func (s *serve) Run(signal context.Context, app *kong.Application) error {
	heapfloor.Set(heapfloor.Node)
	log := s.Log.logger(os.Stderr)
	warnOfUnknownVariables(log, app)
	ctx, stop := context.WithCancelCause(context.WithoutCancel(signal))
	defer stop(nil)
	defer afterEnd(signal, s.DrainTime, func() { stop(nil) })()
	err := stopWithin(ctx, stopTimeout, log, func() error {
		err := s.run(ctx, signal, stop, log)
		if err == nil {
			log.Info("stopped")
		}
		return err
	})
	return s.Log.end(log, err)
}

// run serves until ctx ends; stop ends it. From the end of signal on, the node is not ready. run
// starts the roles from the store outwards and stops them in reverse order: clients, hub, webhook,
// feed, store.
func (s *serve) run(ctx, signal context.Context, stop context.CancelCauseFunc, log *slog.Logger) error {
	definitions, err := s.definitions()
	if err != nil {
		return err
	}
	guard, err := s.Access.Guard(log)
	if err != nil {
		return err
	}
	certificate, err := s.TLS.files(log)
	if err != nil {
		return err
	}
	listener, err := s.listen()
	if err != nil {
		return err
	}
	defer listener.Close()
	s.Access.warn(log, listener.Addr(), s.TLS.given() || len(s.Limits.proxies) > 0)
	defer start(func(ctx context.Context) { runReloads(ctx, guard, certificate) })()
	ranking.LogTo(log)
	url, stopRedis, err := s.redis(ctx, log, definitions)
	if err != nil {
		return err
	}
	defer stopRedis()
	rdb, err := ranking.Open(url)
	if err != nil {
		return err
	}
	defer rdb.Close()
	defer afterEnd(ctx, redisTimeout, func() { rdb.Close() })()
	metrics := newRegistry()
	cfg := s.ranking()
	cfg.Metrics = metrics
	store := ranking.New(rdb, cfg)
	defer store.Close()
	err = store.CheckRights(ctx)
	diagnosed := s.Redis == "" // the Redis of --data has the right settings, and the embedded store has none
	if answers := err == nil || store.MissingRights() != nil; answers && !diagnosed {
		var tooOld error
		if diagnosed, tooOld = diagnose(ctx, url, log); tooOld != nil {
			return tooOld
		}
	}
	if err == nil {
		err = s.define(ctx, store, log, definitions)
	}
	if isLayout(err) {
		return err
	}
	away, unavailable := errors.Is(err, definition.ErrUnavailable), err
	if err != nil && !away {
		return fmt.Errorf("define boards%s: %w", s.ofFile(), err)
	}
	s.checkWebhookBoards(ctx, store, log)

	changes := feed.New(rdb, log, feed.Config{Prefix: s.Prefix, ProbeInterval: s.ProbeInterval})
	frames := hub.New(store, changes, hub.Config{Interval: s.Interval, MeInterval: s.MeInterval, FeedRate: s.FeedRate,
		MaxBoards: s.Limits.MaxWatchedBoards, Log: log, Metrics: metrics})
	web := server.New(store, frames, server.Config{MaxTop: s.MaxTop, WriteTimeout: s.WriteTimeout, IdleTimeout: s.IdleTimeout,
		StopTimeout: clientsTimeout, ReadOnlySockets: !s.SocketWrites, Origins: s.Origins, FrameOrigins: s.FrameOrigins,
		AvatarOrigins: s.AvatarOrigins, Hosts: s.Hosts, TrustedProxies: s.Limits.proxies, Limits: s.Limits.config(), Access: guard,
		Certificate: certificate, Node: status.NewID(listener.Addr()), Version: programVersion(), Log: log, Metrics: metrics})
	admin, stopAdmin, err := s.Admin.start(web.Admin, log)
	if err != nil {
		return err
	}
	defer stopAdmin()
	defer start(func(ctx context.Context) { store.RunRightsChecks(ctx, log) })()
	if !diagnosed {
		defer start(func(ctx context.Context) {
			retry(ctx, func() (answered bool) {
				var tooOld error
				if answered, tooOld = diagnose(ctx, url, log); tooOld != nil {
					stop(tooOld)
				}
				return answered
			})
		})()
	}
	defer context.AfterFunc(signal, web.Drain)()
	defer start(func(ctx context.Context) {
		if away {
			if store.MissingRights() == nil { // else RunRightsChecks logs the reason
				logOutage(log, "node is ready", unavailable)
			}
			if err := untilAnswered(ctx, func() error { return s.define(ctx, store, log, definitions) }); err != nil {
				stop(fmt.Errorf("define boards%s: %w", s.ofFile(), err))
				return
			}
		}
		var roles sync.WaitGroup
		roles.Go(func() { store.RunHousekeeping(ctx, log) })
		roles.Go(func() { web.RunReports(ctx) })
		// The node is ready once the feed is up.
		ready := readiness{Handler: frames, recheck: store.RecheckRights, away: away,
			returned: func() { roles.Go(func() { logReturn(ctx, log, store) }) }}
		roles.Go(func() { changes.Run(ctx, &ready) })
		roles.Wait()
	})()
	if s.Webhook != "" {
		hook, err := webhook.New(store, webhook.Config{URL: s.Webhook, Secret: s.WebhookSecret, Log: log, Metrics: metrics})
		if err != nil {
			return err
		}
		defer start(func(ctx context.Context) { hook.Run(ctx) })()
	}
	defer start(func(ctx context.Context) { frames.Run(ctx) })()
	if s.Demo {
		defer start(func(ctx context.Context) { demo.Run(ctx, log, store) })()
	}

	page := s.pageURL(listener.Addr())
	if s.Demo {
		page += demo.Page
	}
	var boards []definition.Board
	if !away { // else Redis would keep the listener waiting
		boards = definedBoards(ctx, store)
	}
	about := []any{"page", page, "boards", boardNames(boards)}
	if !s.keeps() && guard.Open() { // a made-up score does not belong in a Redis that keeps scores, and has no key
		about = append(about, "first_score", firstScore(os.Args[0], s.pageURL(listener.Addr()), boards))
	}
	if admin != nil {
		about = append(about, "admin", admin)
	}
	log.Info("serving", append(about, "version", programVersion())...)
	err = web.Serve(ctx, listener)
	stop(nil) // when the listener failed, the stop begins here
	if cause := context.Cause(ctx); err == nil && !errors.Is(cause, context.Canceled) {
		err = cause
	}
	return err
}

// start runs a role. stop ends it and waits for it: defer start(role)().
func start(role func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { role(ctx) })
	return func() {
		cancel()
		wg.Wait()
	}
}
