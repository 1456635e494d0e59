package definition

import (
	"cmp"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"rankcast/ranking/calendar"
)

// Compiled is a normalized Board with its calendar, its bounds and its shape computed. It
// never changes and may be used concurrently.
type Compiled struct {
	Board
	Calendar                                 *calendar.Calendar // nil on a board without periods
	LowestScore, HighestScore, LargestChange int64              // see Board.ScoreBounds
	// see Board.Shape; frozen with a board-period, because data of two shapes must not mix
	Shape string

	kept atomic.Pointer[kept] // for the period that was current at the last call
}

// kept is the oldest period that keep retains while current is the current period.
type kept struct {
	current, oldest calendar.Period
}

// Compile normalizes d and makes it ready for use. It returns the FieldError of Normalize.
func Compile(d Board) (*Compiled, error) {
	d, err := d.Normalize()
	if err != nil {
		return nil, err
	}
	r := &Compiled{Board: d, Shape: d.Shape()}
	r.LowestScore, r.HighestScore, r.LargestChange = d.ScoreBounds()
	if d.Period != "" {
		c := calendar.New(d.calendarOf())
		r.Calendar = &c
	}
	return r, nil
}

// CurrentPeriod returns the period that counts at now, a time of Redis's clock in µs since
// 1970. Before the start of an activity that is its first period, and after the end its last.
// A board without periods has the zero period.
func (r *Compiled) CurrentPeriod(now int64) calendar.Period {
	if r.Calendar == nil {
		return calendar.Period{}
	}
	t := time.UnixMicro(now)
	if !r.Ends.IsZero() && !t.Before(r.Ends) {
		t = r.Ends.Add(-1)
	}
	if starts := r.startsAt(); t.Before(starts) {
		t = starts
	}
	p, _ := r.Calendar.At(t)
	return p
}

// startsAt is the time from which updates count: the later one of Starts and Base, because
// there are no periods before Base. Zero means that updates always count.
func (r *Compiled) startsAt() time.Time {
	if r.Base.After(r.Starts) {
		return r.Base
	}
	return r.Starts
}

// PeriodEnd is the time at which a period of the board closes, at the latest the end of the
// activity. Zero means never.
func (r *Compiled) PeriodEnd(p calendar.Period) time.Time {
	if p.Closes.IsZero() || !r.Ends.IsZero() && r.Ends.Before(p.Closes) {
		return r.Ends
	}
	return p.Closes
}

// PeriodEnded reports whether a period has closed at now, in µs since 1970.
func (r *Compiled) PeriodEnded(p calendar.Period, now int64) bool {
	end := r.PeriodEnd(p)
	return !end.IsZero() && end.UnixMicro() <= now
}

// ResolvePeriod returns the period that a name means at now: "" is the current period, "-1"
// the one before it, and any other name a period of that name. moves is the time in µs since
// 1970 at which the name will mean another period, or the named period closes; 0 means never.
// The error is a FieldError of kind ErrUnknownPeriod for a period that does not exist, has
// not begun, or is not kept.
func (r *Compiled) ResolvePeriod(asked string, now int64) (p calendar.Period, moves int64, err error) {
	current := r.CurrentPeriod(now)
	until := func(p calendar.Period) int64 {
		if end := r.PeriodEnd(p); !end.IsZero() && end.UnixMicro() > now {
			return end.UnixMicro()
		}
		return 0
	}
	if asked == "" || asked == current.Name {
		return current, until(current), nil
	}
	if r.Calendar == nil {
		return calendar.Period{}, 0, unknownPeriod("%q does not exist: the board has no periods", asked)
	}
	if n, err := strconv.Atoi(asked); err == nil && n < 0 && asked == strconv.Itoa(n) {
		back := -n
		if back > *r.Keep {
			return calendar.Period{}, 0, r.notKept(asked)
		}
		p, ok := r.PeriodBefore(current, back)
		if !ok {
			return calendar.Period{}, 0, unknownPeriod("%q is before the first period of the board", asked)
		}
		return p, until(current), nil
	}
	p, ok := r.Calendar.Named(asked)
	switch {
	case !ok:
		return calendar.Period{}, 0, unknownPeriod("%q does not exist on this board; the current period is %s", asked, current.Name)
	case p.Opens.After(current.Opens):
		return calendar.Period{}, 0, unknownPeriod("%q has not begun", asked)
	case p.Opens.Before(r.OldestReadable(now).Opens):
		return calendar.Period{}, 0, r.notKept(asked)
	}
	return p, until(p), nil
}

// PeriodBefore returns the period that is n periods before p. It returns false where the
// calendar has no such period.
func (r *Compiled) PeriodBefore(p calendar.Period, n int) (_ calendar.Period, ok bool) {
	ok = true
	for ; n > 0 && ok; n-- {
		p, ok = r.Calendar.Before(p)
	}
	return p, ok
}

// ClosedGrace is the time for which a period that is no longer kept can still be read by its
// own name. With it, watchers of a board with keep 0 still see the end of a period.
const ClosedGrace = 2 * time.Second

