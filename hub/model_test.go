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
	def     ranking.Definition
	state   ranking.State
	clock   int64
	places  []place
	history map[ranking.State][]place
	lives   int
}

func newModel(t *rapid.T) *model {
	m := &model{
		def: ranking.Definition{
			Board: "b",
			Mode:  rapid.SampledFrom([]ranking.Mode{ranking.Sum, ranking.Best, ranking.Last}).Draw(t, "mode"),
			Order: rapid.SampledFrom([]ranking.Order{ranking.Desc, ranking.Asc}).Draw(t, "order"),
			Ties:  rapid.SampledFrom([]ranking.Ties{ranking.First, ranking.ByMember}).Draw(t, "ties"),
		},
		history: make(map[ranking.State][]place),
	}
	m.remember()
	if rapid.Bool().Draw(t, "scores at first") {
		m.state.Epoch = "life 0"
		for i := range 80 {
			m.change(fmt.Sprint("m", i), rapid.Int64Range(-20, 20).Draw(t, "score"), false)
		}
	}
	return m
}

func (m *model) remember() { m.history[m.state] = slices.Clone(m.places) }

// page is what Redis answers at this moment.
func (m *model) page(limit int) ranking.Page {
	p := ranking.Page{State: m.state, Total: int64(len(m.places)), Start: 1}
	p.Entries = m.entries(m.places, 0, limit)
	return p
}

// look is what Redis answers to look-ups at this moment.
func (m *model) look(lookups []ranking.Lookup) ranking.Places {
	p := ranking.Places{State: m.state, Total: int64(len(m.places))}
	for _, l := range lookups {
		found := ranking.Place{Entry: ranking.Entry{Member: l.Member}}
		if i := slices.IndexFunc(m.places, func(p place) bool { return p.member == l.Member }); i >= 0 {
			found.Entry = m.entries(m.places, i, i+1)[0]
			found.Around = m.entries(m.places, i-l.Around, i+l.Around+1)
		}
		p.List = append(p.List, found)
	}
	return p
}

// entries are those of some of a board's places, as far as there are any.
func (m *model) entries(places []place, from, to int) (list []ranking.Entry) {
	for i := max(0, from); i < min(to, len(places)); i++ {
		list = append(list, ranking.Entry{Rank: int64(i) + 1, Member: places[i].member, Score: places[i].key.Score(m.def.Order), Key: places[i].key})
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
	c := &ranking.Changes{Board: m.def.Board, Epoch: m.state.Epoch, Seq: m.state.Seq + 1}
	for range rapid.IntRange(1, 5).Draw(t, "updates") {
		member := memberOf(t)
		score := rapid.Int64Range(-20, 20).Draw(t, "score")
		remove := rapid.IntRange(0, 7).Draw(t, "remove") == 0
		if change := m.change(member, score, remove); change != nil {
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

func (m *model) change(member string, score int64, remove bool) *ranking.Change {
	c := &ranking.Change{Member: member}
	if i := slices.IndexFunc(m.places, func(p place) bool { return p.member == member }); i >= 0 {
		old := m.places[i].key
		c.Old = &old
		was := old.Score(m.def.Order)
		better := score > was
		if m.def.Order == ranking.Asc {
			better = score < was
		}
		switch {
		case m.def.Mode == ranking.Sum:
			score += was
		case m.def.Mode == ranking.Best && !better:
			score = was
		}
		if score == was && !remove {
			return nil
		}
		m.places = slices.Delete(m.places, i, i+1)
	} else if remove {
		return nil
	}
	if !remove {
		m.clock++
		s := float64(score)
		if m.def.Order == ranking.Desc {
			s = -s
		}
		if m.def.Ties == ranking.First {
			s += float64(m.clock) / (1 << 20)
		}
		p := place{ranking.Key(s), member}
		at, _ := slices.BinarySearchFunc(m.places, p, func(a, b place) int {
			if a.before(b) {
				return -1
			}
			return 1
		})
		m.places = slices.Insert(m.places, at, p)
		c.New, c.Rank = &p.key, int64(at)+1
		if math.Floor(float64(p.key)) != s-frac(s) {
			panic("key is not a key")
		}
	}
	m.state.Seq++
	m.remember()
	return c
}

func frac(x float64) float64 { return x - math.Floor(x) }

// flush empties the board, as a lost Redis does: its next life has another epoch.
func (m *model) flush() {
	m.state, m.places = ranking.State{}, nil
	m.remember()
}
