package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"rankcast/cmd/rankcast/internal/demo"
	"rankcast/ranking/definition"
	"rankcast/ranking/embedded"
	"rankcast/ranking/localredis"
)

// validateData checks --data and --fsync.
func (s *serve) validateData() error {
	fsync := localredis.Fsync(s.Fsync)
	switch {
	case s.Data != "" && s.Redis != "":
		return localredis.ErrTwoStores
	case s.Fsync != "" && s.Data == "":
		return errors.New("--fsync needs --data: another Redis has its own setting, appendfsync")
	case s.Fsync != "" && fsync != localredis.EverySecond && fsync != localredis.Always:
		return fmt.Errorf("--fsync is %q; want %s or %s", s.Fsync, localredis.EverySecond, localredis.Always)
	}
	return nil
}

// keeps reports whether scores outlive the node.
func (s *serve) keeps() bool { return s.Redis != "" || s.Data != "" }

// redis returns the URL of the Redis to use: that of --redis, or a private one in --data, or else an
// embedded store, which has a history with --demo. stop ends a Redis of this node.
func (s *serve) redis(ctx context.Context, log *slog.Logger, all definition.Set) (url string, stop func(), err error) {
	if s.keeps() && s.Demo {
		made, err := demo.Definitions()
		if err != nil {
			return "", nil, err
		}
		log.Warn("the demo writes made-up scores into this Redis, to boards of such names that are there already too",
			"boards", boardNames(made.Boards), "prefix", s.Prefix)
	}
	switch {
	case s.Redis != "":
		return s.Redis, func() {}, nil
	case s.Data != "":
		private, err := localredis.Start(ctx, localredis.Config{Dir: s.Data, Fsync: localredis.Fsync(s.Fsync), Log: log})
		if err != nil {
			return "", nil, fmt.Errorf("--data: %w", err)
		}
		return private.URL(), private.Close, nil
	}
	store, err := embedded.Start()
	if err != nil {
		return "", nil, err
	}
	log.Warn("the store is embedded: scores are gone when this process stops, and boards should stay below a few thousand " +
		"members; --data DIR or --redis URL keeps them")
	if s.Demo {
		s.playHistory(ctx, log, store, all)
	}
	return store.URL(), store.Close, nil
}
