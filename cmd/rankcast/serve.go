package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"rankcast/hub"
	"rankcast/ranking"
	"rankcast/ranking/embedded"
	"rankcast/server"
)

// serve runs one node. Each flag but --demo can also be set by an environment
// variable: RANKCAST_ADDR for --addr.
type serve struct {
	Addr          string        `default:"127.0.0.1:8080" env:"RANKCAST_ADDR" help:"Address to listen on."`
	Redis         string        `env:"RANKCAST_REDIS" placeholder:"URL" help:"Redis or Valkey: redis://host:port, rediss://, unix:///path, redis-cluster://host:port. Without it scores live in this process and are gone when it stops."`
	Prefix        string        `default:"rc" env:"RANKCAST_PREFIX" help:"Start of all keys and channels in Redis."`
	Boards        string        `env:"RANKCAST_BOARDS" type:"existingfile" placeholder:"FILE" help:"Boards file (YAML). Without it there is one board, stars."`
	Demo          bool          `help:"Send made-up scores to demo boards."`
	MaxTop        int           `default:"1000" env:"RANKCAST_MAX_TOP" help:"Most entries of a board that a client may watch or read at once."`
	Interval      time.Duration `default:"100ms" env:"RANKCAST_INTERVAL" help:"Least time between two frames of a board."`
	MeInterval    time.Duration `default:"1s" env:"RANKCAST_ME_INTERVAL" help:"Least time between two frames that tell a follower its rank, unless its own score changed."`
	WriteTimeout  time.Duration `default:"10s" env:"RANKCAST_WRITE_TIMEOUT" help:"Close a socket that accepts nothing for so long."`
	ProbeInterval time.Duration `default:"2s" env:"RANKCAST_PROBE_INTERVAL" help:"How often to make sure that changes are still heard."`
}

// Validate refuses what no server could run with.
func (s *serve) Validate() error {
	for name, d := range map[string]time.Duration{"interval": s.Interval, "me-interval": s.MeInterval, "write-timeout": s.WriteTimeout, "probe-interval": s.ProbeInterval} {
		if d <= 0 {
			return fmt.Errorf("--%s must be more than 0", name)
		}
	}
	if s.MaxTop < 1 || s.MaxTop > 1000 {
		return errors.New("--max-top must be from 1 to 1000")
	}
	if s.Prefix == "" || strings.ContainsAny(s.Prefix, "{}: ") {
		return errors.New("--prefix must have no braces, colons or spaces, and not be empty")
	}
	return nil
}

// boards are those of the file and of the demo, or the one that everybody can
// start with.
func (s *serve) boards() (boards []ranking.Definition, err error) {
	if s.Boards != "" {
		file, err := os.ReadFile(s.Boards)
		if err != nil {
			return nil, fmt.Errorf("read the boards file: %w", err)
		}
		if boards, err = ranking.ParseBoards(file); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Boards, err)
		}
	}
	if s.Demo {
		boards = addDemoBoards(boards)
	}
	if len(boards) == 0 {
		boards = []ranking.Definition{{Board: "stars"}}
	}
	return boards, nil
}

// Run serves until ctx ends. It starts what there is from the store outwards and
// stops it the other way round: clients, hub, feed, store.
func (s *serve) Run(ctx context.Context) error {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	boards, err := s.boards()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", s.Addr)
	if err != nil {
		return err
	}
	defer listener.Close()
	url := s.Redis
	if url == "" {
		store, err := embedded.Start()
		if err != nil {
			return err
		}
		defer store.Close()
		url = store.URL()
		log.Warn("the store is embedded: scores are gone when this process stops, and boards should stay below a few thousand members; --redis URL keeps them")
	}
	if s.Demo && s.Redis != "" {
		log.Warn("the demo writes made-up scores into this Redis", "boards", "stars laps", "prefix", s.Prefix)
	}
	ranking.LogTo(log)
	rdb, err := ranking.Open(url)
	if err != nil {
		return err
	}
	defer rdb.Close()
	cfg := ranking.Config{Prefix: s.Prefix, ProbeInterval: s.ProbeInterval}
	store, err := ranking.New(rdb, boards, cfg)
	if err != nil {
		return err
	}
	defer store.Close()

	feed := ranking.NewFeed(rdb, log, cfg)
	frames := hub.New(store, feed, hub.Config{Interval: s.Interval, MeInterval: s.MeInterval, Log: log})
	web := server.New(store, frames, server.Config{MaxTop: s.MaxTop, WriteTimeout: s.WriteTimeout, Log: log})
	stopFeed := start(func(ctx context.Context) { feed.Run(ctx, frames) })
	defer stopFeed()
	stopHub := start(func(ctx context.Context) { frames.Run(ctx) })
	defer stopHub()
	if s.Demo {
		stopDemo := start(func(ctx context.Context) { runDemo(ctx, log, store) })
		defer stopDemo()
	}

	names := make([]string, 0, len(boards))
	for _, d := range store.Boards() {
		names = append(names, d.Board)
	}
	log.Info("serving", "page", pageURL(listener.Addr()), "boards", strings.Join(names, " "))
	err = web.Serve(ctx, listener)
	log.Info("stopped")
	return err
}

// start runs a role and returns what stops it and waits for its end.
func start(role func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { role(ctx) })
	return func() {
		cancel()
		wg.Wait()
	}
}

// pageURL is where a browser on this machine finds the page.
func pageURL(addr net.Addr) string {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return addr.String()
	}
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port) + "/"
}
