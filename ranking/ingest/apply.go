package ingest

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"rankcast/ranking"
	"rankcast/ranking/definition"
)

// maxBoards bounds the boards of a batch that are updated at once.
const maxBoards = 16

// apply applies the messages that have no result yet, and sets their results. Messages of one board, and
// events, keep their order. After an error some messages have no result. apply has begun nothing that
// comes after these and may concern the same board.
func (c *consumer) apply(ctx context.Context, all []*message) error {
	var run []*message // updates, or occurrences of one event
	for _, m := range all {
		if m.result != "" {
			continue
		}
		if len(run) > 0 && run[0].event != m.event {
			if err := c.applyRun(ctx, run); err != nil {
				return err
			}
			run = nil
		}
		run = append(run, m)
	}
	return c.applyRun(ctx, run)
}

// applyRun applies updates, or occurrences of one event.
func (c *consumer) applyRun(ctx context.Context, run []*message) error {
	switch {
	case len(run) == 0:
		return nil
	case run[0].event != "":
		return c.applyEvents(ctx, run)
	}
	byBoard := make(map[string][]*message)
	for _, m := range run {
		byBoard[m.board] = append(byBoard[m.board], m)
	}
	var boards errgroup.Group
	boards.SetLimit(maxBoards)
	for board, messages := range byBoard {
		boards.Go(func() error { return c.applyUpdates(ctx, board, messages) })
	}
	return boards.Wait()
}

// applyUpdates applies updates of one board in one call. It returns the error of those without a result.
func (c *consumer) applyUpdates(ctx context.Context, board string, messages []*message) (passing error) {
	updates := make([]definition.Update, len(messages))
	for i, m := range messages {
		updates[i] = m.update
	}
	outcomes, err := c.store.Apply(ctx, board, updates)
	if err != nil {
		return c.fail(err, messages...)
	}
	for i, m := range messages {
		if err := outcomes[i].Err; err != nil {
			passing = cmp.Or(passing, c.fail(err, m))
			continue
		}
		m.result = resultOf(outcomes[i].Result.Duplicate)
	}
	return passing
}

func resultOf(duplicate bool) string {
	if duplicate {
		return resultDuplicate
	}
	return resultApplied
}

// isBeforeLookup reports whether the store refuses an update by its definitions, before a script looks the request id up.
// The update may have counted earlier, under other definitions.
func isBeforeLookup(err error) bool {
	var field *definition.FieldError
	noWindow := errors.As(err, &field) && field.Field == "at" && field.Kind == definition.ErrInvalid
	return noWindow || errors.Is(err, definition.ErrUnknownBoard) || errors.Is(err, definition.ErrConflict)
}

// fail refuses messages by their error, and returns an error that says nothing about them. The store refuses an
// occurrence as a whole only before it looks the request id up.
func (c *consumer) fail(err error, messages ...*message) (passing error) {
	for _, m := range messages {
		switch {
		case isPassing(err):
			m.noteFailure(err)
			passing = err
		case m.event != "" || isBeforeLookup(err):
			m.refuseBeforeLookup(c.explain(err))
		default:
			m.refuse(c.explain(err))
		}
	}
	return passing
}

// applyEvents applies occurrences of one event, in as few calls as the store allows.
func (c *consumer) applyEvents(ctx context.Context, messages []*message) error {
	most := max(1, ranking.MaxEventUpdates/max(1, messages[0].updates))
	for part := range slices.Chunk(messages, most) {
		if err := c.applyOccurrences(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

// applyOccurrences applies occurrences of one event in one call. It returns the error of those without a
// result.
func (c *consumer) applyOccurrences(ctx context.Context, messages []*message) (passing error) {
	calls := make([]ranking.EventCall, len(messages))
	for i, m := range messages {
		calls[i] = m.call
	}
	results, err := c.store.ApplyEvents(ctx, messages[0].event, calls)
	if err != nil {
		return c.fail(err, messages...)
	}
	for i, m := range messages {
		if err := results[i].Err; err != nil {
			passing = cmp.Or(passing, c.fail(err, m))
			continue
		}
		c.takeOutcomes(m, results[i])
	}
	return passing
}

// takeOutcomes sets the result of an event by the outcomes of its updates.
func (c *consumer) takeOutcomes(m *message, r ranking.EventResult) {
	counted, duplicate, beforeLookup := 0, true, false
	var first *Problem // of the boards that refuse it
	for i, o := range r.Outcomes {
		if o.Err == nil {
			counted++
			duplicate = duplicate && o.Result.Duplicate
			continue
		}
		beforeLookup = beforeLookup || isBeforeLookup(o.Err)
		if first == nil {
			p := c.explain(o.Err)
			p.Detail = "board " + r.Updates[i].Board + ": " + p.Detail
			first = &p
		}
	}
	switch {
	case first == nil:
		m.result = resultOf(duplicate)
	case counted == 0 && beforeLookup:
		m.refuseBeforeLookup(*first)
	case counted == 0:
		m.refuse(*first)
	default:
		m.refuse(Problem{Code: codePartly, Field: first.Field, Detail: first.Code + ": " + first.Detail})
	}
}
