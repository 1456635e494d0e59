package view

import (
	"fmt"
	"math"
	"slices"

	"pgregory.net/rapid"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/feed"
	"rankcast/ranking/sortkey"
)

// model is a board as a sorted slice, with every state that it ever had, and the messages
// of its changes. It does what apply.lua does.
type model struct {
	def          definition.Board
	clock        int64
	lives        int
	*modelPeriod // the period that takes changes
	periods      map[string]*modelPeriod
}

// modelPeriod is one period of a model.
type modelPeriod struct {
	name    string
	state   ranking.State
	rows    []entry
	history map[ranking.State][]entry
}

func newModel(t *rapid.T) *model {
	m := &model{
		def: definition.Board{
			Name:  "b",
			Mode:  rapid.SampledFrom([]definition.Mode{definition.Sum, definition.Best, definition.Last}).Draw(t, "mode"),
			Order: rapid.SampledFrom([]definition.Order{definition.Desc, definition.Asc}).Draw(t, "order"),
			Ties:  rapid.SampledFrom([]definition.Ties{definition.First, definition.ByMember, definition.Shared, definition.Dense}).Draw(t, "ties"),
		},
		periods: make(map[string]*modelPeriod),
	}
	m.rollOver()
	if rapid.Bool().Draw(t, "scores at first") {
		m.state.Epoch = "life 0"
		for i := range 80 {
			m.change(fmt.Sprint("m", i), rapid.Int64Range(-20, 20).Draw(t, "score"), "", false)
		}
	}
	return m
}

// rollOver begins a period.
func (m *model) rollOver() {
	m.modelPeriod = &modelPeriod{name: fmt.Sprint("p", len(m.periods)), history: make(map[ranking.State][]entry)}
	m.periods[m.name] = m.modelPeriod
	m.remember()
}

func (m *model) remember() { m.history[m.state] = slices.Clone(m.rows) }

// page is what Redis answers now.
func (m *model) page(period string, limit int) ranking.Page {
	is := m.periods[period]
	p := ranking.Page{
		Head:  ranking.Head{State: is.state, Bounds: ranking.Bounds{Final: is != m.modelPeriod}, Period: period, Total: int64(len(is.rows))},
		Order: m.def.Order, Ties: m.def.Ties, Start: 1,
	}
	p.Entries = m.entries(is.rows, 0, limit)
	return p
}

// lookUp is what Redis answers now.
func (m *model) lookUp(period string, lookups []ranking.Lookup) ranking.Places {
	is := m.periods[period]
	p := ranking.Places{Head: ranking.Head{State: is.state, Period: period, Total: int64(len(is.rows))}, Ties: m.def.Ties}
	for _, l := range lookups {
		found := ranking.Place{Entry: ranking.Entry{Member: l.Member}}
		if i := find(is.rows, l.Member); i >= 0 {
			found.Entry, found.Position = m.entries(is.rows, i, i+1)[0], int64(i)+1
			found.Around = m.entries(is.rows, i-l.Around, i+l.Around+1)
		}
		p.List = append(p.List, found)
	}
	return p
}

func find(rows []entry, member string) int {
	return slices.IndexFunc(rows, func(r entry) bool { return r.member == member })
}

// entries are those of some rows, as far as there are any.
func (m *model) entries(rows []entry, from, to int) (list []ranking.Entry) {
	for i := max(0, from); i < min(to, len(rows)); i++ {
		r := rows[i]
		list = append(list, ranking.Entry{Rank: m.rank(rows, i), Member: r.member, Score: r.key.Score(m.def.Order), Key: r.key, Data: r.data})
	}
	return list
}

// rank is the rank of a row by the ties.
func (m *model) rank(rows []entry, i int) int64 {
	if !m.def.Ties.Tied() {
		return int64(i) + 1
	}
	var members, scores int64 // that are better
	score := func(i int) int64 { return rows[i].key.Score(m.def.Order) }
	for j := range i {
		if score(j) != score(i) {
			members++
			if j == 0 || score(j-1) != score(j) {
				scores++
			}
		}
	}
	if m.def.Ties == definition.Dense {
		return scores + 1
	}
	return members + 1
}

// isHeld reports whether a member has the score of a key.
func (m *model) isHeld(k sortkey.Key) bool {
	return slices.ContainsFunc(m.rows, func(r entry) bool { return r.key.Score(m.def.Order) == k.Score(m.def.Order) })
}

