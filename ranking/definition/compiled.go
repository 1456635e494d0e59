package definition

import (
	"cmp"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"rankcast/ranking/calendar"
)

// Compiled is a definition made ready to work by. It never changes, and may be used
// concurrently.
type Compiled struct {
	Board
	Calendar                                 *calendar.Calendar // nil: no periods
	LowestScore, HighestScore, LargestChange int64
	Shape                                    string // frozen with a board-period: data of two shapes must not mix

	kept atomic.Pointer[kept] // of the period that was current last
}

// kept is what keep makes of periods while one is the current one.
type kept struct {
	current, oldest calendar.Period
}

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

// CurrentPeriod is the period that counts at a moment of Redis's clock, in µs since 1970:
// before an activity starts its first, after it has ended its last.
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

// startsAt is from when on updates count; zero: always. There are no periods before Base.
func (r *Compiled) startsAt() time.Time {
	if r.Base.After(r.Starts) {
		return r.Base
	}
	return r.Starts
}

// PeriodEnd is when a period of the board closes; zero: never.
func (r *Compiled) PeriodEnd(p calendar.Period) time.Time {
	if p.Closes.IsZero() || !r.Ends.IsZero() && r.Ends.Before(p.Closes) {
		return r.Ends
	}
	return p.Closes
}

// PeriodEnded reports whether a period has closed.
func (r *Compiled) PeriodEnded(p calendar.Period, now int64) bool {
	end := r.PeriodEnd(p)
	return !end.IsZero() && end.UnixMicro() <= now
}

// ResolvePeriod gives the period that a name means: "" for the current one, "-1" for the one
// before it, or one by its own name; and when that will be another period, or this
// one closes, in µs since 1970, 0 for never.
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
		return calendar.Period{}, 0, unknownPeriod("%q is none: the board has no periods", asked)
	}
	if n, err := strconv.Atoi(asked); err == nil && n < 0 && asked == strconv.Itoa(n) {
		back := -n
		if back > *r.Keep {
			return calendar.Period{}, 0, r.notKept(asked)
		}
		p, ok := r.PeriodBefore(current, back)
		if !ok {
			return calendar.Period{}, 0, unknownPeriod("%q is before the first", asked)
		}
		return p, until(current), nil
	}
	p, ok := r.Calendar.Named(asked)
	switch {
	case !ok:
		return calendar.Period{}, 0, unknownPeriod("%q is none of this board; the current one is %s", asked, current.Name)
	case p.Opens.After(current.Opens):
		return calendar.Period{}, 0, unknownPeriod("%q has not begun", asked)
	case p.Opens.Before(r.OldestReadable(now).Opens):
		return calendar.Period{}, 0, r.notKept(asked)
	}
	return p, until(p), nil
}

// PeriodBefore is the period so many before p.
func (r *Compiled) PeriodBefore(p calendar.Period, n int) (_ calendar.Period, ok bool) {
	ok = true
	for ; n > 0 && ok; n-- {
		p, ok = r.Calendar.Before(p)
	}
	return p, ok
}

// ClosedGrace is for how long a period that is not kept any more can still be read by its
// own name: those who watch it with keep 0 are shown its end.
const ClosedGrace = 2 * time.Second

// OldestReadable is the oldest period that can be read at a moment, the zero one where all can.
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

// PeriodDropAt is when a period cannot be read any more, in µs since 1970, or never: once
// there are more after it than are kept. An activity's last ones stay.
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
		return unknownPeriod("%q is not kept: the board keeps none that has closed", asked)
	}
	return unknownPeriod("%q is not kept any more: of those that closed the last %d are", asked, *r.Keep)
}

// Span is what updates made at a moment are for.
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
	switch {
	case to > 0 && from > 0:
		s.From, s.Length = from, to-from
	case r.TieSpan > 0:
		s.From, s.Length = now, r.TieSpan.Microseconds()
	default:
		s.From, s.Length = from2020, hundredYears
	}
	return s
}

// UpdateTimes says when a board takes updates, for one that was refused.
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

// InstanceLimit is how many instances there may be.
func (r *Compiled) InstanceLimit() int { return cmp.Or(r.MaxInstances, 1) }

// IsBuilt reports whether a board has a result that is built.
func (r *Compiled) IsBuilt() bool { return r.RefreshInterval() > 0 }

// Span is what a batch of updates is for, as apply.lua has it. Times are
// microseconds since 1970, 0 for none.
type Span struct {
	Name          string // the period's name; "" for a board without periods
	Opens, Closes int64  // of the period
	Starts, Ends  int64  // of the activity
	From, Length  int64  // what the tie-break's fraction is a fraction of
}

// End is when no update counts any more; 0: never.
func (s Span) End() int64 {
	if s.Closes == 0 || s.Ends > 0 && s.Ends < s.Closes {
		return s.Ends
	}
	return s.Closes
}

// from2020 is what scores of a board tie by that has neither period nor activity:
// a fraction of the hundred years from 2020.
var (
	from2020     = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	hundredYears = (36525 * 24 * time.Hour).Microseconds()
)

// Never is later than any time that a clock of Redis shows.
const Never = 1 << 52
