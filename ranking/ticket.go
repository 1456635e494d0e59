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
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout) // of both calls together
	defer cancel()
	if s.catalog.clock.now() == 0 {
		if _, err := s.catalog.get(ctx); err != nil {
			return time.Time{}, fmt.Errorf("save a ticket: %w", err)
		}
	}
	expires = s.Now().Add(ttl)
	value := strconv.FormatInt(expires.UnixMicro(), 10) + " " + string(about)
	if err := s.rdb.Set(ctx, s.keys.Ticket(hash), value, ttl).Err(); err != nil {
		return time.Time{}, fmt.Errorf("save a ticket: %w: %w", definition.ErrUnavailable, err)
	}
	return expires, nil
}

// TakeTicket returns what a ticket is about, and deletes the ticket. Of all calls on all nodes, one gets it.
// The others get ErrUnknownTicket. TakeTicket returns ErrUnavailable when Redis does not answer: the ticket
// may then be gone.
func (s *Store) TakeTicket(ctx context.Context, hash string) (about []byte, err error) {
	value, err := s.rdb.GetDel(ctx, s.keys.Ticket(hash)).Result()
	if errors.Is(err, redis.Nil) {
		return nil, ErrUnknownTicket
	}
	if err != nil {
		return nil, fmt.Errorf("take a ticket: %w: %w", definition.ErrUnavailable, err)
	}
	// Redis may delete an expired key late: the embedded store does.
	micros, text, _ := strings.Cut(value, " ")
	expires, err := strconv.ParseInt(micros, 10, 64)
	if err != nil || s.catalog.clock.now() >= expires {
		return nil, ErrUnknownTicket
	}
	return []byte(text), nil
}
