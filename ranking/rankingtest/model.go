// Package rankingtest says what a board is, the plainest way, and has random histories
// happen to a board and to that model of it, for tests.
package rankingtest

import (
	"cmp"
	"slices"
	"time"

	"rankcast/ranking"
	"rankcast/ranking/definition"
)

// Model is what a board is said to be, written down the plainest way.
type Model struct {
	def     definition.Board
	members []Member // best first
	hidden  []Member
	hides   map[string]bool
	known   map[string]known
	period  string
	calls   int
	arrived int
	seq     int64
	past    map[int64][]ranking.Entry // what the board was at each seq
	age     time.Duration             // of the board
}

// Member is one on the board of a Model.
type Member struct {
	name    string
	score   int64
	data    string
	arrived int
	entered time.Duration // the board's age then
	call    int           // in which it entered
}

// known is what is known of a request id.
type known struct {
	update definition.Update
	result ranking.Result
}

// NewModel makes the model of a board that was never written to.
func NewModel(def definition.Board) *Model {
	m := &Model{def: def, hides: make(map[string]bool), known: make(map[string]known), past: make(map[int64][]ranking.Entry)}
	if def.Period != "" {
		m.period = "0"
	}
	m.past[0] = m.entries()
	return m
}

// Name is the member's id.
func (e Member) Name() string { return e.name }

// Score is what it has.
func (e Member) Score() int64 { return e.score }

// Definition is what the board is.
func (m *Model) Definition() definition.Board { return m.def }

// Members are those on the board, best first.
func (m *Model) Members() []Member { return slices.Clone(m.members) }

// Before reports whether one stands before another on such a board.
func (m *Model) Before(a, b Member) bool {
	two := Model{def: m.def, members: []Member{a, b}}
	two.sort()
	return two.members[0] == a && a != b
}

// Ranked are entries as a board has them that they came to one after the other, without
// keys.
func Ranked(def definition.Board, entries []ranking.Entry) []ranking.Entry {
	m := Model{def: def}
	for i, e := range entries {
		m.members = append(m.members, Member{name: e.Member, score: e.Score, data: e.Data, arrived: i})
	}
	m.sort()
	return m.entries()
}

// Seq is how many changes there were.
func (m *Model) Seq() int64 { return m.seq }

// At are the entries at a seq, best first, without keys: nobody told the model of those.
func (m *Model) At(seq int64) []ranking.Entry { return m.past[seq] }

func (m *Model) entries() []ranking.Entry {
	list := []ranking.Entry{}
	for i, e := range m.members {
		list = append(list, ranking.Entry{Rank: m.rank(e.score, i), Member: e.name, Score: e.score, Data: e.data})
	}
	return list
}

// count counts a change that was made.
func (m *Model) count() {
	m.seq++
	m.past[m.seq] = m.entries()
}

func (m *Model) find(name string) int {
	return slices.IndexFunc(m.members, func(e Member) bool { return e.name == name })
}

func (m *Model) standing(name string) *ranking.Standing {
	if i := m.find(name); i >= 0 {
		return &ranking.Standing{Score: m.members[i].score, Rank: m.rank(m.members[i].score, i)}
	}
	for _, e := range m.hidden {
		if e.name == name {
			return &ranking.Standing{Score: e.score}
		}
	}
	return nil
}

// take takes a member out, and says whether it was there, or hidden.
func (m *Model) take(name string) (e Member, there, hidden bool) {
	is := func(e Member) bool { return e.name == name }
	if i := slices.IndexFunc(m.hidden, is); i >= 0 {
		e = m.hidden[i]
		m.hidden = slices.Delete(m.hidden, i, i+1)
		return e, true, true
	}
	if i := m.find(name); i >= 0 {
		e = m.members[i]
		m.members = slices.Delete(m.members, i, i+1)
		return e, true, false
	}
	return Member{name: name, arrived: -1, entered: m.age, call: m.calls}, false, false
}

// give puts a member where it belongs.
func (m *Model) give(e Member) {
	if m.hides[e.name] {
		m.hidden = append(m.hidden, e)
		return
	}
	m.members = append(m.members, e)
	m.sort()
}

// hide has a member be hidden, or shown again.
func (m *Model) hide(name string, hides bool) {
	m.hides[name] = hides
	e, there, hidden := m.take(name)
	if there {
		if m.give(e); hidden != hides {
			m.count()
			m.trim()
		}
	}
}

