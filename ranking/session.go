package ranking

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"

	"github.com/redis/go-redis/v9"
)

// ErrUnknownSession reports a session that was ended, has expired, or never existed.
var ErrUnknownSession = errors.New("unknown session")

// SaveSession stores what a session is about, for calls of Session on any node. hash identifies the session: the Store
// never sees its id. SaveSession returns the time by the clock of Redis at which the session expires. It returns
// ErrUnavailable when Redis does not answer.
func (s *Store) SaveSession(ctx context.Context, hash string, about []byte, ttl time.Duration) (expires time.Time, err error) {
	return s.saveUntil(ctx, "session", about, ttl, func(ctx context.Context, value string) error {
		return script.Session.Run(ctx, s.rdb, []string{s.keys.Session(hash)}, []any{value, ttl.Milliseconds()}).Err
	})
}

// Session returns what a session is about, and when it expires by the clock of Redis. It returns ErrUnknownSession, or
// ErrUnavailable when Redis does not answer.
func (s *Store) Session(ctx context.Context, hash string) (about []byte, expires time.Time, err error) {
	value, err := s.rdb.Get(ctx, s.keys.Session(hash)).Result()
	about, expires, err = s.readUntil("session", value, err)
	if errors.Is(err, redis.Nil) {
		err = ErrUnknownSession
	}
	return about, expires, err
}

// EndSession ends a session on all nodes. To end one that is not there is no error. EndSession returns ErrUnavailable when
// Redis does not answer: the session may then go on.
func (s *Store) EndSession(ctx context.Context, hash string) error {
	if err := s.rdb.Del(ctx, s.keys.Session(hash)).Err(); err != nil {
		return fmt.Errorf("end a session: %w: %w", definition.ErrUnavailable, err)
	}
	return nil
}
