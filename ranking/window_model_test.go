package ranking

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking/definition"
)

// The orders and rules of ties that laws draw from.
var (
	anyOrder = rapid.SampledFrom([]definition.Order{definition.Desc, definition.Asc})
	anyTies  = rapid.SampledFrom([]definition.Ties{definition.First, definition.Shared, definition.Dense, definition.ByMember})
)

// windowModel is a board with a window as anybody would reckon it: it keeps what was
// sent, and counts all of it anew each time. Times are ms since 1970.
type windowModel struct {
	def    definition.Board // normalized
	events []windowEvent
	came   int64 // events, and scores come to, so far: what came later has a greater number
	hidden map[string]bool
	data   map[string]string

	placed map[string]windowPlace // on a live board as of the last sweep, else in the result
}

type windowEvent struct {
	member string
	score  int64
	ms, n  int64
}

// windowPlace is a score, and where among equals it has its member.
type windowPlace struct {
	score int64
	since int64 // when it was come to
	vague bool  // it is not told where that is
}

func newWindowModel(d definition.Board) *windowModel {
	return &windowModel{def: d, hidden: make(map[string]bool), data: make(map[string]string), placed: make(map[string]windowPlace)}
}

// gone has nothing be left of the board, as when it is deleted. Who is hidden is the
// caller's.
func (m *windowModel) gone() {
	m.events = nil
	clear(m.data)
	clear(m.placed)
}

func (m *windowModel) over(now int64) int64 { return now - m.def.Window.Milliseconds() }

func (m *windowModel) better(a, b int64) bool {
	return m.def.Order.Sign()*a < m.def.Order.Sign()*b
}

// counts is how many events of a member count, and what they add and subtract.
func (m *windowModel) counts(member string, now int64) (n int, plus, minus int64) {
	for _, e := range m.events {
		if e.member == member && e.ms > m.over(now) {
			n++
			plus += max(e.score, 0)
			minus += max(-e.score, 0)
		}
	}
	return n, plus, minus
}

// recount is what members come to by the events that count at a time, also those who are
// hidden.
func (m *windowModel) recount(now int64) map[string]int64 {
	of := make(map[string][]windowEvent)
	for _, e := range m.events {
		if e.ms > m.over(now) {
			of[e.member] = append(of[e.member], e)
		}
	}
	scores := make(map[string]int64)
	for member, its := range of {
		switch m.def.Mode {
		case definition.Sum:
			for _, e := range its {
				scores[member] += e.score
			}
		case definition.Best:
			best := slices.MinFunc(its, func(a, b windowEvent) int { return int(m.def.Order.Sign()) * cmp.Compare(a.score, b.score) })
			scores[member] = best.score
		case definition.Last:
			last := slices.MaxFunc(its, func(a, b windowEvent) int { return cmp.Or(cmp.Compare(a.ms, b.ms), cmp.Compare(a.n, b.n)) })
			scores[member] = last.score
		}
	}
	return scores
}

// next is the number of what comes now.
func (m *windowModel) next() int64 {
	m.came++
	return m.came
}

// forget has no event of a member count any more.
func (m *windowModel) forget(member string) {
	m.events = slices.DeleteFunc(m.events, func(e windowEvent) bool { return e.member == member })
}

// leave takes a member from where it is placed.
func (m *windowModel) leave(member string) {
	delete(m.placed, member)
	delete(m.data, member)
}

// sweep has events go whose time is over. Of members of a live board those come to what is
// left to them first whose last event that went is the older.
func (m *windowModel) sweep(now int64) {
	last := make(map[string]int64)
	m.events = slices.DeleteFunc(m.events, func(e windowEvent) bool {
		if e.ms > m.over(now) {
			return false
		}
		last[e.member] = max(last[e.member], e.ms)
		return true
	})
	if !m.def.IsLive() {
		return
	}
	scores, at := m.recount(now), int64(0)
	for _, member := range slices.SortedFunc(maps.Keys(last), func(a, b string) int { return cmp.Compare(last[a], last[b]) }) {
		was, there := m.placed[member]
		score, counts := scores[member]
		switch {
		case !counts:
			m.leave(member)
		case there && was.score != score:
			if last[member] != at { // who go at the same time are in no order
				m.next()
				at = last[member]
			}
			m.placed[member] = windowPlace{score, m.came, m.hidden[member]}
		}
	}
}

