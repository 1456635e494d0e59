package ranking

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
)

// unionSource is a board-period that counts in a union, or a shard of one.
type unionSource struct {
	instance string
	rule     *definition.Compiled
	keys     keyspace.BoardKeys
	weight   int64
}

// unionSources lists the board-periods that count in a union at a moment of Redis's clock,
// in µs since 1970.
func (s *Store) unionSources(r *definition.Compiled, d *definitions, instance string, now int64) ([]unionSource, error) {
	n, err := definition.ParseName(instance)
	if err != nil {
		return nil, err
	}
	t, err := definition.ParseFamilyName(r.Board.Name)
	if err != nil {
		return nil, err
	}
	u := r.Union
	var all []unionSource
	for i, of := range u.Of {
		parts := strings.Split(of, ":")
		for j, part := range parts[1:] {
			if placeholder, is := definition.PlaceholderIn(part); is {
				parts[j+1] = n.Parts[slices.Index(t.Placeholders, placeholder)]
			}
		}
		source := definition.Name{Base: parts[0], Parts: parts[1:]}
		its, err := d.compiled(source)
		if err != nil {
			return nil, err
		}
		p, there := its.CurrentPeriod(now), true
		for last := 0; last < u.Last && there; last++ {
			for _, keys := range s.periodKeys(its, source.Instance(), p.Name) {
				all = append(all, unionSource{instance: source.Instance(), rule: its, keys: keys, weight: u.Weights[i]})
			}
			if its.Calendar == nil {
				break
			}
			p, there = its.Calendar.Before(p)
		}
	}
	return all, nil
}

// dataKeys are the keys that hold the members of sources, and the events of those with windows.
func dataKeys(sources []unionSource) (keys []string) {
	for _, b := range sources {
		if keys = append(keys, b.keys.Members); b.rule.IsWindowed() {
			keys = append(keys, b.keys.Window[0])
		}
	}
	return keys
}

// unionTotal is a member's total so far: about 120 bytes with the member's id.
type unionTotal struct {
	rest    wideSum // total of the sources before the latest
	some    bool    // rest has a source
	source  int32   // number of the latest source that has the member
	current int64   // its score there: one source may report a member more than once
}

// unionTotals adds up sources, one after the other.
type unionTotals struct {
	aggregate definition.Aggregate
	weights   []int64 // by source
	members   map[string]unionTotal
}

// add takes a member's score from a source.
func (t *unionTotals) add(source int, member string, score int64) {
	e, there := t.members[member]
	if there && e.source != int32(source) {
		e.rest, e.some = t.whole(e), true
	}
	e.source, e.current = int32(source), score
	t.members[member] = e
}

// whole is a member's total.
func (t *unionTotals) whole(e unionTotal) wideSum {
	latest := wideProduct(t.weights[e.source], e.current)
	switch {
	case !e.some:
		return latest
	case t.aggregate == definition.MinOf:
		return slices.MinFunc([]wideSum{e.rest, latest}, wideSum.compare)
	case t.aggregate == definition.MaxOf:
		return slices.MaxFunc([]wideSum{e.rest, latest}, wideSum.compare)
	default:
		return e.rest.plus(latest)
	}
}

// scores returns the scores of all members, in no order.
func (t *unionTotals) scores() []scored {
	scores := make([]scored, 0, len(t.members))
	for member, e := range t.members {
		scores = append(scores, scored{member, t.whole(e).score()})
	}
	return scores
}

// wideSum is an integer, high·2^26 + low with 0 ≤ low < 2^26. It has room for a thousand
// scores times their weights.
type wideSum struct{ high, low int64 }

const lowBits = 26

func wideProduct(weight, score int64) wideSum {
	return wideSum{weight * (score >> lowBits), weight * (score & (1<<lowBits - 1))}.normal()
}

func (w wideSum) normal() wideSum { return wideSum{w.high + w.low>>lowBits, w.low & (1<<lowBits - 1)} }

func (w wideSum) plus(other wideSum) wideSum {
	return wideSum{w.high + other.high, w.low + other.low}.normal()
}

func (w wideSum) compare(other wideSum) int {
	return cmp.Or(cmp.Compare(w.high, other.high), cmp.Compare(w.low, other.low))
}

// score is w, limited to ±definition.MaxScore.
func (w wideSum) score() int64 {
	const most = definition.MaxScore>>lowBits + 1
	high := min(max(w.high, -most-1), most)
	return min(max(high<<lowBits+w.low, -definition.MaxScore), definition.MaxScore)
}

// sources returns the sorted sets that a result is computed from. For a union it first
// brings the sources with windows up to date.
func (s *Store) sources(ctx context.Context, d *definitions, instance string, r *definition.Compiled) ([]string, error) {
	if r.IsWindowed() {
		return []string{s.keys.Board(instance, "").Window[0]}, nil
	}
	all, err := s.unionSources(r, d, instance, s.catalog.clock.now())
	if err != nil {
		return nil, err
	}
	var from []string
	for _, b := range all {
		from = append(from, b.keys.Members)
		switch {
		case !b.rule.IsWindowed():
		case b.rule.IsLive():
			_, err = s.startSweep(b.instance).wait(ctx)
		default:
			err = s.ensureFresh(ctx, b.instance, b.rule, s.builds.waitInTurn)
		}
		if err != nil {
			return nil, err
		}
	}
	return from, nil
}

// anyOf reports whether any of some keys exists.
func (s *Store) anyOf(ctx context.Context, keys ...string) (bool, error) {
	for some := range slices.Chunk(keys, scanTogether) {
		cmds, err := pipelined(ctx, s.rdb, some, func(pipe redis.Pipeliner, key string) *redis.IntCmd { return pipe.Exists(ctx, key) })
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(cmds, func(c *redis.IntCmd) bool { return c.Val() > 0 }) {
			return true, nil
		}
	}
	return false, nil
}

const (
	// scanPage is the approximate number of members that one call of scan.lua reads. Such a
	// call holds Redis for half a millisecond.
	scanPage = 256
	// scanTogether is the number of board-periods in one round trip.
	scanTogether = 100
)

// sumUnion reads all sources of a union, and returns each member's score. It calls between
// after each call to Redis, with the time that the call took.
func (s *Store) sumUnion(ctx context.Context, u *definition.Union, all []unionSource,
	between func(context.Context, time.Duration) error) ([]scored, error) {
	t := unionTotals{aggregate: u.Aggregate, members: make(map[string]unionTotal)}
	for source, b := range all {
		t.weights = append(t.weights, b.weight)
		if err := s.scanSource(ctx, b, between, func(member string, score int64) { t.add(source, member, score) }); err != nil {
			return nil, err
		}
	}
	return t.scores(), nil
}

// scanSource reads a board-period. It reports each member that is on the board throughout
// at least once, with its score at that moment.
func (s *Store) scanSource(ctx context.Context, b unionSource, between func(context.Context, time.Duration) error,
	take func(member string, score int64)) error {
	var at scanPosition
	for more := true; more; more = at != (scanPosition{}) {
		began := time.Now()
		r, err := s.scan(ctx, scansSet, []string{b.keys.Members, b.keys.Meta}, scanPage, &at)
		if err != nil {
			return err
		}
		rows := r.List()
		order, _ := takeShape(r, definition.Board{Order: b.rule.Order})
		for rows.More() {
			member, key := rows.Text(), rows.Key()
			take(member, key.Score(order))
		}
		if err := cmp.Or(r.Err, rows.Err); err != nil {
			return err
		}
		if err := between(ctx, time.Since(began)); err != nil {
			return err
		}
	}
	return nil
}
