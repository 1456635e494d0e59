package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"

	"github.com/alecthomas/kong"

	"rankcast/cmd/rankcast/internal/term"
	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/ingest"
	"rankcast/server"
	"rankcast/server/status"
)

// ingestCommand is rankcast ingest: it applies the entries of streams in Redis, or moves their dead letters
// back.
type ingestCommand struct {
	Redis  string   `required:"" env:"RANKCAST_REDIS" placeholder:"URL" help:"Redis or Valkey with the boards and the streams: redis://host:port, unix:///path, redis-sentinel://host:port,host2:port/master, redis-cluster://host:port; rediss:// and so on by TLS."`
	Prefix string   `default:"rc" env:"RANKCAST_PREFIX" help:"Start of all keys in Redis, as of serve."`
	Stream []string `env:"RANKCAST_STREAM" placeholder:"STREAM" help:"Streams to consume. Default PREFIX:ingest."`
	Rate   int      `default:"10000" env:"RANKCAST_RATE" help:"Most updates of this process in a second, those of events included. 0 for no bound."`

	ReplayDead    bool `help:"Move the refused dead letters back to their streams, and exit."`
	ReplayUnknown bool `help:"With --replay-dead: move also those that may have counted, and may count a second time."`

	Log   serveLog   `embed:""`
	Admin serveAdmin `embed:""`
}

// Validate checks the flags.
func (c *ingestCommand) Validate() error {
	if err := ranking.CheckPrefix(c.Prefix); err != nil {
		return fmt.Errorf("--prefix %w", err)
	}
	for _, stream := range c.Stream {
		if err := ingest.CheckStream(stream); err != nil {
			return fmt.Errorf("--%w", err)
		}
	}
	if c.ReplayUnknown && !c.ReplayDead {
		return errors.New("--replay-unknown needs --replay-dead")
	}
	if c.Rate != 0 && c.Rate < ingest.MinRate {
		return fmt.Errorf("--rate must be %d or more, or 0", ingest.MinRate)
	}
	return nil
}

// Run consumes the streams until the end of signal, and returns within stopTimeout after that.
func (c *ingestCommand) Run(signal context.Context, app *kong.Application) error {
	log := c.Log.logger(os.Stderr)
	warnOfUnknownVariables(log, app)
	err := stopWithin(signal, stopTimeout, log, func() error { return c.run(signal, log) })
	return c.Log.end(log, err)
}

func (c *ingestCommand) run(ctx context.Context, log *slog.Logger) error {
	ranking.LogTo(log)
	rdb, err := ranking.Open(c.Redis)
	if err != nil {
		return err
	}
	defer rdb.Close()
	defer afterEnd(ctx, redisTimeout, func() { rdb.Close() })()
	metrics := newRegistry()
	store := ranking.New(rdb, ranking.Config{Prefix: c.Prefix, Metrics: metrics})
	defer store.Close()
	in, err := ingest.New(rdb, store, ingest.Config{Prefix: c.Prefix, Streams: c.Stream, Rate: c.Rate, Explain: explain, Log: log,
		Metrics: metrics})
	if err != nil {
		return err
	}
	if c.ReplayDead {
		if err := store.CheckLayout(ctx); err != nil {
			return err
		}
		which := ingest.Refused
		if c.ReplayUnknown {
			which = ingest.All
		}
		moved, left, err := in.Replay(ctx, which)
		switch {
		case err == nil:
			fmt.Println(replayed(moved, left, which))
		case moved > 0:
			fmt.Println(term.Counted(moved, "dead letter") + " moved before the error")
		}
		return err
	}
	// else RunRightsChecks logs the reason
	if err := store.CheckRights(ctx); errors.Is(err, definition.ErrUnavailable) && store.MissingRights() == nil {
		logOutage(log, "process applies entries", err)
	}
	defer start(func(ctx context.Context) { store.RunRightsChecks(ctx, log) })()
	about := []any{"streams", in.Streams(), "rate", c.Rate}
	admin, stopAdmin, err := c.Admin.start(func(at net.Addr) http.Handler { return server.Admin(at, metrics, log) }, log)
	if err != nil {
		return err
	}
	defer stopAdmin()
	if admin != nil {
		about = append(about, "admin", admin)
	}
	log.Info("ingesting", append(about, "version", programVersion())...)
	if err := untilAnswered(ctx, func() error { return store.CheckLayout(ctx) }); err != nil {
		return err
	}
	reporter := status.NewReporter(store, status.Config{ID: status.NewID(admin), Role: status.Ingest, Version: programVersion(),
		Metrics: metrics, State: func(context.Context) status.State { return reportedRights(store) }, Log: log})
	defer start(reporter.Run)()
	in.Run(ctx)
	log.Info("stopped")
	return nil
}

// reportedRights is what a process of ingest reports beside its metrics: it can work once it has all rights.
func reportedRights(store *ranking.Store) (state status.State) {
	if missing := store.MissingRights(); missing != nil {
		state.Reason = missing.Error()
	}
	return state
}

// replayed describes the result of a replay, and the reason why dead letters are left.
func replayed(moved, left int, which ingest.Which) string {
	text := fmt.Sprintf("%s moved, %s left", term.Counted(moved, "dead letter"), term.Thousands(int64(left)))
	switch {
	case left == 0:
		return text
	case which == ingest.All:
		return text + ": no fields to apply, as the entries were deleted"
	}
	return text + ": only --replay-unknown moves what may have counted"
}

// explain describes the error of a refused entry as the API does.
func explain(err error) ingest.Problem {
	code, field, message := server.Explain(err)
	return ingest.Problem{Code: code, Field: field, Detail: message}
}
