package ranking

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"rankcast/ranking/definition"

	"github.com/redis/go-redis/v9"
)

// ErrUnknownTicket reports a ticket that was taken before, has expired, or never existed.
var ErrUnknownTicket = errors.New("unknown ticket")

// SaveTicket stores what a ticket is about, for one call of TakeTicket on any node. hash identifies the
// ticket: the Store never sees the ticket itself. SaveTicket returns the time by the clock of Redis at which
// the ticket expires. It returns ErrUnavailable when Redis does not answer.
func (s *Store) SaveTicket(ctx context.Context, hash string, about []byte, ttl time.Duration) (expires time.Time, err error) {
	return s.saveUntil(ctx, "ticket", about, ttl, func(ctx context.Context, value string) error {
		return s.rdb.Set(ctx, s.keys.Ticket(hash), value, ttl).Err()
	})
}

// TakeTicket returns what a ticket is about, and deletes the ticket. Of all calls on all nodes, one gets it.
// The others get ErrUnknownTicket. TakeTicket returns ErrUnavailable when Redis does not answer: the ticket
// may then be gone.
func (s *Store) TakeTicket(ctx context.Context, hash string) (about []byte, err error) {
	value, err := s.rdb.GetDel(ctx, s.keys.Ticket(hash)).Result()
	about, _, err = s.readUntil("ticket", value, err)
	if errors.Is(err, redis.Nil) {
		return nil, ErrUnknownTicket
	}
	return about, err
}

// saveUntil stores by set what a ticket or a session is about, with the time by the clock of Redis at which it expires.
func (s *Store) saveUntil(ctx context.Context, what string, about []byte, ttl time.Duration,
	set func(ctx context.Context, value string) error) (expires time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout) // of both calls together
	defer cancel()
	if s.catalog.clock.now() == 0 {
		if _, err := s.catalog.get(ctx); err != nil {
			return time.Time{}, fmt.Errorf("save a %s: %w", what, err)
		}
	}
	expires = s.Now().Add(ttl)
	value := strconv.FormatInt(expires.UnixMicro(), 10) + " " + string(about)
	if err := set(ctx, value); err != nil {
		return time.Time{}, fmt.Errorf("save a %s: %w: %w", what, definition.ErrUnavailable, err)
	}
	return expires, nil
}

// readUntil decodes the answer of Redis about what saveUntil has stored. The error is redis.Nil where there is none, and
// where it has expired: Redis may delete an expired key late, and the embedded store does.
func (s *Store) readUntil(what, value string, err error) (about []byte, expires time.Time, _ error) {
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, time.Time{}, fmt.Errorf("read a %s: %w: %w", what, definition.ErrUnavailable, err)
	}
	micros, text, _ := strings.Cut(value, " ")
	until, parseErr := strconv.ParseInt(micros, 10, 64)
	if err != nil || parseErr != nil || s.catalog.clock.now() >= until {
		return nil, time.Time{}, redis.Nil
	}
	return []byte(text), time.UnixMicro(until).UTC(), nil
}
