package ranking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"rankcast/ranking/definition"
)

// Apply applies updates to one board, in their order, and returns the outcome of each.
// Concurrent callers share calls to Redis. The updates count in the period that is open by
// Redis's clock.
//
// A refused update (see Outcome) changes nothing and does not stop the others. An error means that
// no update is known to be applied; the outcomes beside it say which updates are wrong in
// themselves. The error is ErrUnknownBoard, ErrNotOpen for a name with a period, or ErrConflict for
// one instance too many and for a union. With ErrOverloaded, and with ErrUnavailable alone, the
// store wrote nothing. ErrUnavailable together with ErrOutcomeUnknown means that Redis may have
// applied some updates: send them again with the same ids. The end of ctx gives the same two
// errors, and so does Config.CallTimeout, which bounds the whole call.
//
// On a board with shards, the updates of each shard have their order, and a call fails as a whole only if it does on each shard. Else
// the outcomes have the errors of their shards.
func (s *Store) Apply(ctx context.Context, board string, updates []definition.Update) ([]Outcome, error) {
	began := time.Now()
	outcomes, err := s.applyAs(ctx, none, board, updates)
	s.metrics.updateSeconds.Observe(time.Since(began).Seconds())
	s.metrics.observeUpdates(len(updates), outcomes, err)
	return outcomes, err
}

// applyAs is Apply with one override for all updates.
func (s *Store) applyAs(ctx context.Context, as override, board string, updates []definition.Update) ([]Outcome, error) {
	n, err := definition.ParseName(board)
	if err != nil {
		return nil, err
	}
	outcomes := make([]Outcome, len(updates))
	checked := make([]definition.Update, len(updates))
	for i, u := range updates {
		outcomes[i].Err, checked[i] = u.Check(), u
	}
	// One bound for both: a caller may wait for a read of the definitions, and then for the script.
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	to, err := s.writable(ctx, n, began)
	if err != nil {
		return outcomes, err
	}
	items := make([]updateItem, 0, len(updates))
	for i, u := range checked {
		if outcomes[i].Err == nil {
			outcomes[i].Err = checkAt(to.rule, &u)
		}
		if outcomes[i].Err == nil {
			items = append(items, updateItem{write{u, as}, to, &outcomes[i]})
		}
	}
	if to.rule.Shards > 0 {
		return s.commitToShards(ctx, to, items, outcomes)
	}
	if err := s.commitUpdates(ctx, to.instance, to.instance, items); err != nil {
		return nil, err // another goroutine may still write to the outcomes
	}
	return outcomes, nil
}

// target is the board that a caller updates, as the caller found it.
type target struct {
	name        definition.Name // of the instance, as instance
	instance    string
	definitions *definitions
	rule        *definition.Compiled // by these definitions
}

// writable finds the board of a write. began is when the caller began.
func (s *Store) writable(ctx context.Context, n definition.Name, began time.Time) (*target, error) {
	to, err := findDefinition(ctx, &s.catalog, func(d *definitions, _ bool) (*target, error) {
		rule, err := d.compiled(n)
		return &target{n, n.Instance(), d, rule}, err
	})
	if err != nil {
		return nil, err
	}
	if err := s.catalog.checkLease(ctx, began); err != nil {
		return nil, fmt.Errorf("apply to board %q: %w", to.instance, err)
	}
	switch {
	case to.rule.Union != nil:
		return nil, errUnionWrite(to.instance)
	case n.Period != "":
		return nil, notOpen(fmt.Sprintf("names a period, but updates count in the period that is open: send them to %q", to.instance))
	}
	return to, nil
}

// commitUpdates applies updates of one shard of an instance that have passed their checks.
func (s *Store) commitUpdates(ctx context.Context, instance, shard string, items []updateItem) error {
	if err := s.updates.Commit(ctx, shard, items); err != nil {
		return fmt.Errorf("apply to board %q: %w", instance, err)
	}
	return nil
}

// updateItem is an update in a queue to Redis.
type updateItem struct {
	write
	to      *target
	outcome *Outcome
}

func (i updateItem) Weight() int { return 1 }

func (i updateItem) Bytes() int { return len(i.Member) + len(i.ID) + len(i.Data) }

func (i updateItem) Fail(err error) { i.outcome.Err = err }

// Remove removes a member from a board, also a hidden one. It returns ErrUnknownMember when
// the member was not on the board, and the errors of Apply.
func (s *Store) Remove(ctx context.Context, board, member string) (Result, error) {
	outcomes, err := s.applyAs(ctx, removing, board, []definition.Update{{Member: member}})
	if err != nil {
		return Result{}, err
	}
	o := outcomes[0]
	if errors.Is(o.Err, errNotOnBoard) {
		o.Err = unknownMember(board, member)
	}
	return o.Result, o.Err
}

// errNotOnBoard reports that the member to remove is not on the board.
var errNotOnBoard = errors.New("is not on the board")

func unknownMember(board, member string) error {
	return &definition.FieldError{Field: "member", Reason: fmt.Sprintf("%q is not on board %q", member, board),
		Kind: definition.ErrUnknownMember}
}

func notOpen(reason string) error {
	return &definition.FieldError{Field: "board", Reason: reason, Kind: definition.ErrNotOpen}
}

// checkAt refuses an At for a board without a window, or removes it.
func checkAt(r *definition.Compiled, u *definition.Update) error {
	switch {
	case u.At.IsZero():
	case u.AtIfWindowed && r.IsWindowed():
		u.AtIfWindowed = false
		return u.Check() // the first Check left At out
	case u.AtIfWindowed:
		u.At = time.Time{}
	case !r.IsWindowed():
		return definition.Invalid("at", "applies only to a board with a window; omit it")
	}
	return nil
}

