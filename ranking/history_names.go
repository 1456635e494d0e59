package ranking

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"rankcast/ranking/history"
	"rankcast/ranking/internal/script"
)

const (
	// maxNames is the number of members of a history beyond which the members that stand in none of its
	// steps are forgotten, with their best ranks. The steps have fewer than 102,000 members, ten for each,
	// so this happens at most once in 4,800 steps, and only on a board without periods.
	maxNames = 150_000
	// namesPage is the approximate number of members in one read.
	namesPage = 256
)

// forgetNames forgets the members of a history that stand in none of its steps. It stops when another step
// is recorded meanwhile; the next step tries again.
func (s *Store) forgetNames(ctx context.Context, l *historyLook) error {
	epoch, last, err := s.historyEnd(ctx, l)
	if err != nil || last == "" {
		return err
	}
	used, err := s.usedNumbers(ctx, l, last)
	if err != nil {
		return err
	}
	k := l.keys
	for cursor := uint64(0); ; {
		began := time.Now()
		page, next, err := s.namesFrom(ctx, k.History().Names, cursor)
		if err != nil {
			return err
		}
		args := []any{epoch, last}
		for i := 0; i+1 < len(page); i += 2 {
			number, err := strconv.ParseInt(page[i], 10, 64)
			if err != nil || !used[number] {
				args = append(args, page[i], page[i+1])
			}
		}
		if len(args) > 2 {
			r := script.Unname.Run(ctx, s.rdb, []string{k.Meta, k.History().State, k.History().Names, k.History().Numbers}, args)
			if r.Text() == "changed" || r.Err != nil {
				return r.Err
			}
		}
		if cursor = next; cursor == 0 {
			return nil
		}
		if err := restAfter(ctx, began); err != nil {
			return err
		}
	}
}

// historyEnd reads the epoch of a board and the time of the last step of its history; "" for none.
func (s *Store) historyEnd(ctx context.Context, l *historyLook) (epoch, last string, err error) {
	pipe := s.rdb.Pipeline()
	board, state := pipe.HMGet(ctx, l.keys.Meta, "epoch"), pipe.HMGet(ctx, l.keys.History().State, "last")
	if _, err := pipe.Exec(ctx); err != nil {
		return "", "", fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return replyOf(board).Optional(), replyOf(state).Optional(), nil
}

// usedNumbers reads the numbers of the members that stand in the steps up to last.
func (s *Store) usedNumbers(ctx context.Context, l *historyLook, last string) (map[int64]bool, error) {
	used := make(map[int64]bool)
	var state history.State
	for from := int64(0); ; {
		began := time.Now()
		page, err := s.readSteps(ctx, l.keys, "", from, last, 0, historyChunk)
		if err != nil {
			return nil, err
		}
		for _, e := range page.after {
			step, err := history.Decode(state, []byte(e.step))
			if err != nil {
				state = nil // the reader leaves the step out too
				continue
			}
			for _, e := range step.State {
				used[e.Number] = true
			}
			state = step.State
		}
		if len(page.after) < historyChunk {
			return used, nil
		}
		from = page.after[len(page.after)-1].at
		if err := restAfter(ctx, began); err != nil {
			return nil, err
		}
	}
}

// namesFrom reads a page of the hash of names: numbers and members in turn. It may read a member twice.
func (s *Store) namesFrom(ctx context.Context, key string, cursor uint64) (page []string, next uint64, err error) {
	page, next, err = s.rdb.HScan(ctx, key, cursor, "", namesPage).Result()
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return page, next, nil
}
