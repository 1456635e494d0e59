package ranking

import (
	"context"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/redis/go-redis/v9"

	"rankcast/ranking/definition"
)

// timePosition is a place in a sorted set of times: behind so many of its items of one time. It names no item, so a cursor
// made of it reveals no member. The zero position is before the first item.
type timePosition struct {
	At     int64 `json:"at,omitzero"` // µs since 1970
	Passed int64 `json:"passed,omitzero"`
}

// timed is an item of a sorted set of times.
type timed struct {
	item string
	at   int64 // µs since 1970
}

// parseTimePosition reads a cursor of a list of items by time into at, which holds pos; "" is the start of the list.
func parseTimePosition(cursor string, at any, pos *timePosition) error {
	if cursor != "" && json.Unmarshal([]byte(cursor), at) != nil || pos.At < 0 || pos.Passed < 0 {
		return errCursor
	}
	return nil
}

// readByTime reads up to most items of a sorted set of times from a position on: the earliest first by definition.Asc, or
// the latest first.
func (s *Store) readByTime(ctx context.Context, key string, order definition.Order, from timePosition, most int) ([]timed, error) {
	args := redis.ZRangeArgs{Key: key, Start: "-inf", Stop: "+inf", ByScore: true, Rev: order == definition.Desc, Offset: from.Passed,
		Count: int64(most)}
	if args.Rev {
		args.Start, args.Stop = args.Stop, args.Start
	}
	if from != (timePosition{}) {
		args.Start = strconv.FormatInt(from.At, 10)
	}
	found, err := s.rdb.ZRangeArgsWithScores(ctx, args).Result()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", definition.ErrUnavailable, err)
	}
	list := make([]timed, len(found))
	for i, z := range found {
		list[i] = timed{z.Member.(string), int64(z.Score)}
	}
	return list, nil
}

// behind returns the position behind a list of items that was read from p on.
func (p timePosition) behind(list []timed) timePosition {
	if len(list) == 0 {
		return p
	}
	last := timePosition{At: list[len(list)-1].at}
	for i := len(list) - 1; i >= 0 && list[i].at == last.At; i-- {
		last.Passed++
	}
	if last.At == p.At && int(last.Passed) == len(list) {
		last.Passed += p.Passed
	}
	return last
}
