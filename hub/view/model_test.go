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

// modelPeriod is one period of a model. A board without shards has one.
type modelPeriod struct {
	name   string
	states ranking.States              // by shard
	rows   []entry                     // of all shards
	past   []map[ranking.State][]entry // by shard: its rows at each state
}

// drawShards draws the number of shards of a model; 0 stands for none.
var drawShards = rapid.SampledFrom([]int{0, 0, 2, 3, 16})

func newModel(t *rapid.T) *model {
	m := &model{
		def: definition.Board{
			Name:   "b",
			Mode:   rapid.SampledFrom([]definition.Mode{definition.Sum, definition.Best, definition.Last}).Draw(t, "mode"),
			Order:  rapid.SampledFrom([]definition.Order{definition.Desc, definition.Asc}).Draw(t, "order"),
			Shards: drawShards.Draw(t, "shards"),
		},
		periods: make(map[string]*modelPeriod),
	}
	ties := []definition.Ties{definition.First, definition.ByMember, definition.Shared, definition.Dense}
	if m.def.Shards > 0 {
		ties = ties[:3]
	}
	m.def.Ties = rapid.SampledFrom(ties).Draw(t, "ties")
	m.rollOver()
	if rapid.Bool().Draw(t, "scores at first") {
		for i := range m.states {
			m.states[i].Epoch = fmt.Sprint("life 0 of ", i)
		}
		for i := range 80 {
			m.change(fmt.Sprint("m", i), rapid.Int64Range(-20, 20).Draw(t, "score"), "", false)
		}
		for i := range m.states {
			if m.states[i].Seq == 0 {
				m.states[i].Epoch = ""
				m.remember(i)
			}
		}
	}
	return m
}

// rollOver begins a period.
func (m *model) rollOver() {
	n := max(1, m.def.Shards)
	m.modelPeriod = &modelPeriod{name: fmt.Sprint("p", len(m.periods)), states: make(ranking.States, n),
		past: make([]map[ranking.State][]entry, n)}
	m.periods[m.name] = m.modelPeriod
	for i := range m.states {
		m.past[i] = make(map[ranking.State][]entry)
		m.remember(i)
	}
}

// shardOf is the shard of a member.
func (m *model) shardOf(member string) int {
	if m.def.Shards == 0 {
		return 0
	}
	return ranking.ShardOf(member, m.def.Shards)
}

// rowsOf are the rows of a shard.
func (m *model) rowsOf(shard int) []entry {
	return slices.DeleteFunc(slices.Clone(m.rows), func(r entry) bool { return m.shardOf(r.member) != shard })
}

func (m *model) remember(shard int) { m.past[shard][m.states[shard]] = m.rowsOf(shard) }

// at are the rows of the board at states of its shards; false: a shard never had its state.
func (p *modelPeriod) at(states ranking.States) (rows []entry, ok bool) {
	for i, s := range states {
		of, there := p.past[i][s]
		if !there {
			return nil, false
		}
		rows = append(rows, of...)
	}
	slices.SortFunc(rows, func(a, b entry) int { return a.key.Compare(a.member, b.key, b.member) })
	return rows, true
}

// head is the head of an answer about some states.
func (m *model) head(is *modelPeriod, states ranking.States) ranking.Head {
	rows, _ := is.at(states)
	isFinal := is != m.modelPeriod && slices.Equal(states, is.states) // each shard has answered after the end
	h := ranking.Head{State: states.State(), Bounds: ranking.Bounds{Final: isFinal}, Period: is.name, Total: int64(len(rows))}
	if m.def.Shards > 0 {
		h.Shards = states
	}
	return h
}

// page is what Redis answers at some states of the shards.
func (m *model) page(is *modelPeriod, states ranking.States, limit int) ranking.Page {
	rows, _ := is.at(states)
	return ranking.Page{Head: m.head(is, states), Order: m.def.Order, Ties: m.def.Ties, Start: 1, Entries: m.entries(rows, 0, limit)}
}

