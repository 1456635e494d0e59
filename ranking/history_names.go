package ranking

import (
	"cmp"
	"context"
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
	k, h := l.keys, l.keys.History()
	board, state := s.readFields(ctx, k.Meta, "epoch"), s.readFields(ctx, h.State, "last")
	epoch, last := board.Optional(), state.Optional()
	if err := cmp.Or(board.Err, state.Err); err != nil || last == "" {
		return err
	}
	used, err := s.usedNumbers(ctx, l, last)
	if err != nil {
		return err
	}
	var at scanPosition
	for more := true; more; more = at != (scanPosition{}) {
		began := time.Now()
		names, err := s.scanTexts(ctx, scansHash, h.Names, namesPage, &at)
		if err != nil {
			return err
		}
		args := []any{epoch, last}
		for _, name := range names { // a number and its member
			if n, err := strconv.ParseInt(name[0], 10, 64); err != nil || !used[n] {
				args = append(args, name[0], name[1])
			}
		}
		if len(args) > 2 {
			r := script.Unname.Run(ctx, s.rdb, []string{k.Meta, h.State, h.Names, h.Numbers}, args)
			if r.Text() == "changed" || r.Err != nil {
				return r.Err
			}
		}
		if err := restAfter(ctx, began); err != nil {
			return err
		}
	}
	return nil
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
