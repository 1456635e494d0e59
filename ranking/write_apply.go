package ranking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/script"
)

// Apply applies updates to one board, in their order, and returns the outcome of each.
// Concurrent callers share calls to Redis. The updates count in the period that is open by
// Redis's clock.
//
// A refused update (see Outcome) changes nothing and does not stop the others. An error
// means that no update is known to be applied. It is ErrUnknownBoard, ErrNotOpen for a name
// with a period, or ErrConflict for one instance too many and for a union. With
// ErrOverloaded, and with ErrUnavailable alone, the store wrote nothing. ErrUnavailable together
// with ErrOutcomeUnknown means that Redis may have applied some updates: send them again with
// the same ids. The end of ctx gives the same two errors, and so does Config.CallTimeout, which
// bounds the whole call.
func (s *Store) Apply(ctx context.Context, board string, updates []definition.Update) ([]Outcome, error) {
	return s.applyAs(ctx, none, board, updates)
}

// applyAs is Apply with one override for all updates.
func (s *Store) applyAs(ctx context.Context, as override, board string, updates []definition.Update) ([]Outcome, error) {
	n, err := definition.ParseName(board)
	if err == nil && as != removing {
		err = n.CheckNew()
	}
	if err != nil {
		return nil, err
	}
	// One bound for both: a caller may wait for a read of the definitions, and then for the script.
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	r, err := s.compiledOf(ctx, n)
	if err != nil {
		return nil, err
	}
	if err := s.catalog.checkLease(ctx, began); err != nil {
		return nil, fmt.Errorf("apply to board %q: %w", board, err)
	}
	if r.Union != nil {
		return nil, errUnionWrite(n.Instance())
	}
	if n.Period != "" {
		return nil, notOpen(fmt.Sprintf("names a period, but updates count in the period that is open: send them to %q", n.Instance()))
	}
	outcomes := make([]Outcome, len(updates))
	valid, index := make([]write, 0, len(updates)), make([]int, 0, len(updates))
	for i, u := range updates {
		if outcomes[i].Err = cmp.Or(as.check(u), checkAt(r, u)); outcomes[i].Err == nil {
			valid, index = append(valid, write{u, as}), append(index, i)
		}
	}
	done, err := s.commitUpdates(ctx, n.Instance(), valid)
	for i, o := range done {
		outcomes[index[i]] = o
	}
	return outcomes, err
}

// check checks an update. The member to remove may be any that exists.
func (as override) check(u definition.Update) error {
	if as == removing {
		return definition.CheckMember(u.Member)
	}
	return u.Check()
}

// commitUpdates applies updates that have passed their checks.
func (s *Store) commitUpdates(ctx context.Context, instance string, updates []write) ([]Outcome, error) {
	outcomes := make([]Outcome, len(updates))
	items := make([]updateItem, len(updates))
	for i, u := range updates {
		items[i] = updateItem{u, &outcomes[i]}
	}
	if err := s.updates.Commit(ctx, instance, items); err != nil {
		return nil, fmt.Errorf("apply to board %q: %w", instance, err)
	}
	return outcomes, nil
}

// updateItem is an update in a queue to Redis.
type updateItem struct {
	write
	outcome *Outcome
}

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
	return &FieldError{Field: "member", Reason: fmt.Sprintf("%q is not on board %q", member, board), Kind: ErrUnknownMember}
}

func notOpen(reason string) error {
	return &FieldError{Field: "board", Reason: reason, Kind: ErrNotOpen}
}

// windowItems is the number of updates in one call for a board with a window. The call also
// removes as many overdue events, and 16 more. So it holds Redis for 2 to 3 ms at most.
const windowItems = 32

// applyBatch applies updates to an instance in one call, or in several for a board with a
// window. It returns an error when the outcome of all updates is unknown. It calls sent once the
// last call has its place on the connection.
func (s *Store) applyBatch(ctx context.Context, instance string, batch []updateItem, sent func()) error {
	n, err := definition.ParseName(instance)
	if err != nil {
		return err
	}
	most := len(batch)
	if r, err := s.compiledOf(ctx, n); err == nil && r.IsWindowed() {
		most = windowItems
	}
	for first := 0; first < len(batch); first += most {
		part, partSent := batch[first:min(first+most, len(batch))], sent
		if first+most < len(batch) {
			partSent = nil
		}
		if err := s.applyWithRetries(ctx, instance, n, part, partSent); err != nil {
			if first == 0 {
				return err
			}
			for _, i := range batch[first:] {
				i.Fail(err)
			}
			return nil
		}
	}
	return nil
}