// OldestReadable is the oldest period that can be read at now, in µs since 1970. It is the
// zero period where all periods can be read.
func (r *Compiled) OldestReadable(now int64) calendar.Period {
	if r.Calendar == nil {
		return calendar.Period{}
	}
	current := r.CurrentPeriod(now - ClosedGrace.Microseconds())
	if k := r.kept.Load(); k != nil && k.current == current {
		return k.oldest
	}
	oldest, _ := r.PeriodBefore(current, *r.Keep)
	r.kept.Store(&kept{current, oldest})
	return oldest
}

// PeriodDropAt is the time in µs since 1970 from which a period can no longer be read: when
// more periods follow it than keep retains, and ClosedGrace is over. It is Never for the last
// periods of an activity, which stay.
func (r *Compiled) PeriodDropAt(p calendar.Period) int64 {
	for range *r.Keep {
		p = r.Calendar.Next(p)
	}
	if p.Closes.IsZero() || !r.Ends.IsZero() && !p.Closes.Before(r.Ends) {
		return Never
	}
	return p.Closes.Add(ClosedGrace).UnixMicro()
}

func unknownPeriod(reason string, args ...any) error {
	return &FieldError{Field: "board", Reason: "period " + fmt.Sprintf(reason, args...), Kind: ErrUnknownPeriod}
}

func (r *Compiled) notKept(asked string) error {
	if *r.Keep == 0 {
		return unknownPeriod("%q is not kept: the board keeps no closed periods", asked)
	}
	return unknownPeriod("%q is no longer kept: the board keeps the last %d closed periods", asked, *r.Keep)
}

// Span returns the period and the times that apply to updates made at now, in µs since 1970.
func (r *Compiled) Span(now int64) Span {
	p := r.CurrentPeriod(now)
	micro := func(t time.Time) int64 {
		if t.IsZero() {
			return 0
		}
		return t.UnixMicro()
	}
	s := Span{Name: p.Name, Opens: micro(p.Opens), Closes: micro(p.Closes), Starts: micro(r.startsAt()), Ends: micro(r.Ends)}
	from, to := max(s.Opens, micro(r.Starts)), micro(r.PeriodEnd(p))
	if r.Shards > 0 { // for all shards alike, whenever they get their first member: starts and ends may change meanwhile
		from, to = s.Opens, s.Closes
	}
	switch {
	case to > 0 && from > 0:
		s.From, s.Length = from, tieReserve*(to-from)
	case r.TieSpan > 0 && r.Shards > 0:
		s.From, s.Length = micro(r.Starts), tieReserve*r.TieSpan.Microseconds()
	case r.TieSpan > 0:
		s.From, s.Length = now, tieReserve*r.TieSpan.Microseconds()
	default:
		s.From, s.Length = from2020, hundredYears
	}
	return s
}

// UpdateTimes says when the board takes updates, for the error of an update outside these times.
func (r *Compiled) UpdateTimes() string {
	starts := r.startsAt()
	switch {
	case r.Ends.IsZero():
		return "takes updates from " + starts.Format(TimeForm)
	case starts.IsZero():
		return "takes updates until " + r.Ends.Format(TimeForm)
	default:
		return "takes updates from " + starts.Format(TimeForm) + " until " + r.Ends.Format(TimeForm)
	}
}

// InstanceLimit is the greatest number of instances: MaxInstances, or 1 for a board that is
// not a family.
func (r *Compiled) InstanceLimit() int { return cmp.Or(r.MaxInstances, 1) }

// IsBuilt reports whether the board has a built result: a union, or a window with a refresh interval.
func (r *Compiled) IsBuilt() bool { return r.RefreshInterval() > 0 }

// Span is the period and the times that apply to a batch of updates, as apply.lua takes them.
// Times are in µs since 1970; 0 means none.
type Span struct {
	Name          string // the period's name; "" for a board without periods
	Opens, Closes int64  // of the period
	Starts, Ends  int64  // of the activity
	From, Length  int64  // start and length in µs of the span that the fraction of a sort key divides; a new board-period keeps them
}

// End is the time from which no update counts: the end of the period or of the activity,
// whichever comes first. 0 means never.
func (s Span) End() int64 {
	if s.Closes == 0 || s.Ends > 0 && s.Ends < s.Closes {
		return s.Ends
	}
	return s.Closes
}

// tieReserve is how many times a period the span of its sort keys is. Time alone uses the first half of the
// fraction. The second half is a reserve for arrivals that find the key of their time taken, so that
// order of arrival is exact for 2^(52−e) arrivals at a score below 2^e, also just before the period ends.
const tieReserve = 2

// from2020 and hundredYears are the default span that the fraction of a sort key divides, in µs.
// They apply to a board that has neither periods, nor both bounds, nor a tie_span.
var (
	from2020     = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	hundredYears = (36525 * 24 * time.Hour).Microseconds()
)

// Never is a time in µs since 1970 that is later than any time Redis's clock shows.
const Never = 1 << 52
