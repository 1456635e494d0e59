package ranking

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"rankcast/ranking/calendar"
	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
)

// Frozen describes a board-period that stands still for the public while updates go on counting.
type Frozen struct {
	Since   time.Time
	Reveals definition.Reveal // who shows what is pending
}

const (
	// frozenField and pendingField are fields of the meta of a board-period, see freeze.lua.
	frozenField  = "frozen"
	pendingField = "pending"
)

// freezeState is the value of frozenField; "" for none.
type freezeState string

// takeFreezeState takes it from the answer of a reading script.
func takeFreezeState(r *script.Reply) freezeState { return freezeState(r.Text()) }

// since is when the board-period froze, in µs since 1970; 0: Redis has not recorded that it is frozen.
func (f freezeState) since() int64 {
	since, _ := strconv.ParseInt(string(f), 10, 64) // an ended freeze is none
	return since
}

// hasEnded reports whether the freeze of the definition at a time, in µs since 1970, was ended.
func (f freezeState) hasEnded(freezes int64) bool {
	return string(f) == "ended "+strconv.FormatInt(freezes, 10)
}

// at is when a period is or was frozen, in µs since 1970, as Redis records it or the definition says; 0: it is not frozen at now.
// Once a period has ended, the definition alone freezes it until the result is due.
func (f freezeState) at(r *definition.Compiled, p calendar.Period, now int64) int64 {
	if since := f.since(); since > 0 {
		return since
	}
	freezes := r.FreezesAt(p)
	if freezes == 0 || now < freezes || f.hasEnded(freezes) || r.PeriodEnded(p, now) && now >= r.RevealsAt(p, freezes) {
		return 0
	}
	return freezes
}

// of describes the freeze of what a name means; nil: it is not frozen at now.
func (f freezeState) of(m resolved, now int64) *Frozen {
	since := f.at(m.compiled, m.period, now)
	if since == 0 {
		return nil
	}
	return &Frozen{time.UnixMicro(since).UTC(), m.compiled.RevealedBy()}
}

// changesAt is when the definition alone changes the state next, in µs since 1970: it freezes the period, or its result is due.
func (f freezeState) changesAt(m resolved, now int64) int64 {
	freezes := m.compiled.FreezesAt(m.period)
	switch {
	case f.since() > 0 || freezes == 0 || f.hasEnded(freezes):
		return 0
	case now < freezes:
		return freezes
	default:
		return m.compiled.RevealsAt(m.period, freezes)
	}
}

// Freeze freezes the current period of a board, or of one instance of a family: from now on the public board stands still, and updates
// go on counting unseen. A board that is frozen already stays so. by.Reason is required. It returns ErrNotOpen for a name with a period
// and for a board that takes no updates any more. It returns ErrConflict for a board that cannot freeze, and for one that an event
// updates together with boards that are not frozen.
func (s *Store) Freeze(ctx context.Context, board string, by Moderator) (Head, error) {
	if by.Reason == "" {
		return Head{}, definition.Invalid("reason", "is missing")
	}
	if err := by.Check(); err != nil {
		return Head{}, err
	}
	m, err := s.freezable(ctx, board)
	if err != nil {
		return Head{}, err
	}
	if m.compiled.FreezeFault() != "" {
		return Head{}, errCannotFreeze(m)
	}
	if err := s.checkEventsOf(ctx, m); err != nil {
		return Head{}, err
	}
	frozen, err := s.freezePeriod(ctx, board)
	if err != nil {
		return Head{}, fmt.Errorf("freeze board %q: %w", board, err)
	}
	if frozen {
		if _, err := s.audit(ctx, Action{Action: actionFreeze, Board: m.Instance, Moderator: by}, ""); err != nil {
			return Head{}, err
		}
	}
	return s.headOf(ctx, board)
}

func errCannotFreeze(m resolved) error {
	return conflict("board", "%q cannot be frozen: a freeze %s", m.Instance, m.compiled.FreezeFault())
}