// write is an update in the form for apply.lua.
type write struct {
	definition.Update
	override override
}

// override replaces the Op for apply.lua; no caller can send it.
type override string

const (
	none       override = ""
	removing   override = "remove" // takes the member off the board; Score and Op have no effect
	setting    override = "set"    // sets the score, whatever max_change is
	takingBack override = "undo"   // takes back the update with the same id
)

// op is the operation for apply.lua.
func (w write) op(d definition.Board) string {
	switch {
	case w.override != "":
		return string(w.override)
	case w.Op != "":
		return string(w.Op)
	default:
		return string(d.Mode)
	}
}

// columnAmounts returns the amounts of the columns of an update, see definition.Columns. They are nil on a board without
// columns, and where the update has no score.
func (w write) columnAmounts(r *definition.Compiled) ([]int64, error) {
	switch w.override {
	case removing, takingBack:
		return nil, nil
	case setting:
		return r.Columns.Amounts(w.Update, definition.Last)
	}
	return r.Columns.Amounts(w.Update, cmp.Or(w.Op, r.Mode))
}

// scoreArg is the score for apply.lua of an update that fits the columns of the board.
func (w write) scoreArg(r *definition.Compiled) any {
	amounts, _ := w.columnAmounts(r) // see boardBatch.refuseColumns
	switch {
	case amounts == nil:
		return w.Score
	case w.op(r.Board) == string(definition.Sum):
		return joined(amounts...)
	}
	return r.Columns.Pack(amounts)
}

// digest tells one update from another under the same request id, see apply.lua. An update without Op means the mode
// that the board had when the id was first used, so the record of an id has the operation of then. Of an update to take
// back it is the digest of that update.
func (w write) digest(d definition.Board) string {
	if w.override != none && w.override != takingBack { // Op has no effect
		return w.Update.Digest(string(w.override)) + "---"
	}
	asked := firstLetter(w.Op)
	if w.Op == "" {
		asked = byMode
	}
	by := "-"
	if w.Op == "" || w.Op == d.Mode {
		by = byMode
	}
	return w.Update.Digest("") + firstLetter(cmp.Or(w.Op, d.Mode)) + by + asked
}

// byMode stands in a digest for the mode of the board.
const byMode = "="

// firstLetter is a letter for a mode; no two have the same.
func firstLetter(m definition.Mode) string { return string(m[:min(1, len(m))]) }

// Standing is a score and its rank.
type Standing struct {
	Score int64
	Rank  int64 // 1-based; 0 for a member that is hidden, and where it is not known
}

// Result is the effect of an update. On a board with shards the ranks are 0: no shard knows them.
type Result struct {
	Period    string             // the period in which it counted; "" on a board without periods
	Current   *Standing          // nil when the member is not on the board now: it was removed, or has no place within the limit
	Previous  *Standing          // nil when the member was not on the board before
	Columns   definition.Columns // of both scores; nil on a board without columns
	Duplicate bool               // the id was used before: this is the first result
	TakenBack bool               // the update was taken back, later or before it counted: Current is the state after that
	// Frozen reports that the board is frozen: the update counts unseen, and Current and Previous are nil. An Outcome has it beside its
	// Err too.
	Frozen bool
}

// Outcome is the Result of one update, or the error that refused it: ErrOutOfRange,
// ErrIDMismatch or ErrInvalid. It is ErrUnavailable when other updates of the call were
// applied and this one may not be. On a board with shards it may be any error of Apply.
type Outcome struct {
	Result Result
	Err    error
}

// atMilli is the At in ms since 1970, for apply.lua; "" for now.
func (w write) atMilli() string {
	if w.At.IsZero() {
		return ""
	}
	return strconv.FormatInt(w.At.UnixMilli(), 10)
}

// SetScore sets a member's score, whatever max_change of the board is. by.Reason is
// required. It returns ErrOutOfRange for a score beyond the board's min and max.
func (s *Store) SetScore(ctx context.Context, board, member string, score int64, by Moderator) (Result, error) {
	return s.set(ctx, board, definition.Update{Member: member, Score: score}, by)
}

// SetColumns is SetScore for a board with columns, of which values has each.
func (s *Store) SetColumns(ctx context.Context, board, member string, values map[string]int64, by Moderator) (Result, error) {
	return s.set(ctx, board, definition.Update{Member: member, Columns: values}, by)
}

func (s *Store) set(ctx context.Context, board string, u definition.Update, by Moderator) (Result, error) {
	if by.Reason == "" {
		return Result{}, definition.Invalid("reason", "is missing")
	}
	if err := by.Check(); err != nil {
		return Result{}, err
	}
	outcomes, err := s.applyAs(ctx, setting, board, []definition.Update{u})
	if err == nil {
		err = outcomes[0].Err
	}
	if err != nil {
		return Result{}, err
	}
	r := outcomes[0].Result
	if r.Current == nil && r.Previous == nil && !r.Frozen {
		rule, err := s.compiledNamed(ctx, board)
		if err != nil || !rule.IsBuilt() { // the member has no place within the limit
			return r, err
		}
	}
	a := Action{Action: actionSet, Board: board, Member: u.Member, Score: &u.Score, Moderator: by}
	if r.Columns != nil {
		if *a.Score, err = r.Columns.Score("columns", u.Columns); err != nil {
			return r, err
		}
		a.Columns = r.Columns.JSON(*a.Score)
	}
	if r.Previous != nil {
		a.Was, a.WasColumns = &r.Previous.Score, r.Columns.JSON(r.Previous.Score)
	}
	if _, err = s.audit(ctx, a, ""); r.Frozen {
		r.Current, r.Previous = nil, nil
	}
	return r, err
}