// come gives a member of a live board the score that counts now.
func (m *windowModel) come(member string, now int64) {
	n, plus, minus := m.counts(member, now)
	was, there := m.placed[member]
	if n == 0 {
		m.leave(member)
	} else if score := plus - minus; !there || was.score != score {
		m.placed[member] = windowPlace{score: score, since: m.next()}
	}
}

// build replaces the result by what counts at a time. Who keeps its score keeps its place.
func (m *windowModel) build(now int64) {
	since, placed := m.next(), make(map[string]windowPlace)
	for member, score := range m.recount(now) {
		if m.hidden[member] {
			continue
		}
		was, there := m.placed[member]
		if !there || was.score != score {
			was = windowPlace{score: score, since: since}
		}
		placed[member] = was
	}
	m.placed = placed
}

// hide hides a member, or shows it again: on a live board with what it has come to, else
// with the next result.
func (m *windowModel) hide(member string, hide bool) {
	if hide {
		m.hidden[member] = true
	} else {
		delete(m.hidden, member)
	}
	if hide && !m.def.IsLive() {
		m.leave(member)
	}
}

// windowStanding is what an update may be answered with: a rank from least to most, both 0
// for one that is hidden.
type windowStanding struct{ score, least, most int64 }

func (m *windowModel) standing(member string) *windowStanding {
	its, there := m.placed[member]
	if !there || !m.def.IsLive() {
		return nil
	}
	if m.hidden[member] {
		return &windowStanding{score: its.score}
	}
	better, tiers, before, after := int64(0), make(map[int64]bool), int64(0), int64(0)
	for other, p := range m.placed {
		switch {
		case m.hidden[other] || other == member:
		case m.better(p.score, its.score):
			better++
			tiers[p.score] = true
		case p.score == its.score && m.ordered(p, other, its, member):
			before++
		case p.score == its.score && !m.ordered(its, member, p, other):
			after++ // or before it
		}
	}
	switch m.def.Ties {
	case definition.Shared:
		return &windowStanding{its.score, better + 1, better + 1}
	case definition.Dense:
		return &windowStanding{its.score, int64(len(tiers)) + 1, int64(len(tiers)) + 1}
	default:
		return &windowStanding{its.score, better + before + 1, better + before + after + 1}
	}
}

// ordered reports whether one of two with the same score is known to be before the other.
func (m *windowModel) ordered(a windowPlace, first string, b windowPlace, second string) bool {
	switch {
	case m.def.Ties == definition.ByMember:
		return first < second
	case a.vague || b.vague || max(a.score, -a.score) > 1<<40: // where few keys fit
		return false
	case a.since == b.since:
		return !m.def.IsLive() && first < second
	default:
		return a.since < b.since
	}
}

// windowAnswer is what must come of an update.
type windowAnswer struct {
	kind    error  // nil: it is carried out
	field   string // that is told to be wrong, with kind
	was, is *windowStanding
}

// update says what must come of an update, whose id was not seen before.
func (m *windowModel) update(u write, now int64) windowAnswer {
	m.sweep(now)
	was := m.standing(u.Member)
	n, plus, minus := m.counts(u.Member, now)
	if u.override == removing {
		if n == 0 && !m.there(u.Member) {
			return windowAnswer{kind: definition.ErrUnknownMember}
		}
		m.forget(u.Member)
		m.leave(u.Member)
		return windowAnswer{was: was}
	}
	if u.If == definition.Exists && n == 0 || u.If == definition.Absent && n > 0 {
		return windowAnswer{was: was, is: was}
	}
	ms := now
	switch {
	case u.Op != "" && u.Op != m.def.Mode:
		return windowAnswer{kind: definition.ErrInvalid, field: "op"}
	case u.Data != "" && !m.def.IsLive():
		return windowAnswer{kind: definition.ErrInvalid, field: "data"}
	case u.At.IsZero():
	case u.At.UnixMilli() > now+definition.MaxAhead.Milliseconds():
		return windowAnswer{kind: definition.ErrOutOfRange, field: "at"}
	default:
		ms = min(u.At.UnixMilli(), now)
	}
	if ms <= m.over(now) {
		return windowAnswer{kind: definition.ErrOutOfRange, field: "at"}
	}
	if u.override == setting {
		plus, minus = 0, 0
	}
	to := u.Score
	if m.def.Mode != definition.Sum {
		plus, minus = 0, 0
	} else {
		plus, minus = plus+max(u.Score, 0), minus+max(-u.Score, 0)
		to = plus - minus
	}
	low, high, _ := m.def.ScoreBounds()
	beyond := to < low || to > high
	if m.def.Mode == definition.Sum && u.override != setting {
		beyond = to < low && u.Score < 0 || to > high && u.Score > 0
	}
	if beyond || plus > definition.MaxScore || minus > definition.MaxScore {
		return windowAnswer{kind: definition.ErrOutOfRange, field: "score"}
	}
	if _, _, most := m.def.ScoreBounds(); u.override != setting && (u.Score > most || u.Score < -most) {
		return windowAnswer{kind: definition.ErrOutOfRange, field: "score"}
	}
	if u.override == setting {
		m.forget(u.Member)
	}
	m.events = append(m.events, windowEvent{u.Member, u.Score, ms, m.next()})
	if !m.def.IsLive() {
		return windowAnswer{}
	}
	m.come(u.Member, now)
	switch u.Data {
	case "":
	case "null":
		delete(m.data, u.Member)
	default:
		m.data[u.Member] = u.Data
	}
	return windowAnswer{was: was, is: m.standing(u.Member)}
}

