package view

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/feed"
	"rankcast/ranking/proptest"
	"rankcast/ranking/sortkey"
)

// histories is how many a property test draws. They are short; `make soak` draws many more.
const histories = 2500

// lossyTransport carries a model's messages and answers to a view, as unreliably as pub/sub
// may.
type lossyTransport struct {
	t      *rapid.T
	m      *model
	v      *View
	flying []*feed.Changes
	page   *ranking.Page  // answered, and on its way
	asked  int            // limit of the page that is not answered yet; 0: none
	of     string         // its period; "": the one that takes changes at the time of the answer
	since  ranking.States // of that period, when it was asked

	lookups   []ranking.Lookup // not answered yet
	lookupsOf string           // their period
	from      ranking.States   // of that period, when they were asked
	places    *ranking.Places  // answered, and on their way
	applied   ranking.Places   // the last ones

	notified map[*Member]Standing // the last notification of each member
}

// notify does what the owner of a view does for single members.
func (w *lossyTransport) notify() {
	for _, f := range w.v.TakeMoved() {
		if f.known {
			w.notifyStanding(f, w.v.Standing(f))
		} else {
			w.v.RequestLookup(f)
		}
	}
	for _, found := range w.v.TakeFound() {
		if found.AsOf != nil {
			w.standingHolds(*found.AsOf, w.applied.HeadOf(found.name).States(), found.around)
		}
		if found.known {
			w.notifyStanding(found.Member, w.v.Standing(found.Member))
		}
	}
}

// allNotified checks that each known member's last notification is current.
func (w *lossyTransport) allNotified() {
	for _, f := range w.v.members.byName {
		if !f.known {
			continue
		}
		s := w.v.Standing(f)
		require.Equal(w.t, s.Entry, w.notified[f].Entry, "the last notification of %q", f.name)
		if s.Around != nil && f.around > 0 {
			require.Equal(w.t, s.NeighboursWithin(f.around), w.notified[f].NeighboursWithin(f.around), "around %q", f.name)
		}
	}
}

// notifyRanks does what the owner of a view does for members that others moved, in batches.
func (w *lossyTransport) notifyRanks(limit int) {
	for cursor, first := (*OrderKey)(nil), true; first || cursor != nil; first = false {
		cursor = w.v.WalkRanks(cursor, limit, func(f *Member, at Placement) {
			if !w.v.IsNotified(f, at) {
				w.notifyStanding(f, w.v.StandingAt(f, at))
			}
		})
	}
}

// notifyStanding notifies a member; neighbours only if they are known.
func (w *lossyTransport) notifyStanding(f *Member, s Standing) {
	w.v.MarkNotified(f, s)
	if s.Around == nil {
		s.Around = w.notified[f].Around
	}
	w.notified[f] = s
}

// holds checks the law: a valid view equals the board at its state.
func (w *lossyTransport) holds() {
	if !w.v.valid {
		return
	}
	is := w.m.periods[w.v.Period()]
	board, ok := is.at(w.v.States())
	require.True(w.t, ok, "period %q never was at %+v", w.v.Period(), w.v.States())
	require.Equal(w.t, w.v.States().State(), w.v.State())
	if w.v.Final() && !slices.Equal(w.v.States(), is.states) {
		w.t.Fatalf("%+v is said to be final, and period %q ended at %+v", w.v.States(), w.v.Period(), is.states)
	}
	require.EqualValues(w.t, len(board), w.v.Total(), "at %+v", w.v.State())
	n := len(w.v.entries)
	require.True(w.t, n <= len(board) && slices.Equal(w.v.entries, board[:n]), "at %+v the view has\n%v\nthe board has\n%v",
		w.v.State(), w.v.entries, board)
	top := w.v.Top(len(board))
	require.True(w.t, slices.Equal(top, w.m.entries(board, 0, len(top))), "at %+v the view shows\n%v\nthe board has\n%v",
		w.v.State(), top, board)
	require.LessOrEqual(w.t, n, New(12).PageSize(), "more entries than were ever asked for")
	require.True(w.t, n >= min(w.v.size, len(board)) || w.v.NeedsPage() || w.v.PagePending(),
		"%d entries of %d asked for, and no page on its way", n, w.v.size)
	w.scoreRanksHold(board)
	for _, f := range w.v.members.byName {
		if f.known {
			w.standingHolds(w.v.Standing(f), w.v.States(), f.around)
		}
	}
	w.notify()
}