// applyWithRetries applies one batch. When the script finds that this node's knowledge is out of
// date, applyWithRetries updates the knowledge and calls the script again. It passes sent to the
// first call, so a later call runs after the next batch of the instance.
func (s *Store) applyWithRetries(ctx context.Context, instance string, n definition.Name, batch []updateItem, sent func()) error {
	listed, at, why, behind := int64(0), s.catalog.clock.now(), "", "0"
	for range maxAttempts {
		d, err := s.catalog.get(ctx)
		if err != nil {
			return err
		}
		rule, err := d.compiled(n)
		if err != nil {
			return err
		}
		if rule.Union != nil { // it was no union a moment ago
			return errUnionWrite(instance)
		}
		sp := rule.Span(at)
		if why, at, err = s.runApplyScript(ctx, rule, d.hidden, instance, sp, d.readAt+lease.Microseconds(), listed, behind, batch, sent); err != nil {
			return outcomeOf(err)
		}
		sent = nil
		switch why {
		case "ok":
			return nil
		case "turn":
			s.catalog.clock.set(at)
			listed = 0 // the listing was for another period
		case "behind":
			if err := s.restoreModeration(ctx, d, at); err != nil {
				return err
			}
			listed, at = 0, s.catalog.clock.now()
		case "stale", "shape":
			if _, err := s.catalog.readNewer(ctx, d); err != nil {
				return err
			}
			listed = 0 // the listing was by the definition before
		case "due":
			if !s.awaitSweep(ctx, instance) {
				behind = "1"
			}
			at = s.catalog.clock.now()
		case "new":
			if listed, err = s.registerInstance(ctx, d, n, rule, sp.End()); err != nil {
				return err
			}
		}
	}
	switch why {
	case "stale", "behind":
		return fmt.Errorf("%w: the definitions change too often, or the clocks of the Redis masters differ by seconds", ErrUnavailable)
	case "shape":
		return conflict("board", "%q holds data of another order, or of other periods, than its definition has: delete the board first", instance)
	}
	return fmt.Errorf("%w: the board's periods pass too fast, or callers keep deleting and creating the board", ErrUnavailable)
}

// runApplyScript is one call of apply.lua. When why is "ok", it has set the outcome of each
// update. Else why names the knowledge that this node must update, and now is Redis's clock
// or a revision.
func (s *Store) runApplyScript(ctx context.Context, r *definition.Compiled, hidden *moderation, instance string, sp definition.Span, leased, listed int64, behind string, batch []updateItem, sent func()) (why string, now int64, err error) {
	k := s.keys.Board(instance, sp.Name)
	const head, each = 28, 8
	sc, keys := script.Apply, append(k.Head(), k.Ids[0], k.Ids[1], k.Periods)
	args := make([]any, 0, head+each*len(batch))
	args = append(args, scriptHead(r, k, instance, sp.Name)...)
	args = append(args, sp.Opens, sp.Closes, sp.Starts, sp.Ends, leased, listed, sp.From, sp.Length, newEpoch(), r.Shape,
		r.LowestScore, r.HighestScore, r.LargestChange, r.Limit, r.MemberTTL.Microseconds(), touchFlag(r), hidden.revision, hidden.flags(instance, r.Kind, batch), r.Kind)
	if r.IsWindowed() {
		sc, keys = script.ApplyWindow, append(append(keys, k.Window[:]...), s.keys.Build(instance).Lock)
		args = append(args, r.Window.Milliseconds(), string(r.Mode), liveFlag(r.Board), behind)
	}
	for _, u := range batch {
		op, digest := u.op(r.Board), ""
		if u.ID != "" {
			digest = u.digest()
		}
		args = append(args, op, u.Member, u.Score, u.ID, digest, u.condition(r.Board), u.Data)
		if r.IsWindowed() {
			args = append(args, u.atMilli())
		}
	}
	reply := script.Send(ctx, s.rdb, sent, script.Call{Script: sc, Keys: keys, Args: args})[0]
	if reply.Err != nil {
		return "", 0, reply.Err
	}
	switch why = reply.Text(); why {
	case "ok":
		if len(reply.Rest) != len(batch) {
			reply.Fail("does not fit the batch")
		}
	case "turn", "stale", "shape", "new", "due":
		now = reply.Number()
		return why, now, reply.Err
	case "behind":
		reply.Number()
		now = reply.Number() // a revision of the moderation, not a time
		return why, now, reply.Err
	default:
		reply.Fail("has an unknown state of an update")
	}
	outcomes := make([]Outcome, len(batch))
	for i := range batch {
		if outcomes[i], err = parseOutcome(r, reply.Text()); err != nil {
			reply.Fail(err.Error())
		}
	}
	if reply.Err != nil {
		return "", 0, reply.Err
	}
	for i, u := range batch {
		*u.outcome = outcomes[i]
	}
	return why, 0, nil
}