func (m *windowModel) there(member string) bool {
	_, there := m.placed[member]
	return there
}

// takeBack takes back the event that had a number, if it still counts.
func (m *windowModel) takeBack(n, now int64) {
	m.sweep(now)
	i := slices.IndexFunc(m.events, func(e windowEvent) bool { return e.n == n })
	if i < 0 {
		return
	}
	member := m.events[i].member
	m.events = slices.Delete(m.events, i, i+1)
	if m.def.IsLive() {
		m.come(member, now)
	}
}

// meets says why an answer is not what must come, or nil.
func (a windowAnswer) meets(o Outcome) error {
	if a.kind != nil || o.Err != nil {
		var fe *definition.FieldError
		if a.kind == nil || !errors.Is(o.Err, a.kind) || a.field != "" && (!errors.As(o.Err, &fe) || fe.Field != a.field) {
			return fmt.Errorf("is refused as %v, not as %v of %q", o.Err, a.kind, a.field)
		}
		return nil
	}
	for _, s := range []struct {
		want *windowStanding
		got  *Standing
	}{{a.was, o.Result.Previous}, {a.is, o.Result.Current}} {
		if s.want == nil && s.got == nil {
			continue
		}
		if s.want == nil || s.got == nil || s.want.score != s.got.Score || s.got.Rank < s.want.least || s.got.Rank > s.want.most {
			return fmt.Errorf("has the standing %+v, not %+v", s.got, s.want)
		}
	}
	return nil
}

// list is who is on the board, where that is told in their order.
func (m *windowModel) list() []string {
	return slices.SortedFunc(func(yield func(string) bool) {
		for member := range m.placed {
			if (!m.def.IsLive() || !m.hidden[member]) && !yield(member) {
				return
			}
		}
	}, func(a, b string) int {
		p, q := m.placed[a], m.placed[b]
		return cmp.Or(int(m.def.Order.Sign())*cmp.Compare(p.score, q.score), cmp.Compare(p.since, q.since), cmp.Compare(a, b))
	})
}

// check wants all of a board to be what the model has.
func (m *windowModel) check(t *rapid.T, entries []Entry) {
	want, got := make(map[string]int64), make(map[string]int64)
	for _, member := range m.list() {
		want[member] = m.placed[member].score
	}
	for _, e := range entries {
		got[e.Member] = e.Score
		data := ""
		if m.def.IsLive() {
			data = m.data[e.Member]
		}
		require.Equal(t, data, e.Data, "data of %s", e.Member)
	}
	require.Equal(t, want, got)
	m.checkOrder(t, entries)
	for i, e := range entries {
		for _, below := range entries[i+1:] {
			if below.Score == e.Score {
				require.False(t, m.ordered(m.placed[below.Member], below.Member, m.placed[e.Member], e.Member), "%s before %s: %+v %+v",
					e.Member, below.Member, m.placed[e.Member], m.placed[below.Member])
			}
		}
	}
}

// checkOrder wants entries to be in the order of their scores, with the ranks that these
// give them.
func (m *windowModel) checkOrder(t *rapid.T, entries []Entry) {
	rank := int64(0)
	for i, e := range entries {
		equal := i > 0 && entries[i-1].Score == e.Score
		switch {
		case equal && m.def.Ties.Tied():
		case m.def.Ties == definition.Dense:
			rank++
		default:
			rank = int64(i + 1)
		}
		require.Equal(t, rank, e.Rank, "rank of %s", e.Member)
		require.True(t, i == 0 || equal || m.better(entries[i-1].Score, e.Score), "order of %s", e.Member)
	}
}
