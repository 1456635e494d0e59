package ranking

import (
	"context"

	"rankcast/ranking/definition"
)

// SetScore sets a member's score, whatever max_change of the board is. by.Reason is
// required. It returns ErrOutOfRange for a score beyond the board's min and max.
func (s *Store) SetScore(ctx context.Context, board, member string, score int64, by Moderator) (Result, error) {
	if by.Reason == "" {
		return Result{}, Invalid("reason", "is missing")
	}
	if err := by.check(); err != nil {
		return Result{}, err
	}
	outcomes, err := s.applyAs(ctx, setting, board, []definition.Update{{Member: member, Score: score}})
	if err == nil {
		err = outcomes[0].Err
	}
	if err != nil {
		return Result{}, err
	}
	r := outcomes[0].Result
	if r.Current == nil && r.Previous == nil {
		rule, err := s.compiledNamed(ctx, board)
		if err != nil || !rule.IsBuilt() { // the member has no place within the limit
			return r, err
		}
	}
	a := Action{Action: "set", Board: board, Member: member, Score: &score, Moderator: by}
	if r.Previous != nil {
		a.Was = &r.Previous.Score
	}
	_, err = s.audit(ctx, a, "")
	return r, err
}