// scoreRanksHold checks that exactly the needed scores are retained, with their ranks.
func (w *lossyTransport) scoreRanksHold(board []entry) {
	tiers := w.v.members.scores
	require.Equal(w.t, w.m.def.Ties.Tied(), tiers != nil, "a board with ties %s", w.m.def.Ties)
	if tiers == nil {
		return
	}
	want := make(map[sortkey.Key]int)
	for _, f := range w.v.members.byName {
		if f.known && f.onBoard {
			want[scoreKeyOf(f.key)]++
		}
		if !f.neighboursStale {
			for _, e := range f.neighbours {
				want[scoreKeyOf(e.Key)]++
			}
		}
	}
	require.True(w.t, maps.Equal(tiers.counts, want), "at %+v the tiers are %v; want %v", w.v.State(), tiers.counts, want)
	slots := 0
	for _, b := range tiers.index.blocks {
		slots += len(b.slots)
	}
	require.Equal(w.t, len(want), slots)
	for score := range want {
		i := slices.IndexFunc(board, func(r entry) bool { return scoreKeyOf(r.key) == score })
		require.True(w.t, i >= 0 && tiers.rank(score) == w.m.rank(board, i), "at %+v the rank of the score %v; the board has %v",
			w.v.State(), score, board)
	}
}

// standingHolds checks a followed member against the board at a state.
func (w *lossyTransport) standingHolds(s Standing, at ranking.States, around int) {
	board, ok := w.m.periods[w.v.Period()].at(at)
	i := find(board, s.Entry.Member)
	require.True(w.t, ok && s.Position == int64(i)+1 && s.Seq == at.State().Seq && s.Total == int64(len(board)),
		"at %+v the view has %+v; the board has %v", at, s, board)
	if i < 0 {
		return
	}
	want := w.m.entries(board, i, i+1)[0]
	want.Data, s.Entry.Data = "", "" // the view does not keep the data of members
	require.True(w.t, s.Entry == want, "at %+v the view has %+v; the board has %+v", at, s.Entry, want)
	if s.Around != nil && around > 0 {
		got, want := s.NeighboursWithin(around), w.m.entries(board, i-around, i+around+1)
		require.True(w.t, slices.Equal(got, want), "at %+v around %q are %+v; on the board %+v", at, s.Entry.Member, got, want)
	}
}

func (w *lossyTransport) deliver(i int) {
	c := w.flying[i]
	w.flying = slices.Delete(w.flying, i, i+1)
	w.v.Apply(c)
}

// deliverNext delivers the next message of a shard. Those of the others may come later.
func (w *lossyTransport) deliverNext(t *rapid.T) {
	if len(w.flying) == 0 {
		return
	}
	i := rapid.IntRange(0, len(w.flying)-1).Draw(t, "of the shard of")
	w.deliver(slices.IndexFunc(w.flying, func(c *feed.Changes) bool { return c.Shard == w.flying[i].Shard }))
}

func (w *lossyTransport) ask() {
	if w.v.NeedsPage() {
		w.askPage(w.v.Period()) // "" at first
	}
	if l := w.v.BeginLookups(); l != nil {
		w.lookups, w.lookupsOf = l, w.v.Period()
		w.from = slices.Clone(w.m.periods[w.lookupsOf].states)
	}
}

// askPage requests a page of a period, unless one is pending.
func (w *lossyTransport) askPage(of string) {
	if !w.v.PagePending() {
		w.v.BeginPage()
		w.asked, w.of = w.v.PageSize(), of
		w.since = slices.Clone(w.m.periods[cmp.Or(of, w.m.name)].states)
	}
}

func (w *lossyTransport) answer() {
	if w.asked > 0 && w.page == nil {
		is := w.m.periods[cmp.Or(w.of, w.m.name)]
		p := w.m.page(is, w.between(w.since, is), w.asked)
		w.page = &p
	}
	if w.lookups != nil && w.places == nil {
		is := w.m.periods[w.lookupsOf]
		others := w.between(w.from, is)
		own := slices.Clone(others)
		for i := range own {
			if w.m.def.Shards > 0 && rapid.Bool().Draw(w.t, "read at once") { // before the others
				own[i] = w.from[i]
			}
		}
		p := w.m.lookUp(is, own, others, w.lookups)
		w.places = &p
	}
}

