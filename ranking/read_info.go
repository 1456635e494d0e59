package ranking

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/redisconn"
	"rankcast/ranking/internal/script"
)

// Info describes a board as a whole.
type Info struct {
	About About
	State
	Bounds
	Period     string
	Total      int64     // members
	LastChange time.Time // zero before the first change

	// Memory is the approximate number of bytes that the board-period takes in Redis,
	// without its request ids. For a store that cannot tell, it is 110 bytes a member.
	Memory int64
	// TieResolution is a bound for two members that reach the farthest score on the board.
	// When they reach it within this time, time alone does not give each its own key. The
	// later member still goes behind, as long as there is room. It is zero with ties
	// definition.ByMember, and for a board that was never written to.
	TieResolution time.Duration
}

// memberBytes is the approximate size of a board's member in Redis: 96 to 136 bytes by the
// length of its id.
const memberBytes = 110

// Info reads a board's size and state. It returns the errors of Read.
func (s *Store) Info(ctx context.Context, board string) (Info, error) {
	var info Info
	m, now, err := s.readResolved(ctx, board, func(m resolved) (readTimes, error) {
		r, err := s.callRead(ctx, script.Info, m.keys, m.compiled.Board, nil)
		if err != nil {
			return readTimes{}, err
		}
		at := takeReadTimes(r)
		info = Info{State: State{Epoch: r.Text(), Seq: r.Number()}, Total: r.Number()}
		if changed := r.Number(); changed > 0 {
			info.LastChange = time.UnixMicro(changed)
		}
		span := r.Number()
		first, last := r.OptionalKey(), r.OptionalKey()
		if m.compiled.Ties != definition.ByMember {
			info.TieResolution = tieResolution(span, max(math.Abs(first), math.Abs(last)))
		}
		return at, r.Err
	})
	if err != nil {
		return Info{}, err
	}
	info.About, info.Period, info.Bounds = s.about(ctx, m, info.State), m.period.Name, m.bounds(now)
	if info.Memory, err = s.memory(ctx, m.keys, info.Total); err != nil {
		return Info{}, fmt.Errorf("read board %q: %w", board, err)
	}
	return info, nil
}

// tieResolution is the time that one step of a key stands for next to a score, as apply.lua
// makes keys. span is in µs.
func tieResolution(span int64, score float64) time.Duration {
	if span == 0 {
		return 0
	}
	_, e := math.Frexp(max(score, 1))
	return max(time.Duration(math.Ldexp(float64(span), e-53)*float64(time.Microsecond)), time.Microsecond)
}

// memory asks Redis for the size of the keys of a board-period; Redis samples each key.
func (s *Store) memory(ctx context.Context, k keyspace.BoardKeys, total int64) (bytes int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	pipe := s.rdb.Pipeline()
	var usages []*redis.IntCmd
	for _, key := range k.All() {
		usages = append(usages, pipe.MemoryUsage(ctx, key))
	}
	redisconn.ExecEach(ctx, pipe)
	for _, u := range usages {
		n, err := u.Result()
		switch {
		case err == nil:
			bytes += n
		case err == redis.Nil:
		case redis.HasErrorPrefix(err, "ERR"), redis.HasErrorPrefix(err, "NOPERM"): // the store does not know the command, or refuses it
			return total * memberBytes, nil
		default:
			return 0, fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
	}
	return bytes, nil
}
