package ranking

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking/definition"
	"rankcast/ranking/history"
	"rankcast/ranking/proptest"
	"rankcast/ranking/redistest"
)

// naiveHistory is what was seen of a board at each look, in the simplest way.
type naiveHistory struct {
	looks  []naiveLook
	hidden map[string]bool
}

type naiveLook struct {
	at, gap time.Time // gap: zero for none
	seq     int64
	entries []Entry // erased members are taken out
}

// look adds a look at the board.
func (n *naiveHistory) look(t require.TestingT, w *world, board string, step time.Duration, seen *time.Time) {
	page := must(w.stores[0].Page(w.t.Context(), board, 1, history.MaxEntries))(t)
	at := w.now.Truncate(time.Millisecond)
	if last := len(n.looks) - 1; last >= 0 && n.looks[last].seq == page.Seq {
		*seen = at
		return // the state is known to be the same throughout
	}
	l := naiveLook{at: at, seq: page.Seq}
	if !seen.IsZero() && at.Sub(*seen) > 2*step {
		l.gap = *seen
	}
	*seen = at
	for _, e := range page.Entries {
		l.entries = append(l.entries, Entry{Rank: e.Rank, Member: e.Member, Score: e.Score})
	}
	n.looks = append(n.looks, l)
}

func (n *naiveHistory) erase(member string) {
	for i := range n.looks {
		n.looks[i].entries = slices.DeleteFunc(slices.Clone(n.looks[i].entries), func(e Entry) bool { return e.Member == member })
	}
}

// steps counts the history anew.
func (n *naiveHistory) steps(d definition.Board, q HistoryQuery) []HistoryStep {
	steps := []HistoryStep{}
	var chosen []naiveLook
	for i, l := range n.looks {
		next := func() time.Time {
			if i+1 < len(n.looks) {
				return n.looks[i+1].at
			}
			return time.Time{}
		}
		inForce := !q.From.IsZero() && !l.at.After(q.From)
		if inForce && !next().IsZero() && !next().After(q.From) || !q.To.IsZero() && l.at.After(q.To) {
			continue
		}
		if k := len(chosen) - 1; q.Step > 0 && k >= 0 && chosen[k].at.After(q.From) &&
			chosen[k].at.Truncate(q.Step).Equal(l.at.Truncate(q.Step)) {
			if !chosen[k].gap.IsZero() {
				l.gap = chosen[k].gap
			}
			chosen[k] = l
			continue
		}
		chosen = append(chosen, l)
	}
	for i, l := range chosen {
		list := []Entry{}
		for _, e := range l.entries {
			if !n.hidden[e.Member] {
				list = append(list, e)
			}
		}
		for j := range list {
			better := make(map[int64]bool)
			above := int64(0)
			for k := range list {
				if d.Order == definition.Asc && list[k].Score < list[j].Score || d.Order != definition.Asc && list[k].Score > list[j].Score {
					better[list[k].Score] = true
					above++
				}
			}
			switch d.Ties {
			case definition.Shared:
				list[j].Rank = above + 1
			case definition.Dense:
				list[j].Rank = int64(len(better)) + 1
			default:
				list[j].Rank = int64(j) + 1
			}
		}
		if q.Member != "" {
			list = slices.DeleteFunc(list, func(e Entry) bool { return e.Member != q.Member })
		}
		if k := len(steps) - 1; i > 0 && l.gap.IsZero() && slices.Equal(steps[k].Entries, list) {
			continue
		}
		steps = append(steps, HistoryStep{At: l.at.UTC(), Gap: l.gap, Entries: list})
	}
	return steps
}

// best is the best rank of a member, as it was seen.
func (n *naiveHistory) best(member string) *BestRank {
	var best *BestRank
	for _, l := range n.looks {
		for _, e := range l.entries {
			if e.Member == member && (best == nil || e.Rank < best.Rank) {
				best = &BestRank{Rank: e.Rank, At: l.at.UTC()}
			}
		}
	}
	if n.hidden[member] {
		return nil
	}
	return best
}

// recordAll records all steps that are due on one node.
func recordAll(t require.TestingT, w *world, s *Store) {
	for must(s.recordDue(w.t.Context()))(t) {
	}
}

// tendAndRecord tends, and records all steps that are due on one node.
func (w *world) tendAndRecord(s *Store) {
	w.t.Helper()
	w.tend()
	recordAll(w.t, w, s)
}

// toNextStep moves the clock to the n-th next multiple of a step.
func (w *world) toNextStep(step time.Duration, n int) {
	w.pass(w.now.Truncate(step).Add(time.Duration(n) * step).Sub(w.now))
}

