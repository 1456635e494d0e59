package ranking_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/proptest"
	"rankcast/ranking/rankingtest"
	"rankcast/ranking/redistest"
)

// walked is one page of a walk through a board that moves, and the board at that moment.
type walked struct {
	members []rankingtest.Member // best first, of those with the scores that are walked through
	seen    []string
}

// walk goes through a board by cursors, page by page, and changes it in between.
type walk struct {
	def   definition.Board
	pages []walked
}

// checkPages requires that each page is what comes after the one before, on the board
// as it is at that moment.
func (w walk) checkPages(t require.TestingT, limit int) {
	var cursor *rankingtest.Member
	for i, p := range w.pages {
		var want []string
		for _, m := range p.members {
			if (cursor == nil || w.before(*cursor, m)) && len(want) < limit {
				want = append(want, m.Name())
			}
		}
		require.Equal(t, want, p.seen, "page %d of %s", i+1, w.def.Name)
		cursor = w.last(i, cursor)
	}
}

// last is the last entry of a page, which is the cursor for the next.
func (w walk) last(page int, otherwise *rankingtest.Member) *rankingtest.Member {
	p := w.pages[page]
	if len(p.seen) == 0 {
		return otherwise
	}
	i := slices.IndexFunc(p.members, func(m rankingtest.Member) bool { return m.Name() == p.seen[len(p.seen)-1] })
	return &p.members[i]
}

// before reports whether one stands before another.
func (w walk) before(a, b rankingtest.Member) bool {
	return rankingtest.NewModel(w.def).Before(a, b)
}

// The sides of a cursor that a member may be on: still to come, or behind. A member that
// is not there is on neither.
const (
	away = iota
	ahead
	behind
)

// side is where a member is at a page's moment, by the cursor that the page before gave.
func (w walk) side(member string, page int, cursor *rankingtest.Member) int {
	members := w.pages[page].members
	i := slices.IndexFunc(members, func(m rankingtest.Member) bool { return m.Name() == member })
	switch {
	case i < 0:
		return away
	case cursor == nil || w.before(*cursor, members[i]):
		return ahead
	default:
		return behind
	}
}

// checkMembers requires, of the history alone, that who did not cross the cursor was seen
// once: who is there from the first page to the last and was on the same side at two
// moments between which the cursor stood still. Who came or went was seen twice only if it
// came back from behind, and left out only if it came in behind.
func (w walk) checkMembers(t require.TestingT) {
	times := make(map[string]int)
	everybody := make(map[string]bool)
	for _, p := range w.pages {
		for _, name := range p.seen {
			times[name]++
		}
		for _, m := range p.members {
			everybody[m.Name()] = true
		}
	}
	for name := range everybody {
		var cursor *rankingtest.Member
		back, past := 0, 0 // how often it came from behind the cursor, and to behind it
		was := away
		for i := range w.pages {
			side := w.side(name, i, cursor)
			if was == behind && side == ahead {
				back++
			}
			if was != behind && side == behind {
				past++
			}
			// The cursor goes on: this page passes who it shows.
			cursor = w.last(i, cursor)
			if now := w.side(name, i, cursor); now != away {
				was = now
			}
		}
		last := w.pages[len(w.pages)-1].members
		there := slices.ContainsFunc(last, func(m rankingtest.Member) bool { return m.Name() == name })
		require.LessOrEqual(t, times[name], 1+back, "%s is seen twice", name)
		if there && past == 0 {
			require.GreaterOrEqual(t, times[name], 1, "%s is left out", name)
		}
	}
}

// within are those of a board that have some scores, nil for any.
func within(members []rankingtest.Member, low, high *int64) (list []rankingtest.Member) {
	for _, m := range members {
		if (low == nil || m.Score() >= *low) && (high == nil || m.Score() <= *high) {
			list = append(list, m)
		}
	}
	return list
}

// walkedBoards are of each tie rule and order.
func walkedBoards() map[string]definition.Board {
	families := make(map[string]definition.Board)
	for _, ties := range []definition.Ties{definition.First, definition.Shared, definition.Dense, definition.ByMember} {
		for _, order := range []definition.Order{definition.Desc, definition.Asc} {
			name := fmt.Sprintf("%s-%s", ties, order)
			families[name] = definition.Board{
				Name: name + ":{n}", Mode: definition.Last, Order: order, Ties: ties,
				Min: new(int64(-definition.MaxScore)), Max: new(int64(definition.MaxScore)), MaxChange: definition.MaxScore,
			}
			if ties != definition.Dense {
				d := families[name]
				d.Name, d.Shards = name+"-shards:{n}", 3
				families[name+"-shards"] = d
			}
		}
	}
	return families
}

// Who walks through a board to its end, or through some scores of it, sees everybody once
// who does not cross the place that the walk has come to, whatever the others do.
func TestWalkThroughABoardThatMoves(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		families := walkedBoards()
		s := open(t, url, slices.Collect(maps.Values(families))...)
		runs := 0
		for _, family := range slices.Sorted(maps.Keys(families)) {
			t.Run(family, func(t *testing.T) {
				proptest.CheckSeeded(t, redistest.Volume(url, 40), func(t *rapid.T) {
					runs++
					h := &walker{t: t, s: s, board: fmt.Sprint(family, ":", runs), m: rankingtest.NewModel(families[family])}
					h.move(rapid.IntRange(0, 40).Draw(t, "members"))
					q := ranking.Query{Limit: rapid.IntRange(1, 5).Draw(t, "limit")}
					if rapid.Bool().Draw(t, "some scores") {
						q.MinScore = rapid.Ptr(rapid.Int64Range(-1, 6), true).Draw(t, "min")
						q.MaxScore = rapid.Ptr(rapid.Int64Range(4, 9), true).Draw(t, "max")
						if q.MinScore != nil && q.MaxScore != nil && *q.MinScore > *q.MaxScore {
							q.MinScore, q.MaxScore = q.MaxScore, q.MinScore
						}
					}
					h.walk(q)
				})
			})
		}
	})
}

