package ranking

import (
	"context"
	"fmt"
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
	return &FieldError{Field: "id", Kind: ErrTooManyIDs, RetryAfter: wait, Reason: fmt.Sprintf(
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
	var boards []string
	var calls []script.Call
	for _, b := range batches {
		if _, full := s.fullBoards.Load(b.instance); full {
			ids := s.keys.Ids(b.instance)
			boards, calls = append(boards, b.instance), append(calls, script.Call{Script: script.Room, Keys: ids[:], Args: []any{s.cfg.MaxIDs}})
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
			if wait := waits[u.Board]; wait > 0 && o.result.Err == nil {
				o.Fail(s.errTooManyIDs(fmt.Sprintf("board %q", u.Board), wait))
				refused = true
			}
		}
	}
	return refused, ofEvent.Err
}