// headOf reads the head of a board.
func (s *Store) headOf(ctx context.Context, board string) (Head, error) {
	p, err := s.Read(ctx, board, Query{})
	return p.Head, err
}

// freezable finds the board of an act on its freeze.
func (s *Store) freezable(ctx context.Context, board string) (resolved, error) {
	n, err := definition.ParseName(board)
	if err != nil {
		return resolved{}, err
	}
	if n.Period != "" {
		return resolved{}, notOpen("names a period, but only the current period of a board can be frozen: omit the @ and the period")
	}
	m, err := s.resolve(ctx, board, 0)
	if err != nil {
		return m, err
	}
	if !m.compiled.MayBeFrozen() {
		return m, errCannotFreeze(m)
	}
	return m, nil
}

// checkEventsOf refuses to freeze a board by hand whose scores an event makes known on another board.
func (s *Store) checkEventsOf(ctx context.Context, m resolved) error {
	if m.compiled.FreezeOthers == definition.OthersOpen {
		return nil
	}
	d, err := s.catalog.get(ctx)
	if err != nil {
		return err
	}
	slot := m.compiled.Slot()
	for _, e := range d.events {
		own, other := "", "" // the board as the event names it, and one that is not frozen
		for _, t := range e.Updates {
			if t.Slot() == slot && (own == "" || t.Board == own) {
				own = t.Board // another name in the same family may be another instance
			} else if frozen, err := s.headOf(ctx, t.Board); err != nil || frozen.Frozen == nil {
				other = t.Board
			}
		}
		if own != "" && other != "" {
			return conflict("board", "%q cannot be frozen: event %q also updates %s, which is not frozen, so that its scores would tell "+
				"those of %q; freeze that board before, or define this one with freeze_others: open", m.Instance, e.Name, other, m.Instance)
		}
	}
	return nil
}

// freezePeriod freezes the period that is open. It reports whether that period was not frozen before.
func (s *Store) freezePeriod(ctx context.Context, board string) (frozen bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	n, err := definition.ParseName(board)
	if err != nil {
		return false, err
	}
	for range maxAttempts {
		d, until, err := s.leasedDefinitions(ctx)
		if err != nil {
			return false, err
		}
		now := s.catalog.clock.now()
		m, err := d.resolve(n, now)
		if err != nil {
			return false, err
		}
		rule, span, k := m.compiled, m.compiled.Span(now), s.keys.Board(m.Instance, m.period.Name)
		if _, err := s.registerInstance(ctx, d, m.Instance, rule, span.End(), listedPublic); err != nil {
			return false, err
		}
		args := append(scriptHead(rule, k, m.Instance, m.period.Name), until, span.End(), span.FreezesAt(rule.Freeze), rule.Shape,
			joined(span.From, span.Length)+" "+newEpoch(), joined(span.Opens, span.Closes), d.hidden.revision, rule.Kind)
		r := script.Freeze.Run(ctx, s.rdb, k.Head(), args)
		switch r.Text() {
		case "stale":
			if _, err := s.catalog.readNewer(ctx, d); err != nil {
				return false, err
			}
			continue
		case "ended":
			return false, notOpen(rule.UpdateTimes())
		case "shape":
			return false, errOtherShape(m.Instance)
		}
		since := r.Number()
		frozen = r.Number() == 1
		if r.Err == nil && rule.RevealedBy() == definition.RevealHost {
			// Housekeeping reveals what the host has not.
			err = s.schedule(ctx, s.keys.Agenda(), notLater, rule.RevealsAt(m.period, since), m.Instance)
		}
		return frozen, cmp.Or(r.Err, err)
	}
	return false, fmt.Errorf("%w: the definitions change too often", definition.ErrUnavailable)
}

// freezeOf reads the state of a freeze.
func (s *Store) freezeOf(ctx context.Context, meta string) (freezeState, error) {
	r := s.readFields(ctx, meta, frozenField)
	return freezeState(r.Optional()), r.Err
}

// errNotFrozen is the error of a reveal on a board that keeps nothing back.
func errNotFrozen(instance string) error { return conflict("board", "%q is not frozen", instance) }
