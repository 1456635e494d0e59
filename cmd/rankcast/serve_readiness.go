package main

import (
	"context"
	"log/slog"
	"net"
	"time"

	"rankcast/ranking"
	"rankcast/ranking/feed"
)

// readiness passes on what a feed reads, and logs when Redis answers again. The feed calls its
// methods.
type readiness struct {
	feed.Handler
	recheck func()        // asks for a check of the rights: another Redis may answer, or a user with others
	away    bool          // Redis did not answer
	again   chan struct{} // holds one signal: Redis answers again
}

func (r *readiness) FeedUp() {
	r.Handler.FeedUp()
	if r.away {
		r.recheck()
		select {
		case r.again <- struct{}{}:
		default:
		}
	}
	r.away = false
}

func (r *readiness) FeedDown(asOf time.Time) {
	r.away = true
	r.recheck()
	r.Handler.FeedDown(asOf)
}

// logReturns logs each signal of again, with the boards, until ctx ends.
func (r *readiness) logReturns(ctx context.Context, log *slog.Logger, store *ranking.Store) {
	for {
		select {
		case <-r.again:
			log.Info("Redis answers; this node is ready", "boards", boardNames(definedBoards(ctx, store)))
		case <-ctx.Done():
			return
		}
	}
}

// redisReason returns the innermost error of a store that is unavailable, such as "dial tcp
// 127.0.0.1:6379: connect: connection refused", without the name of the script that failed.
func redisReason(err error) error {
	for {
		if _, ok := err.(*net.OpError); ok {
			return err
		}
		switch wrapper := err.(type) {
		case interface{ Unwrap() error }:
			err = wrapper.Unwrap()
		case interface{ Unwrap() []error }:
			all := wrapper.Unwrap()
			err = all[len(all)-1]
		default:
			return err
		}
	}
}
