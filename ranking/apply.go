package ranking

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Apply carries out updates on one board, in their order, and tells of each
// what it did. The updates of concurrent callers share calls to Redis.
//
// An update that is refused (see Outcome) changes nothing and keeps no one from
// the others. An error means that none is known to have been applied:
// ErrUnknownBoard, ErrOverloaded (nothing was written), or ErrUnavailable with
// ErrOutcomeUnknown (some may have been applied: send again with the same ids),
// which is also what a ctx that ends first comes to.
func (s *Store) Apply(ctx context.Context, board string, updates []Update) ([]Outcome, error) {
	d, err := s.Definition(board)
	if err != nil {
		return nil, err
	}
	outcomes := make([]Outcome, len(updates))
	pending := make([]pending, 0, len(updates))
	for i, u := range updates {
		if err := u.Check(); err != nil {
			outcomes[i].Err = err
			continue
		}
		pending = append(pending, newPending(u, &outcomes[i]))
	}
	if err := s.queues.commit(ctx, d, pending); err != nil {
		return nil, fmt.Errorf("apply to board %q: %w", board, err)
	}
	return outcomes, nil
}

// Remove takes a member off a board. It returns ErrUnknownMember when it was
// not on it.
func (s *Store) Remove(ctx context.Context, board, member string) (Result, error) {
	outcomes, err := s.Apply(ctx, board, []Update{{Member: member, remove: true}})
	if err != nil {
		return Result{}, err
	}
	o := outcomes[0]
	if o.Err == nil && o.Result.Previous == nil {
		o.Err = unknownMember(board, member)
	}
	return o.Result, o.Err
}

func unknownMember(board, member string) error {
	return &FieldError{Field: "member", Reason: fmt.Sprintf("%q is not on board %q", member, board), Kind: ErrUnknownMember}
}

// turnError says that the period a batch was meant for is not the one that
// Redis's clock is in; nothing was done.
type turnError struct{ now int64 } // µs since 1970

func (e *turnError) Error() string { return fmt.Sprintf("the period has turned, now is %d µs", e.now) }

// applyBatch is one call of apply.lua. It fills in the outcome of each update,
// or returns an error when nothing is known of any.
func (s *Store) applyBatch(ctx context.Context, d Definition, sp span, batch []pending) error {
	k := s.keys.board(d.Board, sp)
	const head, each = 10, 5
	args := make([]any, 0, head+each*len(batch))
	args = append(args, k.channel, d.Board, sp.name, sp.opens, sp.closes, sp.from, sp.length, newEpoch(), d.Order.sign(), string(d.Ties))
	for _, p := range batch {
		u, op, digest := p.update, p.update.op(d), ""
		if u.ID != "" {
			digest = u.digest(op)
		}
		args = append(args, op, u.Member, u.Score, u.ID, digest)
	}
	answer, err := applyScript.run(ctx, s.rdb, []string{k.members, k.meta, k.ids[0], k.ids[1]}, args)
	if err != nil {
		return err
	}
	r := &reply{rest: answer}
	switch state := r.text(); {
	case state == "turn":
		if now := r.number(); r.err == nil {
			return &turnError{now}
		}
	case state != "ok" || len(r.rest) != len(batch):
		r.fail("does not fit the batch")
	}
	outcomes := make([]Outcome, len(batch))
	for i := range batch {
		if outcomes[i], err = parseOutcome(r.text()); err != nil {
			r.fail(err.Error())
		}
	}
	if r.err != nil {
		return r.err
	}
	for i, p := range batch {
		*p.outcome = outcomes[i]
	}
	return nil
}

// parseOutcome reads one result string of apply.lua.
func parseOutcome(s string) (Outcome, error) {
	switch s {
	case "m":
		return Outcome{Err: &FieldError{Field: "id", Reason: "was used for another update", Kind: ErrIDMismatch}}, nil
	case "r":
		return Outcome{Err: &FieldError{Field: "score", Reason: fmt.Sprintf("would take the member beyond ±%d", int64(MaxScore)), Kind: ErrOutOfRange}}, nil
	}
	f := strings.Split(s, " ")
	if len(f) != 5 || f[0] == "" || f[0][0] != 'a' && f[0][0] != 'd' {
		return Outcome{}, fmt.Errorf("has the result %q, which is none", s)
	}
	current, err := parseStanding(f[1], f[2])
	if err != nil {
		return Outcome{}, err
	}
	previous, err := parseStanding(f[3], f[4])
	if err != nil {
		return Outcome{}, err
	}
	return Outcome{Result: Result{Period: f[0][1:], Current: current, Previous: previous, Duplicate: f[0][0] == 'd'}}, nil
}

func parseStanding(score, rank string) (*Standing, error) {
	if score == "-" && rank == "-" {
		return nil, nil
	}
	n, err := strconv.ParseInt(score, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("has the score %q, which is none", score)
	}
	r, err := strconv.ParseInt(rank, 10, 64)
	if err != nil || r < 1 {
		return nil, fmt.Errorf("has the rank %q, which is none", rank)
	}
	return &Standing{Score: n, Rank: r}, nil
}