// The law of histories: after any updates, hides, shows, removals and erasures, each read of a history returns the
// states that a reader of the board would have seen at its steps.
func TestHistoryIsWhatWasSeen(t *testing.T) {
	t.Parallel()
	const step = 10 * time.Second
	families := []definition.Board{}
	for _, order := range []definition.Order{definition.Desc, definition.Asc} {
		for _, ties := range []definition.Ties{definition.First, definition.Shared, definition.Dense, definition.ByMember} {
			families = append(families, definition.Board{Name: fmt.Sprintf("h-%s-%s:{x}", order, ties), Order: order, Ties: ties,
				Mode: definition.Last, History: step})
		}
	}
	simulatedWorlds(t, 2, Config{}, families, func(t *testing.T, w *world) {
		members := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "é n"}
		some := rapid.SampledFrom(members)
		runs := 0
		proptest.CheckSeeded(t, redistest.Volume(w.url, 60), func(t *rapid.T) {
			runs++
			d := rapid.SampledFrom(families).Draw(t, "family")
			board := fmt.Sprintf("%s%d", d.Name[:len(d.Name)-len("{x}")], runs)
			n := naiveHistory{hidden: make(map[string]bool)}
			s, other := w.stores[0], w.stores[1]
			node := func() *Store { return []*Store{s, other}[rapid.IntRange(0, 1).Draw(t, "node")] }
			var seen time.Time
			update := func() {
				var updates []definition.Update
				for range rapid.IntRange(1, 6).Draw(t, "updates") {
					updates = append(updates, definition.Update{Member: some.Draw(t, "member"), Score: rapid.Int64Range(-2, 6).Draw(t, "score")})
				}
				must(s.Apply(w.t.Context(), board, updates))(t)
			}
			update()
			w.toNextStep(step, 2)
			require.NoError(t, w.tryTend()) // puts the board on the agenda
			n.look(t, w, board, step, &seen)
			recordAll(t, w, s)
			for range rapid.IntRange(1, 14).Draw(t, "steps") {
				for range rapid.IntRange(0, 3).Draw(t, "acts") {
					switch member := some.Draw(t, "of"); rapid.IntRange(0, 7).Draw(t, "act") {
					case 0:
						require.NoError(t, s.Hide(w.t.Context(), board, member, Moderator{}))
						n.hidden[member] = true
					case 1:
						require.NoError(t, s.Show(w.t.Context(), board, member, Moderator{}))
						delete(n.hidden, member)
					case 2:
						s.Remove(w.t.Context(), board, member) // it need not be there
					case 3:
						must(s.Erase(w.t.Context(), "member", member, Moderator{}))(t)
						for err := fmt.Errorf("it has begun"); err != nil; err = w.erased("member", member) {
							w.pass(time.Second)
							must(s.eraseDue(w.t.Context()))(t)
						}
						n.erase(member)
					default:
						update()
					}
				}
				w.toNextStep(step, rapid.SampledFrom([]int{1, 1, 1, 2, 3, 6}).Draw(t, "later"))
				n.look(t, w, board, step, &seen)
				recordAll(t, w, node())
			}
			check := func(q HistoryQuery) {
				want := n.steps(d, q)
				q.Limit = rapid.IntRange(1, 4).Draw(t, "limit")
				got := []HistoryStep{}
				for {
					h := must(node().History(w.t.Context(), board, q))(t)
					require.Equal(t, seen.UTC(), h.Until)
					require.LessOrEqual(t, len(h.Steps), q.Limit)
					got = append(got, h.Steps...)
					if q.Member != "" {
						require.Equal(t, n.best(q.Member), h.Best)
					}
					if h.Next == nil {
						break
					}
					again := must(ParseHistoryCursor(h.Next.String()))(t)
					q.After = &again
				}
				require.Equal(t, want, got, "%+v", q)
			}
			check(HistoryQuery{})
			first := n.looks[0].at
			moment := func(label string) time.Time {
				return first.Add(time.Duration(rapid.Int64Range(-20, int64(w.now.Sub(first)/time.Second)+20).Draw(t, label)) * time.Second).UTC()
			}
			from, to := moment("from"), moment("to")
			if to.Before(from) {
				from, to = to, from
			}
			check(HistoryQuery{From: from, To: to})
			check(HistoryQuery{Step: rapid.SampledFrom([]time.Duration{step, 3 * step, time.Minute}).Draw(t, "each"), From: from})
			check(HistoryQuery{Member: some.Draw(t, "one")})
			check(HistoryQuery{Member: some.Draw(t, "another"), From: from, To: to, Step: 2 * step})
			require.NoError(t, s.Delete(w.t.Context(), board, Moderator{}))
			for member := range n.hidden {
				require.NoError(t, s.Show(w.t.Context(), board, member, Moderator{}))
			}
		})
	})
}
