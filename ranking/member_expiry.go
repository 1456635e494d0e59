package ranking

import (
	"context"

	"rankcast/ranking/calendar"
	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
)

// expireAtOnce is how many members go in one call of clear.lua: 3 ms of Redis.
const expireAtOnce = 250

// expireMembers has those members leave a period who have no place in it any more, by member_ttl
// or limit, and says when the next will have to, in µs since 1970, or never. Once it has
// closed those leave who should have before. until is when what is known of the board is too old.
func (s *Store) expireMembers(ctx context.Context, instance string, r *definition.Compiled, p calendar.Period, now, until int64) (next int64, err error) {
	if r.MemberTTL == 0 && r.Limit == 0 {
		return definition.Never, nil
	}
	ttl, ends := r.MemberTTL.Microseconds(), int64(0)
	if end := r.PeriodEnd(p); !end.IsZero() {
		ends = end.UnixMicro()
	}
	k := s.keys.Board(instance, p.Name)
	args := append(scriptHead(r, k, instance, p.Name), until, ends, r.Limit, ttl, expireAtOnce)
	for {
		reply, err := script.Clear.Run(ctx, s.rdb, k.Head(), args)
		if err != nil {
			return 0, err
		}
		if reply.Text() == "stale" {
			return 0, errStaleDefinitions
		}
		went, first := reply.Number(), reply.Number()
		switch {
		case reply.Err != nil:
			return 0, reply.Err
		case went == expireAtOnce: // there may be more
		case ttl == 0:
			return definition.Never, nil
		case first == 0: // whoever enters from now on leaves after that
			return now + ttl, nil
		default:
			return min(first, now+ttl), nil
		}
	}
}
