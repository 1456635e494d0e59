package ranking

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
)

// maxIDs is the default of Config.MaxIDs. So many ids take 2 to 3 GB of Redis. They are those of 16,000 updates a
// second on one board, with ids that count for ten minutes: Redis then knows the ids of up to 1,220 seconds.
const maxIDs = 20_000_000

// errTooManyIDs refuses an id. of is a board or an event; wait is the time until it may take ids again.
func (s *Store) errTooManyIDs(of string, wait time.Duration) error {
	wait = max((wait + time.Second - 1).Truncate(time.Second), time.Second)
	return &definition.FieldError{Field: "id", Kind: definition.ErrTooManyIDs, RetryAfter: wait, Reason: fmt.Sprintf(
		"is one too many: %s holds %d request ids, the most that it may; send it again after %s, send fewer ids, or define shorter ids",
		of, s.cfg.MaxIDs, definition.FormatDuration(wait))}
}

// parseRoomWait reads what apply.lua and begin.lua answer for an id for which there is no room.
func parseRoomWait(text string) (wait time.Duration, full bool) {
	micros, full := strings.CutPrefix(text, "i ")
	n, err := strconv.ParseInt(micros, 10, 64)
	return time.Duration(n) * time.Microsecond, full && err == nil
}

// refuseFull refuses the new occurrences that would update a board which may take no more ids: the board would refuse
// what the other boards of the occurrence count. The node asks about boards that have answered that they are full. So
// each node may bring a board one batch beyond its bound.
func (s *Store) refuseFull(ctx context.Context, event string, all []*occurrence, batches []*boardBatch) (refused bool, err error) {
	var boards []string // shards
	var calls []script.Call
	shards := make(map[string]int) // of the boards
	for _, b := range batches {
		if _, full := s.fullBoards.Load(b.shard); full {
			ids := s.keys.Ids(b.shard)
			boards, calls = append(boards, b.shard), append(calls, script.Call{Script: script.Room, Keys: ids[:], Args: []any{s.cfg.MaxIDs}})
			shards[b.instance] = b.shards
		}
	}
	if len(boards) == 0 {
		return false, nil
	}
	ids, args := s.keys.EventIDs(event), []any{s.cfg.MaxIDs}
	for _, o := range all {
		if o.id != "" {
			args = append(args, o.id)
		}
	}
	replies := s.send(ctx, nil, append(calls, script.Call{Script: script.Room, Keys: ids[:], Args: args})...)
	waits := make(map[string]time.Duration)
	for i, board := range boards {
		wait := time.Duration(replies[i].Number()) * time.Microsecond
		if err := replies[i].Err; err != nil {
			return false, err
		}
		if waits[board] = wait; wait == 0 {
			s.fullBoards.Delete(board)
		}
	}
	ofEvent := replies[len(boards)]
	ofEvent.Number() // begin.lua tells whether the event itself has room
	for _, o := range all {
		if o.id == "" || ofEvent.Number() == 1 {
			continue // without an id, or known: the rest of it may count
		}
		for _, u := range o.result.Updates {
			if wait := waits[NameOf(u.Board, u.Update.Member, shards[u.Board])]; wait > 0 && o.result.Err == nil {
				o.Fail(s.errTooManyIDs(fmt.Sprintf("board %q", u.Board), wait))
				refused = true
			}
		}
	}
	return refused, ofEvent.Err
}

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
