package ranking_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking"
	"rankcast/ranking/redistest"
)

// model is what a board is said to be, written down the plainest way.
type model struct {
	def     ranking.Definition
	members []modelMember // best first
	known   map[string]modelID
	period  string
	arrived int
	seq     int64
}

type modelMember struct {
	name    string
	score   int64
	data    string
	arrived int
}

type modelID struct {
	update ranking.Update
	result ranking.Result
}

func (m *model) find(member string) int {
	return slices.IndexFunc(m.members, func(e modelMember) bool { return e.name == member })
}

func (m *model) standing(member string) *ranking.Standing {
	if i := m.find(member); i >= 0 {
		return &ranking.Standing{Score: m.members[i].score, Rank: int64(i + 1)}
	}
	return nil
}

func (m *model) sort() {
	slices.SortFunc(m.members, func(a, b modelMember) int {
		if m.def.Order == ranking.Desc {
			a.score, b.score = b.score, a.score
		}
		byTie := cmp.Compare(a.arrived, b.arrived)
		if m.def.Ties == ranking.ByMember {
			byTie = cmp.Compare(a.name, b.name)
		}
		return cmp.Or(cmp.Compare(a.score, b.score), byTie)
	})
}

// apply says what must come of an update.
func (m *model) apply(u ranking.Update) ranking.Outcome {
	if known, ok := m.known[u.ID]; ok {
		if known.update != u {
			return ranking.Outcome{Err: ranking.ErrIDMismatch}
		}
		known.result.Duplicate = true
		return ranking.Outcome{Result: known.result}
	}
	r := ranking.Result{Period: m.period, Previous: m.standing(u.Member)}
	if (u.If != ranking.Exists || r.Previous != nil) && (u.If != ranking.Absent || r.Previous == nil) && !m.change(u) {
		return ranking.Outcome{Err: ranking.ErrOutOfRange}
	}
	r.Current = m.standing(u.Member)
	if u.ID != "" {
		m.known[u.ID] = modelID{u, r}
	}
	return ranking.Outcome{Result: r}
}

// change carries an update out, or reports that it is out of range.
func (m *model) change(u ranking.Update) bool {
	u.Op = cmp.Or(u.Op, m.def.Mode)
	i := m.find(u.Member)
	e := modelMember{name: u.Member, arrived: -1}
	if i >= 0 {
		e = m.members[i]
	}
	was := e
	told, by := u.Score, u.Score-e.score
	switch u.Op {
	case ranking.Sum:
		e.score += u.Score
		told, by = e.score, u.Score
	case ranking.Last:
		e.score = u.Score
	case ranking.Best:
		if i < 0 || m.def.Order == ranking.Desc && u.Score > e.score || m.def.Order == ranking.Asc && u.Score < e.score {
			e.score = u.Score
		} else {
			u.Data, by = "", 0
		}
	}
	if i < 0 && u.Op != ranking.Sum {
		by = 0
	}
	if told < *m.def.Min || told > *m.def.Max || by > m.def.MaxChange || by < -m.def.MaxChange {
		return false
	}
	switch u.Data {
	case "":
	case "null":
		e.data = ""
	default:
		e.data = u.Data
	}
	if i >= 0 && e == was {
		return true
	}
	m.seq++
	if m.arrived++; i < 0 || e.score != was.score {
		e.arrived = m.arrived
	}
	if i >= 0 {
		m.members[i] = e
	} else {
		m.members = append(m.members, e)
	}
	m.sort()
	return true
}

func (m *model) remove(member string) {
	if i := m.find(member); i >= 0 {
		m.members = slices.Delete(m.members, i, i+1)
		m.seq++
	}
}

// modelled are families of every mode, order and tie rule, with wide bounds and narrow.
func modelled() map[string]ranking.Definition {
	families := make(map[string]ranking.Definition)
	for _, mode := range []ranking.Mode{ranking.Sum, ranking.Best, ranking.Last} {
		for _, order := range []ranking.Order{ranking.Desc, ranking.Asc} {
			for _, ties := range []ranking.Ties{ranking.First, ranking.ByMember} {
				for _, bound := range []int64{12, 1 << 40} {
					name := fmt.Sprintf("%s-%s-%s-%d", mode, order, ties, bound)
					def := ranking.Definition{Board: name + ":{n}", Mode: mode, Order: order, Ties: ties,
						Min: new(-bound / 2), Max: new(bound), MaxChange: bound}
					if mode != ranking.Best { // one that does not turn while this is tested
						def.Period, def.Base = "3660d", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
					}
					families[name] = def
				}
			}
		}
	}
	return families
}

// Through any history a board does what the model says: each outcome, the order, the
// scores, the data and the count of changes.
func TestBoardDoesWhatTheModelSays(t *testing.T) {
	redistest.Engines(t, func(t *testing.T, url string) {
		families := modelled()
		var defs []ranking.Definition
		for _, def := range families {
			defs = append(defs, def)
		}
		s := open(t, url, defs...)
		names := make([]string, 0, len(families))
		for name := range families {
			names = append(names, name)
		}
		slices.Sort(names)
		runs := 0
		rapid.Check(t, func(t *rapid.T) {
			name := rapid.SampledFrom(names).Draw(t, "family")
			runs++
			board := fmt.Sprint(name, ":", runs)
			m := &model{def: families[name], known: make(map[string]modelID)}
			if m.def.Period != "" {
				m.period = "0"
			}
			scores := rapid.OneOf(rapid.Int64Range(-3, 13), rapid.SampledFrom([]int64{1 << 40, 1<<40 - 1, 1 << 39, -1 << 39, 1}))
			update := rapid.Custom(func(t *rapid.T) ranking.Update {
				u := ranking.Update{
					Member: rapid.SampledFrom([]string{"a", "b", "B", "é", "a b"}).Draw(t, "member"),
					Score:  scores.Draw(t, "score"),
					Op:     rapid.SampledFrom([]ranking.Mode{"", "", ranking.Sum, ranking.Best, ranking.Last}).Draw(t, "op"),
					If:     rapid.SampledFrom([]ranking.Condition{"", "", "", ranking.Exists, ranking.Absent}).Draw(t, "if"),
					Data:   rapid.SampledFrom([]string{"", "", "null", `1`, `{"x":"y"}`}).Draw(t, "data"),
				}
				if rapid.IntRange(0, 3).Draw(t, "with id") == 0 {
					u.ID = fmt.Sprint("i", rapid.IntRange(0, 4).Draw(t, "id"))
				}
				return u
			})
			for range rapid.IntRange(1, 8).Draw(t, "calls") {
				if rapid.IntRange(0, 9).Draw(t, "remove") == 0 {
					member := update.Draw(t, "removed").Member
					s.Remove(context.Background(), board, member)
					m.remove(member)
					continue
				}
				updates := rapid.SliceOfN(update, 1, 12).Draw(t, "updates")
				got, err := s.Apply(context.Background(), board, updates)
				require.NoError(t, err)
				for i, u := range updates {
					want := m.apply(u)
					if want.Err != nil {
						require.ErrorIs(t, got[i].Err, want.Err, "update %+v", u)
						continue
					}
					require.Equal(t, want, got[i], "update %+v", u)
				}
			}
			page, err := s.Page(context.Background(), board, 1, 100)
			require.NoError(t, err)
			require.Equal(t, m.seq, page.Seq)
			require.Len(t, page.Entries, len(m.members))
			for i, e := range page.Entries {
				want := m.members[i]
				require.Equal(t, ranking.Entry{Rank: int64(i + 1), Member: want.name, Score: want.score, Key: e.Key, Data: want.data}, e)
			}
		})
	})
}
