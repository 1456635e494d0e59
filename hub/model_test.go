package hub

import (
	"fmt"
	"math"
	"slices"

	"pgregory.net/rapid"

	"rankcast/ranking"
)

// model is a board as a plain sorted slice, with every state it was ever in, and
// the messages that its changes make. What it does, apply.lua does.
type model struct {
	def          ranking.Definition
	clock        int64
	lives        int
	*modelPeriod // that takes changes
	periods      map[string]*modelPeriod
}

// modelPeriod is one period of a model.
type modelPeriod struct {
	name    string
	state   ranking.State
	rows    []row
	history map[ranking.State][]row
}

func newModel(t *rapid.T) *model {
	m := &model{
		def: ranking.Definition{
			Board: "b",
			Mode:  rapid.SampledFrom([]ranking.Mode{ranking.Sum, ranking.Best, ranking.Last}).Draw(t, "mode"),
			Order: rapid.SampledFrom([]ranking.Order{ranking.Desc, ranking.Asc}).Draw(t, "order"),
			Ties:  rapid.SampledFrom([]ranking.Ties{ranking.First, ranking.ByMember}).Draw(t, "ties"),
		},
		periods: make(map[string]*modelPeriod),
	}
	m.turn()
	if rapid.Bool().Draw(t, "scores at first") {
		m.state.Epoch = "life 0"
		for i := range 80 {
			m.change(fmt.Sprint("m", i), rapid.Int64Range(-20, 20).Draw(t, "score"), "", false)
		}
	}
	return m
}

// turn begins a period.
func (m *model) turn() {
	m.modelPeriod = &modelPeriod{name: fmt.Sprint("p", len(m.periods)), history: make(map[ranking.State][]row)}
	m.periods[m.name] = m.modelPeriod
	m.remember()
}

func (m *model) remember() { m.history[m.state] = slices.Clone(m.rows) }

// page is what Redis answers of a period at this moment.
func (m *model) page(period string, limit int) ranking.Page {
	is := m.periods[period]
	p := ranking.Page{State: is.state, Period: period, Order: m.def.Order, Bounds: ranking.Bounds{Final: is != m.modelPeriod}, Total: int64(len(is.rows)), Start: 1}
	p.Entries = m.entries(is.rows, 0, limit)
	return p
}

// look is what Redis answers to look-ups in a period at this moment.
func (m *model) look(period string, lookups []ranking.Lookup) ranking.Places {
	is := m.periods[period]
	p := ranking.Places{State: is.state, Period: period, Total: int64(len(is.rows))}
	for _, l := range lookups {
		found := ranking.Place{Entry: ranking.Entry{Member: l.Member}}
		if i := find(is.rows, l.Member); i >= 0 {
			found.Entry = m.entries(is.rows, i, i+1)[0]
			found.Around = m.entries(is.rows, i-l.Around, i+l.Around+1)
		}
		p.List = append(p.List, found)
	}
	return p
}

func find(rows []row, member string) int {
	return slices.IndexFunc(rows, func(r row) bool { return r.member == member })
}

// entries are those of some rows, as far as there are any.
func (m *model) entries(rows []row, from, to int) (list []ranking.Entry) {
	for i := max(0, from); i < min(to, len(rows)); i++ {
		r := rows[i]
		list = append(list, ranking.Entry{Rank: int64(i) + 1, Member: r.member, Score: r.key.Score(m.def.Order), Key: r.key, Data: r.data})
	}
	return list
}

func memberOf(t *rapid.T) string { return fmt.Sprint("m", rapid.IntRange(0, 99).Draw(t, "member")) }

// batch draws some updates and removals of few members, applies them, and
// returns the message; nil when nothing changed.
func (m *model) batch(t *rapid.T) *ranking.Changes {
	if m.state.Epoch == "" {
		m.lives++
		m.state.Epoch = fmt.Sprint("life", m.lives)
	}
	c := &ranking.Changes{Board: m.def.Board, Period: m.name, Epoch: m.state.Epoch, Seq: m.state.Seq + 1}
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

// change has a member change; data "" leaves its own as it is.
func (m *model) change(member string, score int64, data string, remove bool) *ranking.Change {
	c := &ranking.Change{Member: member}
	var key *ranking.Key // that it keeps
	if i := find(m.rows, member); i >= 0 {
		old := m.rows[i]
		c.Old = &old.key
		was := old.key.Score(m.def.Order)
		better := score > was
		if m.def.Order == ranking.Asc {
			better = score < was
		}
		switch {
		case m.def.Mode == ranking.Sum:
			score += was
		case m.def.Mode == ranking.Best && !better:
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
	if !remove {
		if key == nil {
			key = m.newKey(score)
		}
		r := row{place{*key, member}, data}
		at, _ := slices.BinarySearchFunc(m.rows, r, func(a, b row) int {
			if a.before(b.place) {
				return -1
			}
			return 1
		})
		m.rows = slices.Insert(m.rows, at, r)
		c.New, c.Rank, c.Data = key, int64(at)+1, data
	}
	m.state.Seq++
	m.remember()
	return c
}

func (m *model) newKey(score int64) *ranking.Key {
	m.clock++
	s := float64(score)
	if m.def.Order == ranking.Desc {
		s = -s
	}
	if m.def.Ties == ranking.First {
		s += float64(m.clock) / (1 << 20)
	}
	key := ranking.Key(s)
	if math.Floor(float64(key)) != s-frac(s) {
		panic("key is not a key")
	}
	return &key
}

func frac(x float64) float64 { return x - math.Floor(x) }

// flush empties the board, as a lost Redis does: its next life has another epoch.
func (m *model) flush() {
	m.state, m.rows = ranking.State{}, nil
	m.remember()
}
