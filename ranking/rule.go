package ranking

import (
	"cmp"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"
)

// rule is a definition made ready to work by. It never changes, and may be used
// concurrently.
type rule struct {
	Definition
	calendar            *calendar // nil: no periods
	min, max, maxChange int64
	shape               string // frozen with a board-period: data of two shapes must not mix

	kept atomic.Pointer[kept] // of the period that was current last
}

// kept is what keep makes of periods while one is the current one.
type kept struct {
	current, oldest period
}

func newRule(d Definition) (*rule, error) {
	d, err := d.Normalize()
	if err != nil {
		return nil, err
	}
	r := &rule{Definition: d, shape: d.shape()}
	r.min, r.max, r.maxChange = d.bounds()
	if d.Period != "" {
		c := newCalendar(d.reckoning())
		r.calendar = &c
	}
	return r, nil
}

// current is the period that counts at a moment of Redis's clock, in µs since 1970:
// before an activity starts its first, after it has ended its last.
func (r *rule) current(now int64) period {
	if r.calendar == nil {
		return period{}
	}
	t := time.UnixMicro(now)
	if !r.Ends.IsZero() && !t.Before(r.Ends) {
		t = r.Ends.Add(-1)
	}
	if starts := r.starts(); t.Before(starts) {
		t = starts
	}
	p, _ := r.calendar.at(t)
	return p
}

// starts is from when on updates count; zero: always. There are no periods before Base.
func (r *rule) starts() time.Time {
	if r.Base.After(r.Starts) {
		return r.Base
	}
	return r.Starts
}

// end is when a period of the board closes; zero: never.
func (r *rule) end(p period) time.Time {
	if p.closes.IsZero() || !r.Ends.IsZero() && r.Ends.Before(p.closes) {
		return r.Ends
	}
	return p.closes
}

// ended reports whether a period has closed.
func (r *rule) ended(p period, now int64) bool {
	end := r.end(p)
	return !end.IsZero() && end.UnixMicro() <= now
}

// find gives the period that a name means: "" for the current one, "-1" for the one
// before it, or one by its own name; and when that will be another period, or this
// one closes, in µs since 1970, 0 for never.
func (r *rule) find(asked string, now int64) (p period, moves int64, err error) {
	current := r.current(now)
	until := func(p period) int64 {
		if end := r.end(p); !end.IsZero() && end.UnixMicro() > now {
			return end.UnixMicro()
		}
		return 0
	}
	if asked == "" || asked == current.name {
		return current, until(current), nil
	}
	if r.calendar == nil {
		return period{}, 0, unknownPeriod("%q is none: the board has no periods", asked)
	}
	if n, err := strconv.Atoi(asked); err == nil && n < 0 && asked == strconv.Itoa(n) {
		back := -n
		if back > *r.Keep {
			return period{}, 0, r.notKept(asked)
		}
		p, ok := r.before(current, back)
		if !ok {
			return period{}, 0, unknownPeriod("%q is before the first", asked)
		}
		return p, until(current), nil
	}
	p, ok := r.calendar.named(asked)
	switch {
	case !ok:
		return period{}, 0, unknownPeriod("%q is none of this board; the current one is %s", asked, current.name)
	case p.opens.After(current.opens):
		return period{}, 0, unknownPeriod("%q has not begun", asked)
	case p.opens.Before(r.oldest(now).opens):
		return period{}, 0, r.notKept(asked)
	}
	return p, until(p), nil
}

// before is the period so many before p.
func (r *rule) before(p period, n int) (_ period, ok bool) {
	ok = true
	for ; n > 0 && ok; n-- {
		p, ok = r.calendar.before(p)
	}
	return p, ok
}

// lingers is for how long a period that is not kept any more can still be read by its
// own name: those who watch it with keep 0 are shown its end.
const lingers = 2 * time.Second

// oldest is the oldest period that can be read at a moment, the zero one where all can.
func (r *rule) oldest(now int64) period {
	if r.calendar == nil {
		return period{}
	}
	current := r.current(now - lingers.Microseconds())
	if k := r.kept.Load(); k != nil && k.current == current {
		return k.oldest
	}
	oldest, _ := r.before(current, *r.Keep)
	r.kept.Store(&kept{current, oldest})
	return oldest
}

// dropAt is when a period cannot be read any more, in µs since 1970, or never: once
// there are more after it than are kept. An activity's last ones stay.
func (r *rule) dropAt(p period) int64 {
	for range *r.Keep {
		p = r.calendar.next(p)
	}
	if p.closes.IsZero() || !r.Ends.IsZero() && !p.closes.Before(r.Ends) {
		return never
	}
	return p.closes.Add(lingers).UnixMicro()
}

func unknownPeriod(reason string, args ...any) error {
	return &FieldError{Field: "board", Reason: "period " + fmt.Sprintf(reason, args...), Kind: ErrUnknownPeriod}
}

func (r *rule) notKept(asked string) error {
	if *r.Keep == 0 {
		return unknownPeriod("%q is not kept: the board keeps none that has closed", asked)
	}
	return unknownPeriod("%q is not kept any more: of those that closed the last %d are", asked, *r.Keep)
}

// span is what updates made at a moment are for.
func (r *rule) span(now int64) span {
	p := r.current(now)
	micro := func(t time.Time) int64 {
		if t.IsZero() {
			return 0
		}
		return t.UnixMicro()
	}
	s := span{name: p.name, opens: micro(p.opens), closes: micro(p.closes), starts: micro(r.starts()), ends: micro(r.Ends)}
	from, to := max(s.opens, micro(r.Starts)), micro(r.end(p))
	switch {
	case to > 0 && from > 0:
		s.from, s.length = from, to-from
	case r.TieSpan > 0:
		s.from, s.length = now, r.TieSpan.Microseconds()
	default:
		s.from, s.length = from2020, hundredYears
	}
	return s
}

// hours says when a board takes updates, for one that was refused.
func (r *rule) hours() string {
	starts := r.starts()
	switch {
	case r.Ends.IsZero():
		return "takes updates from " + starts.Format(TimeForm)
	case starts.IsZero():
		return "takes updates until " + r.Ends.Format(TimeForm)
	default:
		return "takes updates from " + starts.Format(TimeForm) + " until " + r.Ends.Format(TimeForm)
	}
}

// instances is how many instances there may be.
func (r *rule) instances() int { return cmp.Or(r.MaxInstances, 1) }

// isBuilt reports whether a board has a result that is built.
func (r *rule) isBuilt() bool { return r.refresh() > 0 }

// span is what a batch of updates is for, as apply.lua has it. Times are
// microseconds since 1970, 0 for none.
type span struct {
	name          string // the period's name; "" for a board without periods
	opens, closes int64  // of the period
	starts, ends  int64  // of the activity
	from, length  int64  // what the tie-break's fraction is a fraction of
}

// end is when no update counts any more; 0: never.
func (s span) end() int64 {
	if s.closes == 0 || s.ends > 0 && s.ends < s.closes {
		return s.ends
	}
	return s.closes
}

// from2020 is what scores of a board tie by that has neither period nor activity:
// a fraction of the hundred years from 2020.
var (
	from2020     = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	hundredYears = (36525 * 24 * time.Hour).Microseconds()
)

// never is later than any time that a clock of Redis shows.
const never = 1 << 52