// areHidden are those with a score that are hidden, by id.
func (m *Model) areHidden() (names []string) {
	for _, e := range m.hidden {
		names = append(names, e.name)
	}
	slices.Sort(names)
	return names
}

// trim has the last one go who is one too many.
func (m *Model) trim() {
	if n := int(m.def.Limit); n > 0 && len(m.members) > n {
		m.members = m.members[:n]
		m.count()
	}
}

// rank is that of a score, and of who has it and stands at an index.
func (m *Model) rank(score int64, i int) int64 {
	better := make(map[int64]bool)
	n := int64(0)
	for _, e := range m.members {
		if m.better(e.score, score) {
			better[e.score] = true
			n++
		}
	}
	switch m.def.Ties {
	case definition.Shared:
		return n + 1
	case definition.Dense:
		return int64(len(better)) + 1
	default:
		return int64(i) + 1
	}
}

// better reports whether a score ranks above another.
func (m *Model) better(score, other int64) bool {
	if m.def.Order == definition.Asc {
		return score < other
	}
	return score > other
}

func (m *Model) sort() {
	slices.SortFunc(m.members, func(a, b Member) int {
		if m.def.Order == definition.Desc {
			a.score, b.score = b.score, a.score
		}
		byTie := cmp.Compare(a.arrived, b.arrived)
		if m.def.Ties == definition.ByMember {
			byTie = cmp.Compare(a.name, b.name)
		}
		return cmp.Or(cmp.Compare(a.score, b.score), byTie)
	})
}

// expire begins a call: those leave whose time is over, who entered first first, of those
// who entered in one call by their ids.
func (m *Model) expire() {
	m.calls++
	var over []Member
	for _, e := range append(slices.Clone(m.members), m.hidden...) {
		if m.def.MemberTTL > 0 && m.age-e.entered >= m.def.MemberTTL {
			over = append(over, e)
		}
	}
	slices.SortFunc(over, func(a, b Member) int {
		return cmp.Or(cmp.Compare(a.call, b.call), cmp.Compare(a.name, b.name))
	})
	for _, e := range over {
		m.Remove(e.name)
	}
}

// Apply says what must come of an update.
func (m *Model) Apply(u definition.Update) ranking.Outcome {
	if first, ok := m.known[u.ID]; ok {
		if first.update != u {
			return ranking.Outcome{Err: ranking.ErrIDMismatch}
		}
		first.result.Duplicate = true
		return ranking.Outcome{Result: first.result}
	}
	r := ranking.Result{Period: m.period, Previous: m.standing(u.Member)}
	if (u.If != definition.Exists || r.Previous != nil) && (u.If != definition.Absent || r.Previous == nil) {
		if err := m.change(u); err != nil {
			return ranking.Outcome{Err: err}
		}
	}
	r.Current = m.standing(u.Member)
	if u.ID != "" {
		m.known[u.ID] = known{u, r}
	}
	return ranking.Outcome{Result: r}
}

// change carries an update out, or says why not.
func (m *Model) change(u definition.Update) error {
	u.Op = cmp.Or(u.Op, m.def.Mode)
	if u.Op == definition.Sum && m.def.Limit > 0 {
		return ranking.ErrInvalid
	}
	e, there, hidden := m.take(u.Member)
	was := e
	told, by := u.Score, u.Score-e.score
	switch u.Op {
	case definition.Sum:
		e.score += u.Score
		told, by = e.score, u.Score
	case definition.Last:
		e.score = u.Score
	case definition.Best:
		if !there || m.better(u.Score, e.score) {
			e.score = u.Score
		} else {
			u.Data, by = "", 0
		}
	}
	if !there && u.Op != definition.Sum {
		by = 0
	}
	if told < *m.def.Min || told > *m.def.Max || by > m.def.MaxChange || by < -m.def.MaxChange {
		if there {
			m.give(was)
		}
		return ranking.ErrOutOfRange
	}
	switch u.Data {
	case "":
	case "null":
		e.data = ""
	default:
		e.data = u.Data
	}
	if there && e == was {
		m.give(was)
		return nil
	}
	if m.arrived++; !there || e.score != was.score {
		e.arrived = m.arrived
	}
	if m.give(e); hidden || m.hides[e.name] {
		return nil
	}
	if n := int(m.def.Limit); n > 0 && len(m.members) > n && m.members[n].name == e.name {
		m.members = m.members[:n] // it does not come in
		return nil
	}
	m.count()
	m.trim()
	return nil
}

func (m *Model) Remove(name string) {
	if _, there, hidden := m.take(name); there && !hidden {
		m.count()
	}
}