func memberOf(t *rapid.T) string { return fmt.Sprint("m", rapid.IntRange(0, 99).Draw(t, "member")) }

// batch draws updates and removals of a few members, applies them, and returns the message;
// nil when nothing changed.
func (m *model) batch(t *rapid.T) *feed.Changes {
	if m.state.Epoch == "" {
		m.lives++
		m.state.Epoch = fmt.Sprint("life", m.lives)
	}
	c := &feed.Changes{Board: m.def.Name, Period: m.name, Epoch: m.state.Epoch, Seq: m.state.Seq + 1}
	for range rapid.IntRange(1, 5).Draw(t, "updates") {
		member := memberOf(t)
		score := rapid.Int64Range(-20, 20).Draw(t, "score")
		data := rapid.SampledFrom([]string{"", "", `1`, `{"x":2}`}).Draw(t, "data")
		remove := rapid.IntRange(0, 7).Draw(t, "remove") == 0
		if change := m.change(member, score, data, remove); change != nil {
			c.List = append(c.List, *change)
		}
	}
	if len(c.List) == 0 {
		if m.state.Seq == 0 {
			m.state.Epoch = ""
		}
		return nil
	}
	return c
}

// change changes a member; data "" keeps the member's data.
func (m *model) change(member string, score int64, data string, remove bool) *feed.Change {
	c := &feed.Change{Member: member}
	var key *sortkey.Key // the key that the member keeps
	if i := find(m.rows, member); i >= 0 {
		old := m.rows[i]
		c.Old = &old.key
		was := old.key.Score(m.def.Order)
		better := score > was
		if m.def.Order == definition.Asc {
			better = score < was
		}
		switch {
		case m.def.Mode == definition.Sum:
			score += was
		case m.def.Mode == definition.Best && !better:
			score, data = was, ""
		}
		if data == "" {
			data = old.data
		}
		if score == was && !remove {
			if key = &old.key; data == old.data {
				return nil
			}
		}
		m.rows = slices.Delete(m.rows, i, i+1)
	} else if remove {
		return nil
	}
	heldOld := c.Old != nil && m.isHeld(*c.Old) // by other members
	if !remove {
		if key == nil {
			key = m.newKey(score)
		}
		stays := c.Old != nil && c.Old.Score(m.def.Order) == score
		c.Born = m.def.Ties == definition.Dense && !stays && !m.isHeld(*key)
		at := m.place(OrderKey{*key, member}, data)
		c.New, c.Rank, c.Position, c.Data = key, m.rank(m.rows, at), int64(at)+1, data
	}
	if c.Old != nil && !heldOld {
		c.Gone = m.def.Ties == definition.Dense && !m.isHeld(*c.Old)
	}
	m.state.Seq++
	m.remember()
	return c
}

// place inserts a member and returns its index.
func (m *model) place(p OrderKey, data string) int {
	r := entry{p, data}
	at, _ := slices.BinarySearchFunc(m.rows, r, func(a, b entry) int {
		if a.before(b.OrderKey) {
			return -1
		}
		return 1
	})
	m.rows = slices.Insert(m.rows, at, r)
	return at
}

func (m *model) newKey(score int64) *sortkey.Key {
	m.clock++
	s := float64(score)
	if m.def.Order == definition.Desc {
		s = -s
	}
	if m.def.Ties != definition.ByMember {
		s += float64(m.clock) / (1 << 20)
	}
	key := sortkey.Key(s)
	if math.Floor(float64(key)) != s-frac(s) {
		panic("key is not a key")
	}
	return &key
}

func frac(x float64) float64 { return x - math.Floor(x) }

// replace replaces the whole period, as the build of a board does, and returns the message.
func (m *model) replace(t *rapid.T) *feed.Changes {
	m.lives++
	m.state = ranking.State{Epoch: fmt.Sprint("life", m.lives), Seq: rapid.Int64Range(0, 3).Draw(t, "seq before")}
	m.rows = nil
	for i := range rapid.IntRange(0, 40).Draw(t, "members") {
		m.place(OrderKey{*m.newKey(rapid.Int64Range(-20, 20).Draw(t, "score")), fmt.Sprint("m", 2*i)}, "")
	}
	m.state.Seq++
	m.remember()
	return &feed.Changes{Board: m.def.Name, Period: m.name, Epoch: m.state.Epoch, Seq: m.state.Seq}
}

// flush empties the board, as the loss of Redis does: the next epoch is another one.
func (m *model) flush() {
	m.state, m.rows = ranking.State{}, nil
	m.remember()
}
