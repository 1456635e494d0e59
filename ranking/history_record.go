package ranking

import (
	"context"
	"fmt"
	"slices"
	"time"

	"rankcast/ranking/calendar"
	"rankcast/ranking/definition"
	"rankcast/ranking/history"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/script"
)

const (
	// keyframeEach is the number of steps from one keyframe to the next. A read begins at a keyframe, so it
	// reads up to keyframeEach-1 steps that it does not need. A keyframe takes about 50 bytes more than a
	// delta.
	keyframeEach = 64
	// historyKept is the number of steps that Redis keeps at least: MaxHistory of them after a keyframe.
	historyKept = definition.MaxHistory + keyframeEach
	// lateSteps is the number of steps without a look after which the time since the last look is a gap.
	lateSteps = 2
)

// historyLook is a look at a board-period for its history.
type historyLook struct {
	instance string
	rule     *definition.Compiled
	period   calendar.Period
	keys     keyspace.BoardKeys
	step     time.Duration

	// record sets these.
	outcome lookOutcome
	names   int64 // members that the history names, after a new step; else 0
	err     error
}

// lookOutcome is the result of a look.
type lookOutcome int

const (
	looked          lookOutcome = iota // the history is up to date
	lookedAtNothing                    // the board-period has no data
	lookedTooLate                      // the board or the history has changed meanwhile, so it must be looked at again
)

func (s *Store) newHistoryLook(instance string, r *definition.Compiled, p calendar.Period) *historyLook {
	return &historyLook{instance: instance, rule: r, period: p, keys: s.keys.Board(instance, p.Name), step: r.HistoryStep(p)}
}

// recordResult records the result of a closed period, with which its history ends. The caller has not
// settled the period yet, so that another node does this if the caller dies.
func (s *Store) recordResult(ctx context.Context, instance string, r *definition.Compiled, p calendar.Period) error {
	for range maxAttempts {
		look := s.newHistoryLook(instance, r, p)
		s.record(ctx, []*historyLook{look})
		if look.err != nil {
			return fmt.Errorf("record the result of period %q: %w", p.Name, look.err)
		}
		if look.outcome != lookedTooLate {
			return nil
		}
	}
	return fmt.Errorf("record the result of period %q: %w: the history changes too fast", p.Name, definition.ErrUnavailable)
}

// RecordHistory records the histories of boards that have one, as they stand now. Housekeeping does this at each step; a
// caller that makes a past by the clock of Redis does it at each moment of that past.
func (s *Store) RecordHistory(ctx context.Context, boards ...string) error {
	var looks []*historyLook
	for _, board := range boards {
		m, err := s.resolve(ctx, board, 0)
		if err != nil {
			return err
		}
		if m.compiled.History > 0 {
			looks = append(looks, s.newHistoryLook(m.Instance, m.compiled, m.period))
		}
	}
	s.record(ctx, looks)
	for _, l := range looks {
		if l.err != nil {
			return fmt.Errorf("record the history of board %q: %w", l.instance, l.err)
		}
	}
	return nil
}

// record looks at board-periods, and records what it has found: in two pipelines, however many they are. Both
// have one Config.CallTimeout together: it must end before the claim of the boards does.
func (s *Store) record(ctx context.Context, looks []*historyLook) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	calls := make([]script.Call, len(looks))
	for i, l := range looks {
		calls[i] = l.lookCall()
	}
	var found []*historyLook
	recordCalls := calls[:0:0]
	for i, r := range script.Pipeline(ctx, s.rdb, calls...) {
		l := looks[i]
		call, needed := l.found(r, s.maxSteps)
		if l.err = r.Err; needed && l.err == nil {
			found, recordCalls = append(found, l), append(recordCalls, call)
		}
	}
	for i, r := range script.Pipeline(ctx, s.rdb, recordCalls...) {
		l := found[i]
		if r.Err == nil && r.Text() == "changed" {
			l.outcome = lookedTooLate
		} else if r.Err == nil {
			l.names = r.Number()
		}
		l.err = r.Err
	}
}

// lookCall is the call of look.lua.
func (l *historyLook) lookCall() script.Call {
	ends := int64(0)
	if end := l.rule.PeriodEnd(l.period); !end.IsZero() {
		ends = end.UnixMilli()
	}
	return script.Call{Script: script.Look, Keys: []string{l.keys.Members, l.keys.Meta, l.keys.History().State,
		l.keys.History().Numbers}, Args: []any{history.MaxEntries, ends}}
}

// found takes the answer of look.lua, and returns the call of record.lua that it makes necessary. kept is the number
// of steps that Redis keeps at least.
func (l *historyLook) found(r *script.Reply, kept int64) (call script.Call, needed bool) {
	if r.Err != nil {
		return call, false
	}
	r.Number() // now
	state := r.Text()
	if state == "none" {
		l.outcome = lookedAtNothing
		return call, false
	}
	if state == "same" {
		return call, false
	}
	at, epoch, seq := r.Number(), r.Text(), r.Text()
	order, ties := takeShape(r, l.rule.Board)
	erased, last, seen, whole, since, next := r.Text(), r.Number(), r.Number(), r.Text(), r.Number(), r.Number()
	entries, err := takeEntries(r.List(), r.List(), 0, 1, order, ties) // their data are the numbers and the best ranks of the members
	if err != nil {
		return call, false
	}
	w := stepWriter{next: next}
	if last > 0 {
		if s, err := history.Decode(nil, []byte(whole)); err == nil {
			w.before = s.State
		}
	}
	for _, e := range entries {
		w.add(e)
	}
	seenAt := max(at, seen)
	args := []any{epoch, erased, last, seenAt, seq, l.step.Milliseconds(), kept}
	at = max(at, last+1) // also when Redis's clock was set back
	if last > 0 && at-seen > lateSteps*l.step.Milliseconds() {
		w.step.Gap = at - seen
	}
	switch {
	case w.before != nil && w.step.Gap == 0 && slices.Equal(w.before, w.step.State):
		args = append(args, 0, "", "", 0, 0)
	case w.before == nil || since+1 >= keyframeEach:
		args = append(append(args, at, history.Keyframe(w.step), w.whole(), 0, w.next), w.numbers...)
	default:
		args = append(append(args, at, history.Delta(w.before, w.step), w.whole(), since+1, w.next), w.numbers...)
	}
	k := l.keys
	return script.Call{Script: script.Record, Keys: append([]string{k.Members, k.Meta, k.Hidden}, k.History().All()...), Args: args}, true
}

// stepWriter makes a step.
type stepWriter struct {
	before  history.State // of the last step; nil: not known
	next    int64         // number of the next new member
	step    history.Step
	numbers []any // arguments of record.lua: members that are new, or better than before
}

// add adds an entry. Its data are what the hash of numbers has of its member.
func (w *stepWriter) add(e Entry) {
	if w.step.State == nil {
		w.step.State = make(history.State, 0, history.MaxEntries)
	}
	number, best, known := parseNumber(e.Data)
	switch {
	case !known:
		number = w.next
		w.next++
		w.numbers = append(w.numbers, e.Member, number, e.Rank, "new")
	case e.Rank < best.Rank:
		w.numbers = append(w.numbers, e.Member, number, e.Rank, "")
	}
	w.step.State = append(w.step.State, history.Entry{Number: number, Score: e.Score})
}

// whole is the state as a keyframe.
func (w *stepWriter) whole() []byte { return history.Keyframe(history.Step{State: w.step.State}) }