// between draws states of the shards at which an answer is. Each shard answers at some time after the question.
func (w *lossyTransport) between(asked ranking.States, is *modelPeriod) ranking.States {
	states := slices.Clone(is.states)
	for i := range states {
		if _, there := is.past[i][asked[i]]; w.m.def.Shards > 0 && there && rapid.Bool().Draw(w.t, "answers early") {
			states[i] = asked[i]
		}
	}
	return states
}

func (w *lossyTransport) readPage() {
	if w.page != nil && !w.v.Behind(&w.page.Head) {
		require.True(w.t, w.v.ApplyPage(*w.page), "the view was wrong before it read %+v", w.page.State)
		w.page, w.asked = nil, 0
	}
}

func (w *lossyTransport) readPlaces() {
	if w.places != nil && !w.v.BehindLookups(w.places) {
		w.applied = *w.places
		require.True(w.t, w.v.ApplyLookups(*w.places), "the view was wrong before it read %+v", w.places)
		w.places, w.lookups = nil, nil
	}
}

func (w *lossyTransport) follow(t *rapid.T) {
	f := w.v.Follow(memberOf(t), rapid.SampledFrom([]int{0, 0, 0, 1, 2, 5, MaxAround}).Draw(t, "around"))
	if f.known {
		w.notifyStanding(f, w.v.Standing(f)) // a new follower is notified at once
	}
}

func (w *lossyTransport) unfollow(t *rapid.T) {
	if f := w.v.members.byName[memberOf(t)]; f != nil {
		w.v.Unfollow(f)
	}
}

// settle delivers everything, with the seq check of a hub. Then the view must equal the
// board, and know all followed members.
func (w *lossyTransport) settle() {
	for range 10 {
		for len(w.flying) > 0 {
			w.deliver(0)
			w.holds()
		}
		if is := w.m.periods[w.v.Period()]; is != nil && !slices.Equal(w.v.States(), is.states) {
			w.v.Invalidate()
		}
		if w.v.Period() != w.m.name {
			w.askPage("")
		}
		for _, f := range w.v.members.byName {
			w.v.RequestLookup(f)
		}
		w.ask()
		w.answer()
		w.readPage()
		w.holds()
		w.readPlaces()
		w.holds()
	}
	require.True(w.t, w.v.Covers(w.v.size) && w.v.Period() == w.m.name && slices.Equal(w.v.States(), w.m.states) && !w.v.NeedsPage(),
		"the view is at %q %+v (valid: %v), the board at %q %+v", w.v.Period(), w.v.States(), w.v.valid, w.m.name, w.m.states)
	for _, f := range w.v.members.byName {
		require.True(w.t, f.known && (w.v.Standing(f).Around != nil || f.around == 0), "%q is followed and not known: %+v", f.name, f)
	}
	w.notifyRanks(math.MaxInt)
	w.allNotified()
	require.True(w.t, w.v.Recovered() && w.v.BeginLookups() == nil, "the view still waits for %d members", w.v.unrecovered)
}

