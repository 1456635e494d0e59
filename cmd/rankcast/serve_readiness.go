package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"time"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/feed"
)

// readiness passes on what a feed reads, and logs when Redis answers again. The feed calls its
// methods.
type readiness struct {
	feed.Handler
	recheck  func() // asks for a check of the rights: another Redis may answer, or the user may have lost some
	away     bool   // Redis did not answer
	returned func() // is called when Redis answers again, and must not wait
}

func (r *readiness) FeedUp() {
	r.Handler.FeedUp()
	if r.away {
		r.recheck()
		r.returned()
	}
	r.away = false
}

func (r *readiness) FeedDown(asOf time.Time) {
	r.away = true
	r.recheck()
	r.Handler.FeedDown(asOf)
}

func (r *readiness) FeedUnfollowed(asOf time.Time) {
	r.away = true
	r.recheck()
	r.Handler.FeedUnfollowed(asOf)
}

func (r *readiness) FeedUnsubscribed(board string, asOf time.Time) {
	r.recheck()
	r.Handler.FeedUnsubscribed(board, asOf)
}

// logReturn logs that Redis answers again, with the boards. Where Redis answers but refuses what the node needs, the rights
// checks log that instead, and its end.
func logReturn(ctx context.Context, log *slog.Logger, store *ranking.Store) {
	var missing *definition.MissingRightsError // the check that recheck asks for may not have run yet
	if errors.As(cmp.Or(store.MissingRights(), store.ProbeWrite(ctx)), &missing) || ctx.Err() != nil {
		return
	}
	log.Info("Redis answers; this node is ready", "boards", boardNames(definedBoards(ctx, store)))
}

// logOutage logs why a process cannot use Redis when it starts. ready follows "this": "node is ready".
func logOutage(log *slog.Logger, ready string, err error) {
	if of := ranking.OutageOf(err); of.Answered {
		log.Warn(of.Reason+"; this "+ready+" once that has changed", "reason", redisReason(err))
		return
	}
	log.Warn("Redis does not answer; this "+ready+" when it does", "reason", redisReason(err))
}

// redisReason returns the error of the connection or of Redis in err, such as "dial tcp 127.0.0.1:6379: connect: connection
// refused", without the name of the script that failed; err where it has neither.
func redisReason(err error) error {
	if network, ok := errors.AsType[*net.OpError](err); ok {
		return network
	}
	if answer, ok := errors.AsType[interface {
		error
		RedisError()
	}](err); ok {
		return answer
	}
	return err
}
