package ranking

import (
	"context"

	"rankcast/ranking/calendar"
	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
)

// expireAtOnce is the number of members that one call of clear.lua removes: 3 ms of Redis.
const expireAtOnce = 250

// expireMembers removes from a period the members whose member_ttl is over, and the last
// members beyond the limit. From a closed period it removes only those whose member_ttl was
// over before the end. It returns when the next member_ttl ends, in µs since 1970, or
// definition.Never. until is the end of the lease of the definitions, in µs since 1970.
func (s *Store) expireMembers(ctx context.Context, instance string, r *definition.Compiled, p calendar.Period,
	now, until int64) (next int64, err error) {
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
		reply := script.Clear.Run(ctx, s.rdb, k.Head(), args)
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
		case first == 0: // a member that enters from now on leaves after that time
			return now + ttl, nil
		default:
			return min(first, now+ttl), nil
		}
	}
}