// A snapshot and all changes after it equal a fresh snapshot: at each state, for each mode,
// order and tie rule, for the entries and for each followed member. Messages may be lost,
// repeated, late or out of order, and periods may begin.
func TestViewEqualsBoard(t *testing.T) {
	t.Parallel()
	proptest.Check(t, histories, func(t *rapid.T) {
		m := newModel(t)
		w := &lossyTransport{t: t, m: m, v: New(rapid.IntRange(0, 12).Draw(t, "want")), notified: make(map[*Member]Standing)}
		faulty := rapid.Bool().Draw(t, "faulty")
		actions := map[string]func(*rapid.T){
			"write": func(t *rapid.T) {
				w.flying = append(w.flying, m.batch(t)...)
			},
			"deliver":     func(t *rapid.T) { w.deliverNext(t) },
			"ask":         func(*rapid.T) { w.ask() },
			"answer":      func(*rapid.T) { w.answer() },
			"read page":   func(*rapid.T) { w.readPage() },
			"read places": func(*rapid.T) { w.readPlaces() },
			"want":        func(t *rapid.T) { w.v.Resize(rapid.IntRange(0, 12).Draw(t, "want")) },
			"follow":      w.follow,
			"unfollow":    w.unfollow,
			"sample":      func(*rapid.T) { w.v.Sample(3) },
			"comparison":  func(*rapid.T) { w.askPage(w.v.Period()) },
			"turn": func(t *rapid.T) {
				if rapid.IntRange(0, 5).Draw(t, "really") == 0 {
					m.rollOver()
				}
			},
			"replace": func(t *rapid.T) {
				if rapid.IntRange(0, 5).Draw(t, "really") == 0 && m.def.Shards == 0 {
					w.flying = append(w.flying, m.replace(t))
				}
			},
			"notify": func(t *rapid.T) {
				if w.v.valid {
					w.notify()
					w.notifyRanks(rapid.IntRange(1, 9).Draw(t, "in a step"))
					w.allNotified()
				}
			},
			"ask by name": func(*rapid.T) { w.askPage("") },
			"":            func(*rapid.T) { w.holds() },
		}
		actions["write more"], actions["deliver more"], actions["follow more"] = actions["write"], actions["deliver"], actions["follow"]
		if faulty {
			pick := func(t *rapid.T, do func(i int)) {
				if len(w.flying) > 0 {
					do(rapid.IntRange(0, len(w.flying)-1).Draw(t, "which"))
				}
			}
			actions["lose"] = func(t *rapid.T) { pick(t, func(i int) { w.flying = slices.Delete(w.flying, i, i+1) }) }
			actions["repeat"] = func(t *rapid.T) { pick(t, func(i int) { w.v.Apply(w.flying[i]) }) }
			actions["out of order"] = func(t *rapid.T) { pick(t, w.deliver) }
			actions["answers lost"] = func(t *rapid.T) {
				if rapid.Bool().Draw(t, "the page") && w.asked > 0 {
					w.v.CancelPage()
					w.page, w.asked = nil, 0
				} else if w.lookups != nil {
					w.v.CancelLookups()
					w.places, w.lookups = nil, nil
				}
			}
			actions["forget"] = func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "really") == 0 {
					w.v.Reset()
					w.page, w.asked, w.places, w.lookups = nil, 0, nil, nil
				}
			}
			actions["flush"] = func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "really") == 0 {
					m.flush(rapid.IntRange(0, len(m.states)-1).Draw(t, "shard"))
				}
			}
		}
		t.Repeat(actions)
		w.settle()
	})
}

// Without faults a view needs a page only for more entries, never for a gap: a steady board
// costs no reads.
func TestViewNeedsNoReadWithoutFaults(t *testing.T) {
	t.Parallel()
	proptest.Check(t, histories, func(t *rapid.T) {
		m := newModel(t)
		m.def.Mode = definition.Sum
		w := &lossyTransport{t: t, m: m, v: New(10), notified: make(map[*Member]Standing)}
		for range rapid.IntRange(0, 12).Draw(t, "followed") {
			w.follow(t)
		}
		w.settle()
		for range 12 {
			messages := m.batch(t)
			if messages == nil {
				continue
			}
			for _, c := range messages {
				w.v.Apply(c)
			}
			require.True(t, w.v.valid, "a message that follows on made the view invalid")
			low := len(w.v.entries) < w.v.size+w.v.margin()/2 && len(w.v.entries) < len(m.rows)
			require.Equal(t, low, w.v.NeedsPage(), "with %d entries of %d", len(w.v.entries), len(m.rows))
			w.ask()
			late := rapid.IntRange(0, 2).Draw(t, "changes before the answer, and before it is read")
			more := func() {
				for range late {
					for _, c := range m.batch(t) {
						w.v.Apply(c)
					}
				}
			}
			more()
			w.answer()
			more()
			w.readPage()
			w.readPlaces()
			require.True(t, w.v.valid && slices.Equal(w.v.States(), m.states), "a change that arrived during the read is missing")
			w.holds()
		}
	})
}