// walker is a board that is walked through, and its model.
type walker struct {
	t     *rapid.T
	s     *ranking.Store
	board string
	m     *rankingtest.Model
}

// move makes so many changes.
func (h *walker) move(changes int) {
	for range changes {
		member := fmt.Sprint("m", rapid.IntRange(0, 25).Draw(h.t, "member"))
		if rapid.IntRange(0, 5).Draw(h.t, "remove") == 0 {
			h.s.Remove(context.Background(), h.board, member)
			h.m.Remove(member)
			continue
		}
		h.apply(member)
	}
}

// apply gives a member another score.
func (h *walker) apply(member string) {
	u := definition.Update{Member: member, Score: rapid.Int64Range(0, 8).Draw(h.t, "score")}
	o := must(h.s.Apply(context.Background(), h.board, []definition.Update{u}))(h.t)
	require.Equal(h.t, h.m.Apply(u), o[0])
}

// walk walks through the board, which moves in between.
func (h *walker) walk(q ranking.Query) {
	const most = 60 // pages; a walk that is always overtaken need not end
	w := walk{def: h.m.Definition()}
	for range most {
		p := must(h.s.Read(context.Background(), h.board, q))(h.t)
		there := within(h.m.Members(), q.MinScore, q.MaxScore)
		w.pages = append(w.pages, walked{there, names(p.Entries)})
		require.EqualValues(h.t, len(there), p.Count)
		if q.After = p.Next(); q.After == nil {
			break
		}
		require.Equal(h.t, *q.After, must(ranking.ParseCursor(q.After.String()))(h.t))
		if rapid.Bool().Draw(h.t, "the member of the cursor moves") {
			h.apply(q.After.Member)
		}
		h.move(rapid.IntRange(0, 6).Draw(h.t, "changes"))
	}
	w.checkPages(h.t, q.Limit)
	if q.After == nil {
		w.checkMembers(h.t)
	}
}

// The same while somebody else writes all the time: each page is of one state of the
// board, that of its seq, and those who stay are each seen once, in their order.
func TestWalkWhileOthersWrite(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		families := walkedBoards()
		s := open(t, url, slices.Collect(maps.Values(families))...)
		for family, def := range families {
			if rankingtest.NewModel(def).Definition().Shards > 0 { // a page is of one state of each shard
				continue
			}
			t.Run(family, func(t *testing.T) {
				board, m := family+":all", rankingtest.NewModel(def)
				var mu sync.Mutex
				states := map[int64][]rankingtest.Member{}
				write := func(i int) {
					u := definition.Update{Member: fmt.Sprint("m", i*7%60), Score: int64(i * 31 % 17)}
					if i%5 == 0 {
						if _, err := s.Remove(context.Background(), board, u.Member); err == nil {
							m.Remove(u.Member)
						}
					} else if _, err := s.Apply(context.Background(), board, []definition.Update{u}); err == nil {
						m.Apply(u)
					}
					mu.Lock()
					states[m.Seq()] = m.Members()
					mu.Unlock()
				}
				for i := range 10 {
					stay := definition.Update{Member: fmt.Sprint("stays", i), Score: int64(i * 2)}
					applyOne(t, s, board, stay)
					m.Apply(stay)
				}
				for i := range 60 {
					write(i)
				}
				stop, moved := make(chan struct{}), make(chan struct{})
				stopped := redistest.Go(func() {
					for i := 60; ; i++ {
						select {
						case <-stop:
							return
						default:
							write(i)
						}
						select {
						case moved <- struct{}{}:
						default: // nobody waits for it
						}
					}
				})
				var seqs []int64
				w := walk{def: def}
				q := ranking.Query{Limit: 3}
				for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
					p := must(s.Read(t.Context(), board, q))(t)
					redistest.Receive(t, "a value from moved", moved)
					seqs = append(seqs, p.Seq)
					w.pages = append(w.pages, walked{seen: names(p.Entries)})
					if q.After = p.Next(); q.After == nil {
						break
					}
				}
				close(stop)
				redistest.Receive(t, "the run to end", stopped)
				require.Nil(t, q.After)
				for i, seq := range seqs {
					require.Contains(t, states, seq)
					w.pages[i].members = states[seq]
				}
				w.checkPages(t, q.Limit)
				w.checkMembers(t)
				var stayed []string
				for _, p := range w.pages {
					for _, name := range p.seen {
						if name[0] == 's' {
							stayed = append(stayed, name)
						}
					}
				}
				want := slices.Clone(stayed)
				slices.SortFunc(want, func(a, b string) int {
					if def.Order == definition.Desc {
						a, b = b, a
					}
					return cmp.Compare(a, b)
				})
				require.Equal(t, want, stayed)
				require.Len(t, stayed, 10)
				require.Greater(t, seqs[len(seqs)-1], seqs[0], "it moved")
			})
		}
	})
}