// lookUp is what Redis answers. Each member is looked up in its own shard first, at the state in own, and then counted in the others.
func (m *model) lookUp(is *modelPeriod, own, others ranking.States, lookups []ranking.Lookup) ranking.Places {
	p := ranking.Places{Head: m.head(is, others), Ties: m.def.Ties}
	for i := range m.def.Shards {
		states := slices.Clone(others)
		states[i] = own[i]
		p.ByShard = append(p.ByShard, m.head(is, states))
	}
	for _, l := range lookups {
		found := ranking.Place{Entry: ranking.Entry{Member: l.Member}}
		rows, _ := is.at(p.HeadOf(l.Member).States())
		if i := find(rows, l.Member); i >= 0 {
			found.Entry, found.Position = m.entries(rows, i, i+1)[0], int64(i)+1
			found.Around = m.entries(rows, i-l.Around, i+l.Around+1)
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

// batch draws updates and removals of a few members, applies them, and returns the messages, one for each shard that has changed.
func (m *model) batch(t *rapid.T) (messages []*feed.Changes) {
	for i := range m.states {
		if m.states[i].Epoch == "" {
			m.lives++
			m.states[i].Epoch = fmt.Sprint("life", m.lives)
		}
	}
	of := make(map[int]*feed.Changes)
	for range rapid.IntRange(1, 5).Draw(t, "updates") {
		member := memberOf(t)
		score := rapid.Int64Range(-20, 20).Draw(t, "score")
		data := rapid.SampledFrom([]string{"", "", `1`, `{"x":2}`}).Draw(t, "data")
		remove := rapid.IntRange(0, 7).Draw(t, "remove") == 0
		shard := m.shardOf(member)
		before := m.states[shard]
		change := m.change(member, score, data, remove)
		if change == nil {
			continue
		}
		if of[shard] == nil {
			of[shard] = &feed.Changes{Board: m.def.Name, Shard: shard, Period: m.name, Epoch: before.Epoch, Seq: before.Seq + 1}
			messages = append(messages, of[shard])
		}
		of[shard].List = append(of[shard].List, *change)
	}
	for i := range m.states {
		if m.states[i].Seq == 0 {
			m.states[i].Epoch = ""
		}
	}
	return messages
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
		m.place(OrderKey{*key, member}, data)
		own := m.rowsOf(m.shardOf(member))
		at := find(own, member)
		c.New, c.Rank, c.Position, c.Data = key, m.rank(own, at), int64(at)+1, data
	}
	if c.Old != nil && !heldOld {
		c.Gone = m.def.Ties == definition.Dense && !m.isHeld(*c.Old)
	}
	shard := m.shardOf(member)
	m.states[shard].Seq++
	m.remember(shard)
	return c
}

// place inserts a member.
func (m *model) place(p OrderKey, data string) {
	r := entry{p, data}
	at, _ := slices.BinarySearchFunc(m.rows, r, func(a, b entry) int {
		if a.before(b.OrderKey) {
			return -1
		}
		return 1
	})
	m.rows = slices.Insert(m.rows, at, r)
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
	m.states[0] = ranking.State{Epoch: fmt.Sprint("life", m.lives), Seq: rapid.Int64Range(0, 3).Draw(t, "seq before")}
	m.rows = nil
	for i := range rapid.IntRange(0, 40).Draw(t, "members") {
		m.place(OrderKey{*m.newKey(rapid.Int64Range(-20, 20).Draw(t, "score")), fmt.Sprint("m", 2*i)}, "")
	}
	m.states[0].Seq++
	m.remember(0)
	return &feed.Changes{Board: m.def.Name, Period: m.name, Epoch: m.states[0].Epoch, Seq: m.states[0].Seq}
}

// flush empties a shard, as the loss of a Redis does: its next epoch is another one.
func (m *model) flush(shard int) {
	m.rows = slices.DeleteFunc(m.rows, func(r entry) bool { return m.shardOf(r.member) == shard })
	m.states[shard] = ranking.State{}
	m.remember(shard)
}