// scriptHead returns the first arguments of each script that changes a board-period: see
// board.lua.
func scriptHead(r *definition.Compiled, k keyspace.BoardKeys, instance, period string) []any {
	return []any{k.Channel, instance, period, string(r.Ties), r.Order.Sign()}
}

// flags holds for each update whether its member is hidden, for apply.lua; it is empty when
// no member is.
func (m *moderation) flags(instance, kind string, batch []updateItem) string {
	if m.revision == 0 {
		return ""
	}
	flags, any := make([]byte, len(batch)), false
	for i, u := range batch {
		if flags[i] = '0'; m.hides(instance, kind, u.Member) {
			flags[i], any = '1', true
		}
	}
	if !any {
		return ""
	}
	return string(flags)
}

// parseOutcome reads one result string of apply.lua.
func parseOutcome(r *definition.Compiled, s string) (Outcome, error) {
	refused := func(field, reason string, kind error) (Outcome, error) {
		return Outcome{Err: &FieldError{Field: field, Reason: reason, Kind: kind}}, nil
	}
	switch s {
	case "m":
		return refused("id", "was used for another update", ErrIDMismatch)
	case "r":
		return refused("score", fmt.Sprintf("is, or results in, a score outside %d to %d", r.LowestScore, r.HighestScore), ErrOutOfRange)
	case "c":
		return refused("score", fmt.Sprintf("changes the member's score by more than %d", r.LargestChange), ErrOutOfRange)
	case "s":
		return refused("op", "is sum; on a board with a limit want best or last, because a member that leaves loses its sum", ErrInvalid)
	case "g":
		return Outcome{Err: errNotOnBoard}, nil
	case "w":
		return refused("op", fmt.Sprintf("is not %s, the mode of the board; omit it on a board with a window", r.Mode), ErrInvalid)
	case "x":
		return refused("data", "does not apply to a board with a window whose result is built; omit it, or define the board with refresh live", ErrInvalid)
	case "o":
		return refused("at", fmt.Sprintf("is longer ago than the board's window of %s", definition.FormatDuration(r.Window)), ErrOutOfRange)
	case "h":
		return refused("at", fmt.Sprintf("is more than %s ahead of now", definition.FormatDuration(definition.MaxAhead)), ErrOutOfRange)
	case "p":
		return Outcome{Err: notOpen("the update counted in a period that has closed since")}, nil
	case "n":
		return Outcome{Err: notOpen(r.UpdateTimes())}, nil
	case "f":
		return Outcome{Err: fmt.Errorf("%w: the period was announced as closed, and Redis's clock was set back since", ErrUnavailable)}, nil
	}
	f := strings.Split(s, " ")
	takenBack := len(f) == 6 && f[5] == "t"
	if len(f) != 5 && !takenBack || f[0] == "" || f[0][0] != 'a' && f[0][0] != 'd' {
		return Outcome{}, fmt.Errorf("has the invalid result %q", s)
	}
	current, err := parseStanding(f[1], f[2])
	if err != nil {
		return Outcome{}, err
	}
	previous, err := parseStanding(f[3], f[4])
	if err != nil {
		return Outcome{}, err
	}
	return Outcome{Result: Result{Period: f[0][1:], Current: current, Previous: previous, Duplicate: f[0][0] == 'd', TakenBack: takenBack}}, nil
}

func parseStanding(score, rank string) (*Standing, error) {
	if score == "-" && rank == "-" {
		return nil, nil
	}
	if rank == "-" {
		rank = "0" // the member is hidden
	}
	n, err := strconv.ParseInt(score, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("has the invalid score %q", score)
	}
	r, err := strconv.ParseInt(rank, 10, 64)
	if err != nil || r < 0 {
		return nil, fmt.Errorf("has the invalid rank %q", rank)
	}
	return &Standing{Score: n, Rank: r}, nil
}

// checkAt refuses an At for a board without a window.
func checkAt(r *definition.Compiled, u definition.Update) error {
	if u.At.IsZero() || r.IsWindowed() {
		return nil
	}
	return Invalid("at", "applies only to a board with a window; omit it")
}

// liveFlag is the script argument for a live window.
func liveFlag(d definition.Board) string {
	if d.IsLive() {
		return "1"
	}
	return "0"
}

// touchFlag is "1" when an update that leaves the score as it is counts as a write, which
// matters to retain. Else it is empty.
func touchFlag(r *definition.Compiled) string {
	if r.Retain > 0 {
		return "1"
	}
	return ""
}
