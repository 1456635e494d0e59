package ranking

import (
	"context"
	"slices"
	"time"

	"rankcast/ranking/definition"
)

// IDsCount returns how long the request ids of updates of a board count at least, if the updates came at since or later.
// since is by Redis's clock. It returns ErrUnknownBoard, and ErrUnavailable where the definitions cannot be read.
func (s *Store) IDsCount(ctx context.Context, board string, since time.Time) (time.Duration, error) {
	n, err := definition.ParseName(board)
	if err != nil {
		return 0, err
	}
	return findDefinition(ctx, &s.catalog, func(d *definitions, _ bool) (time.Duration, error) {
		r, err := d.compiled(n)
		if err != nil {
			return 0, err
		}
		return d.idsCount(boardField+n.Slot(), r.Board.IDsCount(), since), nil
	})
}

// EventIDsCount is IDsCount for the ids of an event, which count on all its boards. It returns ErrUnknownEvent.
func (s *Store) EventIDsCount(ctx context.Context, event string, since time.Time) (time.Duration, error) {
	return findDefinition(ctx, &s.catalog, func(d *definitions, _ bool) (time.Duration, error) {
		e, err := d.event(event)
		if err != nil {
			return 0, err
		}
		return d.idsCount(eventField+event, e.IDsCount(), since), nil
	})
}

// eventIDsSince returns since when the ids of an event count for the time of its definition, in µs since 1970; 0: all of
// them do.
func (s *Store) eventIDsSince(ctx context.Context, event string) (int64, error) {
	d, err := s.catalog.get(ctx)
	if err != nil {
		return 0, err
	}
	return d.fullIDsSince(eventField + event), nil
}

// fullIDsSince returns since when the ids of a definition count for its time. Until the grace after a change has passed,
// some nodes store ids by the former definition.
func (d *definitions) fullIDsSince(field string) int64 {
	if since, told := d.idsSince[field]; told {
		return since + grace.Microseconds()
	}
	return 0
}

// idsCount returns how long the ids of a definition count that came at since or later. count is the time that the
// definition gives now.
func (d *definitions) idsCount(field string, count time.Duration, since time.Time) time.Duration {
	if since.UnixMicro() < d.fullIDsSince(field) {
		return definition.LeastIDs
	}
	return count
}

// planIDs plans what the definitions tell about the ids of one of them: since when they count for its time. was is
// how long each of its ids has counted at least, and count is the time once c is done.
func (d *definitions) planIDs(c catalogChange, field string, was, count time.Duration) {
	_, told := d.idsSince[field]
	switch {
	case count > was:
		c.fields[idsField+field] = "now"
	case count == definition.LeastIDs && told:
		c.fields[idsField+field] = ""
	}
}

// boardIDsCount returns how long request ids of a board have counted.
func (d *definitions) boardIDsCount(slot string) time.Duration {
	if r := d.boards[slot]; r != nil {
		return r.Board.IDsCount()
	}
	return definition.LeastIDs
}

// eventIDsCount returns how long ids of an event have counted on each board that e updates.
func (d *definitions) eventIDsCount(e definition.Event) time.Duration {
	was := d.events[e.Name]
	if was == nil {
		return definition.LeastIDs
	}
	for _, t := range e.Updates {
		if !slices.ContainsFunc(was.Updates, func(other definition.Target) bool { return other.Slot() == t.Slot() }) {
			return definition.LeastIDs // the board may have forgotten ids of a time before, in which the event updated it too
		}
	}
	return was.IDsCount()
}
