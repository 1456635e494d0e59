package rankingtest

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"

	"rankcast/ranking"
	"rankcast/ranking/definition"
)

// Model says what a board must be, in the simplest way. It is not safe for concurrent use.
type Model struct {
	def     definition.Board
	members []Member         // best first
	hidden  []Member         // hidden members with a score
	hides   map[string]bool  // member to whether it is hidden
	known   map[string]known // by request id, see idKey
	period  string
	calls   int // number of calls so far
	arrived int // number of changed scores so far, which orders equal scores
	seq     int64
	past    map[int64][]ranking.Entry // the entries at each seq
	age     time.Duration             // of the board
}

// Member is a member of a Model's board.
type Member struct {
	name    string
	score   int64
	data    string
	arrived int           // when the score was reached
	entered time.Duration // the board's age when the member entered
	call    int           // the number of the call in which the member entered
}

// known holds the first update with a request id, and its result.
type known struct {
	update definition.Update
	result ranking.Result
}

// NewModel makes the model of a board without any writes. Apply needs a def with Min, Max and
// MaxChange, as the definitions of Families have.
func NewModel(def definition.Board) *Model {
	if board, err := def.Normalize(); err == nil {
		def.Shards = board.Shards // this run of the tests may give some to each board
	}
	m := &Model{def: def, hides: make(map[string]bool), known: make(map[string]known), past: make(map[int64][]ranking.Entry)}
	if def.Period != "" {
		m.period = "0"
	}
	m.past[0] = m.entries()
	return m
}

// Name is the member's id.
func (e Member) Name() string { return e.name }

// Score is the member's score.
func (e Member) Score() int64 { return e.score }

// Definition is the definition of the board.
func (m *Model) Definition() definition.Board { return m.def }

// Members returns the members on the board, best first.
func (m *Model) Members() []Member { return slices.Clone(m.members) }

// Before reports whether a stands before b on a board with this definition.
func (m *Model) Before(a, b Member) bool {
	// With ties by member, the same member at the same score has one place, whenever it
	// arrived there: then b stays first.
	two := Model{def: m.def, members: []Member{b, a}}
	two.sort()
	return two.members[0] == a && a != b
}

// Ranked returns the entries of a board on which the given entries arrived one after the other,
// best first and without keys.
func Ranked(def definition.Board, entries []ranking.Entry) []ranking.Entry {
	m := Model{def: def}
	for i, e := range entries {
		m.members = append(m.members, Member{name: e.Member, score: e.Score, data: e.Data, arrived: i})
	}
	m.sort()
	return m.entries()
}

// Seq is the number of changes so far.
func (m *Model) Seq() int64 { return m.seq }

// At returns the entries at a seq, best first, without keys, which the model does not know.
func (m *Model) At(seq int64) []ranking.Entry { return m.past[seq] }

func (m *Model) entries() []ranking.Entry {
	list := []ranking.Entry{}
	for i, e := range m.members {
		list = append(list, ranking.Entry{Rank: m.rank(e.score, i), Member: e.name, Score: e.score, Data: e.data})
	}
	return list
}

// count counts a change and records the entries after it.
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

// take removes a member, and reports whether it had a score and whether it was hidden.
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

// give puts a member on the board, or among the hidden members.
func (m *Model) give(e Member) {
	if m.hides[e.name] {
		m.hidden = append(m.hidden, e)
		return
	}
	m.members = append(m.members, e)
	m.sort()
}

// hide hides a member, or shows it again.
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

// areHidden returns the hidden members with a score, sorted by id.
func (m *Model) areHidden() (names []string) {
	for _, e := range m.hidden {
		names = append(names, e.name)
	}
	slices.Sort(names)
	return names
}

// trim removes the last member when there is one member more than the limit.
func (m *Model) trim() {
	if n := int(m.def.Limit); n > 0 && len(m.members) > n {
		m.members = m.members[:n]
		m.count()
	}
}

// rank returns the rank of a score whose member stands at index i.
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

// expire begins a call: it removes the members whose lifetime is over, in the order in which
// they entered, and members of one call by their ids.
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

// Apply applies an update and returns the outcome that the store must have.
func (m *Model) Apply(u definition.Update) ranking.Outcome {
	o := m.apply(u)
	if m.def.Shards > 0 { // no shard knows the ranks
		for _, s := range []**ranking.Standing{&o.Result.Current, &o.Result.Previous} {
			if *s != nil {
				*s = &ranking.Standing{Score: (*s).Score}
			}
		}
	}
	return o
}

// idKey tells ids apart: each shard knows its own.
func (m *Model) idKey(u definition.Update) string {
	if m.def.Shards == 0 {
		return u.ID
	}
	return fmt.Sprint(xxhash.Sum64String(u.Member)%uint64(m.def.Shards), " ", u.ID)
}

func (m *Model) apply(u definition.Update) ranking.Outcome {
	if first, ok := m.known[m.idKey(u)]; ok && u.ID != "" {
		if !reflect.DeepEqual(first.update, m.meaning(u)) {
			return ranking.Outcome{Err: definition.ErrIDMismatch}
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
		m.known[m.idKey(u)] = known{m.meaning(u), r}
	}
	return ranking.Outcome{Result: r}
}

// meaning is the update that all spellings have in common for a retry: an op that is the board's mode makes no difference there.
func (m *Model) meaning(u definition.Update) definition.Update {
	if u.Op == m.def.Mode {
		u.Op = ""
	}
	return u
}

// change carries out an update, or returns the error of its kind.
func (m *Model) change(u definition.Update) error {
	u.Op = cmp.Or(u.Op, m.def.Mode)
	if u.Op == definition.Sum && m.def.Limit > 0 {
		return definition.ErrInvalid
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
		return definition.ErrOutOfRange
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
		m.members = m.members[:n] // the member does not enter
		return nil
	}
	m.count()
	m.trim()
	return nil
}

// Remove removes a member, which need not be on the board.
func (m *Model) Remove(name string) {
	if _, there, hidden := m.take(name); there && !hidden {
		m.count()
	}
}
