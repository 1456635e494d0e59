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
	Head
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
	m, err := s.readResolved(ctx, board, &info.Head, func(m resolved) (readTimes, error) {
		info = Info{}
		var states States
		var at readTimes
		changed, span, farthest := int64(0), int64(0), 0.0
		for _, r := range s.callShards(ctx, script.Info, m, nil) {
			at.merge(takeReadTimes(r))
			states = append(states, takeState(r))
			info.Total += r.Number()
			changed = max(changed, r.Number())
			span = max(span, r.Number())
			farthest = max(farthest, math.Abs(r.OptionalKey()), math.Abs(r.OptionalKey()))
			if r.Err != nil {
				return at, r.Err
			}
		}
		info.setStates(m, states)
		if changed > 0 {
			info.LastChange = time.UnixMicro(changed)
		}
		if m.compiled.Ties != definition.ByMember {
			info.TieResolution = tieResolution(span, farthest)
		}
		return at, nil
	})
	if err != nil {
		return Info{}, err
	}
	info.About = s.about(ctx, m, info.State)
	if info.Memory, err = s.memory(ctx, m.eachShard(), &info.Head); err != nil {
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

// memory asks Redis for the size of the keys of the shards of a board-period; Redis samples each key.
// Of a frozen board it is an estimate: the size would tell what is pending.
func (s *Store) memory(ctx context.Context, shards []keyspace.BoardKeys, h *Head) (bytes int64, err error) {
	if h.Frozen != nil {
		return h.Total * memberBytes, nil
	}
	pipe := s.rdb.Pipeline()
	var usages []*redis.IntCmd
	for _, k := range shards {
		for _, key := range k.All() {
			usages = append(usages, pipe.MemoryUsage(ctx, key))
		}
	}
	redisconn.ExecEach(ctx, pipe)
	for _, u := range usages {
		n, err := u.Result()
		switch {
		case err == nil:
			bytes += n
		case err == redis.Nil:
		case redis.HasErrorPrefix(err, "ERR"), redis.HasErrorPrefix(err, "NOPERM"): // the store does not know the command, or refuses it
			return h.Total * memberBytes, nil
		default:
			return 0, fmt.Errorf("%w: %w", definition.ErrUnavailable, err)
		}
	}
	return bytes, nil
}

// SummaryEntries is the number of entries in a Summary.
const SummaryEntries = 5

// Summary is the line of a board in a list of boards.
type Summary struct {
	About About
	Head
	Top   []Entry // the first SummaryEntries; nil where the board has none, or they are not known
	Built bool    // the board has a result: the summary is of the latest one, if any

	Memory *int64 // as Info.Memory; only SummaryWithMemory reads it
}

// Summary reads the state of a board and its first entries, in one call. Unlike Read it
// starts no build, and does not extend the retention of a result. Of a board with a result
// it reads the present one. Top is nil then if that result is older than refresh allows.
func (s *Store) Summary(ctx context.Context, board string) (Summary, error) {
	g, _, err := s.summary(ctx, board)
	return g, err
}

// SummaryWithMemory is Summary with the size of the board in Redis, by a second call.
func (s *Store) SummaryWithMemory(ctx context.Context, board string) (Summary, error) {
	g, m, err := s.summary(ctx, board)
	if err != nil {
		return Summary{}, err
	}
	bytes, err := s.memory(ctx, m.eachShard(), &g.Head)
	if err != nil {
		return Summary{}, fmt.Errorf("read board %q: %w", board, err)
	}
	g.Memory = &bytes
	return g, nil
}

func (s *Store) summary(ctx context.Context, board string) (Summary, resolved, error) {
	var p Page
	m, isFresh, err := s.readPresent(ctx, board, &p.Head, func(m resolved) (at readTimes, err error) {
		p, at, err = s.readPage(ctx, m, Query{FromRank: 1, Limit: SummaryEntries})
		return at, err
	})
	if err != nil {
		return Summary{}, m, err
	}
	g := Summary{About: s.about(ctx, m, p.State), Head: p.Head, Built: m.compiled.IsBuilt()}
	if len(p.Entries) > 0 && isFresh {
		g.Top = p.Entries
	}
	return g, m, nil
}

// readPresent is readResolved without builds: of a board with a result it reads the present one, and does not extend
// its retention. isFresh reports whether that result is young enough to answer from; it is true of a board without
// results.
func (s *Store) readPresent(ctx context.Context, board string, h *Head, read func(resolved) (readTimes, error)) (
	m resolved, isFresh bool, err error) {
	m, err = s.resolve(ctx, board, 0)
	if err != nil {
		return m, false, err
	}
	if !m.compiled.IsBuilt() {
		m, err = s.readResolved(ctx, board, h, read)
		return m, true, err
	}
	at, err := read(m)
	if err != nil {
		return m, false, fmt.Errorf("read board %q: %w", board, err)
	}
	s.catalog.clock.observe(at.now)
	h.describe(m, at)
	return m, s.isFresh(m.compiled, at.built), nil
}

// isFresh reports whether refresh allows to answer from a result. built is when its build began, in µs since 1970; 0
// stands for no result.
func (s *Store) isFresh(r *definition.Compiled, built int64) bool {
	return built > 0 && s.age(built) <= r.RefreshInterval()
}
