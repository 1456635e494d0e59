package hub

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/feed"
	"rankcast/ranking/sortkey"
)

// The law is tested on many more histories than rapid's hundred, unless the
// command line says otherwise: they are short.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "5000"); err != nil {
		panic(err)
	}
	m.Run()
}

// wire carries a model's messages and answers to a view, as badly as pub/sub may.
type wire struct {
	t      *rapid.T
	m      *model
	v      *View
	flying []*feed.Changes
	page   *ranking.Page // answered, and on its way
	asked  int           // limit of the page asked for and not answered yet; 0: none
	of     string        // the period asked for; "" for what takes changes when it is answered

	lookups   []ranking.Lookup // asked for and not answered yet
	lookupsOf string           // the period
	places    *ranking.Places  // answered, and on their way

	told map[*Followed]Standing // where those who follow were told last that it is
}

// tell does what an owner of a view does to tell those who follow.
func (w *wire) tell() {
	for _, f := range w.v.Own() {
		w.tellOne(f, w.v.Standing(f))
	}
	for _, found := range w.v.Found() {
		if found.AsOf != nil {
			w.standingHolds(*found.AsOf, ranking.State{Epoch: w.v.State().Epoch, Seq: found.AsOf.Seq}, found.around)
		}
		w.tellOne(found.Followed, w.v.Standing(found.Followed))
	}
}

// allTold checks that everybody was told where it is, as far as that is known.
func (w *wire) allTold() {
	for _, f := range w.v.followed.members {
		if !f.known {
			continue
		}
		s := w.v.Standing(f)
		if w.told[f].Entry != s.Entry {
			w.t.Fatalf("%q was told %+v, and stands at %+v", f.member, w.told[f].Entry, s.Entry)
		}
		if s.Around != nil && f.around > 0 && !slices.Equal(w.told[f].within(f.around), s.within(f.around)) {
			w.t.Fatalf("%q was told of %+v, and is among %+v", f.member, w.told[f].Around, s.Around)
		}
	}
}

// tellRanks does what an owner of a view does to tell those whom others moved, in
// pieces of so many.
func (w *wire) tellRanks(most int) {
	for cursor, first := (*place)(nil), true; first || cursor != nil; first = false {
		cursor = w.v.Ranks(cursor, most, func(f *Followed, at where) {
			if !w.v.Unchanged(f, at) {
				w.tellOne(f, w.v.standing(f, at))
			}
		})
	}
}

// tellOne tells where a member stands now, neighbours only if they are known.
func (w *wire) tellOne(f *Followed, s Standing) {
	w.v.Told(f, s)
	if s.Around == nil {
		s.Around = w.told[f].Around
	}
	w.told[f] = s
}

// history is that of the period that the view is of.
func (w *wire) history() map[ranking.State][]row { return w.m.periods[w.v.Period()].history }

// holds checks the law: a view that is sure is the board at its state.
func (w *wire) holds() {
	if !w.v.sure {
		return
	}
	board, ok := w.history()[w.v.State()]
	if !ok {
		w.t.Fatalf("period %q never was at %+v", w.v.Period(), w.v.State())
	}
	if last := w.m.periods[w.v.Period()].state; w.v.Final() && w.v.State() != last {
		w.t.Fatalf("%+v is said to be final, and period %q ended at %+v", w.v.State(), w.v.Period(), last)
	}
	if w.v.Total() != int64(len(board)) {
		w.t.Fatalf("total %d at %+v; the board has %d", w.v.Total(), w.v.State(), len(board))
	}
	if len(w.v.entries) > len(board) || !slices.Equal(w.v.entries, board[:len(w.v.entries)]) {
		w.t.Fatalf("at %+v the view has\n%v\nthe board has\n%v", w.v.State(), w.v.entries, board)
	}
	if top := w.v.Top(len(board)); !slices.Equal(top, w.m.entries(board, 0, len(top))) {
		w.t.Fatalf("at %+v the view shows\n%v\nthe board has\n%v", w.v.State(), top, board)
	}
	if most := NewView(12).Window(); len(w.v.entries) > most {
		w.t.Fatalf("%d entries, though at most %d were ever asked for", len(w.v.entries), most)
	}
	if len(w.v.entries) < min(w.v.want, len(board)) && !w.v.NeedsPage() && !w.v.Reading() {
		w.t.Fatalf("%d entries of %d asked for, and no page on its way", len(w.v.entries), w.v.want)
	}
	w.touchedHolds(board)
	w.tiersHold(board)
	for _, f := range w.v.followed.members {
		if f.known {
			w.standingHolds(w.v.Standing(f), w.v.State(), f.around)
		}
	}
	w.tell()
}

// touchedHolds checks that a place that is not touched since a seq holds now what
// it held then.
func (w *wire) touchedHolds(board []row) {
	touched, since := w.v.Touched(len(w.v.entries))
	for state, then := range w.history() {
		if state.Epoch != w.v.State().Epoch || state.Seq < since || state.Seq > w.v.State().Seq {
			continue
		}
		for i, seq := range touched {
			if seq <= state.Seq && (i >= len(then) || then[i] != board[i] || w.m.rank(then, i) != w.m.rank(board, i)) {
				w.t.Fatalf("place %d is said to be untouched since %d, but differs from seq %d", i, seq, state.Seq)
			}
		}
	}
}

// tiersHold checks that just those scores are held that are needed, with the ranks
// that they have.
func (w *wire) tiersHold(board []row) {
	tiers := w.v.followed.tiers
	if (tiers != nil) != w.m.def.Ties.Tied() {
		w.t.Fatalf("tiers %v on a board with ties %s", tiers, w.m.def.Ties)
	}
	if tiers == nil {
		return
	}
	want := make(map[sortkey.Key]int)
	for _, f := range w.v.followed.members {
		if f.known && f.on {
			want[tierOf(f.key)]++
		}
		if !f.old {
			for _, e := range f.near {
				want[tierOf(e.Key)]++
			}
		}
	}
	if !maps.Equal(tiers.counts, want) {
		w.t.Fatalf("at %+v the tiers are %v; want %v", w.v.State(), tiers.counts, want)
	}
	slots := 0
	for _, b := range tiers.ranks.blocks {
		slots += len(b.slots)
	}
	if slots != len(want) {
		w.t.Fatalf("%d slots for %d scores", slots, len(want))
	}
	for score := range want {
		i := slices.IndexFunc(board, func(r row) bool { return tierOf(r.key) == score })
		if i < 0 || tiers.rank(score) != w.m.rank(board, i) {
			w.t.Fatalf("at %+v the score of %v has rank %d; the board has %v", w.v.State(), score, tiers.rank(score), board)
		}
	}
}

// standingHolds checks a followed member against the board at a state.
func (w *wire) standingHolds(s Standing, at ranking.State, around int) {
	board := w.history()[at]
	i := find(board, s.Entry.Member)
	if s.Position != int64(i)+1 || s.Seq != at.Seq || s.Total != int64(len(board)) {
		w.t.Fatalf("at %+v the view has %+v; the board has %v", at, s, board)
	}
	if i < 0 {
		return
	}
	want := w.m.entries(board, i, i+1)[0]
	want.Data, s.Entry.Data = "", "" // which is not kept of those who follow
	if s.Entry != want {
		w.t.Fatalf("at %+v the view has %+v; the board has %+v", at, s.Entry, want)
	}
	if s.Around != nil && around > 0 {
		if got, want := s.within(around), w.m.entries(board, i-around, i+around+1); !slices.Equal(got, want) {
			w.t.Fatalf("at %+v around %q are %+v; on the board %+v", at, s.Entry.Member, got, want)
		}
	}
}

func (w *wire) deliver(i int) {
	c := w.flying[i]
	w.flying = slices.Delete(w.flying, i, i+1)
	w.v.Apply(c)
}

func (w *wire) ask() {
	if w.v.NeedsPage() {
		w.askPage(w.v.Period()) // "" at first
	}
	if l := w.v.Lookups(); l != nil {
		w.lookups, w.lookupsOf = l, w.v.Period()
	}
}

// askPage asks for a page of a period, if none is on its way.
func (w *wire) askPage(of string) {
	if !w.v.Reading() {
		w.v.PageAsked()
		w.asked, w.of = w.v.Window(), of
	}
}

func (w *wire) answer() {
	if w.asked > 0 && w.page == nil {
		p := w.m.page(cmp.Or(w.of, w.m.name), w.asked)
		w.page = &p
	}
	if w.lookups != nil && w.places == nil {
		p := w.m.look(w.lookupsOf, w.lookups)
		w.places = &p
	}
}

func (w *wire) readPage() {
	if w.page != nil && !w.v.Ahead(w.page.State) {
		if !w.v.PageRead(*w.page) {
			w.t.Fatalf("the view was wrong before it read %+v", w.page.State)
		}
		w.page, w.asked = nil, 0
	}
}

func (w *wire) readPlaces() {
	if w.places != nil && !w.v.Ahead(w.places.State) {
		if !w.v.PlacesRead(*w.places) {
			w.t.Fatalf("the view was wrong before it read %+v", w.places)
		}
		w.places, w.lookups = nil, nil
	}
}

func (w *wire) follow(t *rapid.T) {
	f := w.v.Follow(memberOf(t), rapid.SampledFrom([]int{0, 0, 0, 1, 2, 5, MaxAround}).Draw(t, "around"))
	if f.known {
		w.tellOne(f, w.v.Standing(f)) // who joins is told at once
	}
}

func (w *wire) unfollow(t *rapid.T) {
	if f := w.v.followed.members[memberOf(t)]; f != nil {
		w.v.Unfollow(f)
	}
}

// settle lets everything arrive, with the seq check that a hub makes, and then
// the view must be the board, and know all whom it follows.
func (w *wire) settle() {
	for range 10 {
		for len(w.flying) > 0 {
			w.deliver(0)
			w.holds()
		}
		if is := w.m.periods[w.v.Period()]; is != nil && w.v.State() != is.state {
			w.v.Doubt()
		}
		if w.v.Period() != w.m.name {
			w.askPage("")
		}
		for _, f := range w.v.followed.members {
			w.v.Ask(f)
		}
		w.ask()
		w.answer()
		w.readPage()
		w.holds()
		w.readPlaces()
		w.holds()
	}
	if !w.v.Shows(w.v.want) || w.v.Period() != w.m.name || w.v.State() != w.m.state || w.v.NeedsPage() {
		w.t.Fatalf("the view is at %q %+v (sure: %v), the board at %q %+v", w.v.Period(), w.v.State(), w.v.sure, w.m.name, w.m.state)
	}
	for _, f := range w.v.followed.members {
		if !f.known || w.v.Standing(f).Around == nil && f.around > 0 {
			w.t.Fatalf("%q is followed and not known: %+v", f.member, f)
		}
	}
	w.tellRanks(math.MaxInt)
	w.allTold()
	if !w.v.Recovered() || w.v.Lookups() != nil {
		w.t.Fatalf("the view still waits for %d members", w.v.owed)
	}
}

// Snapshot plus changes equals a fresh snapshot, at every single state, for every
// mode, order and tie rule, for the first entries and for each member that is
// followed, whatever is lost, repeated, late or out of order, and whatever periods
// begin meanwhile.
func TestViewIsTheBoard(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t)
		w := &wire{t: t, m: m, v: NewView(rapid.IntRange(0, 12).Draw(t, "want")), told: make(map[*Followed]Standing)}
		faulty := rapid.Bool().Draw(t, "faulty")
		actions := map[string]func(*rapid.T){
			"write": func(t *rapid.T) {
				if c := m.batch(t); c != nil {
					w.flying = append(w.flying, c)
				}
			},
			"deliver": func(t *rapid.T) {
				if len(w.flying) > 0 {
					w.deliver(0)
				}
			},
			"ask":         func(*rapid.T) { w.ask() },
			"answer":      func(*rapid.T) { w.answer() },
			"read page":   func(*rapid.T) { w.readPage() },
			"read places": func(*rapid.T) { w.readPlaces() },
			"want":        func(t *rapid.T) { w.v.Want(rapid.IntRange(0, 12).Draw(t, "want")) },
			"follow":      w.follow,
			"unfollow":    w.unfollow,
			"sample":      func(*rapid.T) { w.v.Sample(3) },
			"audit":       func(*rapid.T) { w.askPage(w.v.Period()) },
			"turn": func(t *rapid.T) {
				if rapid.IntRange(0, 5).Draw(t, "really") == 0 {
					m.turn()
				}
			},
			"replace": func(t *rapid.T) {
				if rapid.IntRange(0, 5).Draw(t, "really") == 0 {
					w.flying = append(w.flying, m.replace(t))
				}
			},
			"tell": func(t *rapid.T) {
				if w.v.sure {
					w.tell()
					w.tellRanks(rapid.IntRange(1, 9).Draw(t, "in a step"))
					w.allTold()
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
					w.v.PageFailed()
					w.page, w.asked = nil, 0
				} else if w.lookups != nil {
					w.v.PlacesFailed()
					w.places, w.lookups = nil, nil
				}
			}
			actions["forget"] = func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "really") == 0 {
					w.v.Forget()
					w.page, w.asked, w.places, w.lookups = nil, 0, nil, nil
				}
			}
			actions["flush"] = func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "really") == 0 {
					m.flush()
				}
			}
		}
		t.Repeat(actions)
		w.settle()
	})
}

// Without faults the view never has to be read again for a gap, only for want of
// entries: a steady board costs no reads.
func TestViewReadsOnlyWhenItMust(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t)
		m.def.Mode = definition.Sum
		w := &wire{t: t, m: m, v: NewView(10), told: make(map[*Followed]Standing)}
		for range rapid.IntRange(0, 12).Draw(t, "followed") {
			w.follow(t)
		}
		w.settle()
		for range 12 {
			c := m.batch(t)
			if c == nil {
				continue
			}
			w.v.Apply(c)
			if !w.v.sure {
				t.Fatal("a message that follows on made the view unsure")
			}
			low := len(w.v.entries) < w.v.want+w.v.margin()/2 && len(w.v.entries) < len(m.rows)
			if w.v.NeedsPage() != low {
				t.Fatalf("needs a page: %v, with %d entries of %d", w.v.NeedsPage(), len(w.v.entries), len(m.rows))
			}
			w.ask()
			late := rapid.IntRange(0, 2).Draw(t, "changes before the answer, and before it is read")
			more := func() {
				for range late {
					if c := m.batch(t); c != nil {
						w.v.Apply(c)
					}
				}
			}
			more()
			w.answer()
			more()
			w.readPage()
			w.readPlaces()
			if !w.v.sure || w.v.State() != m.state {
				t.Fatal("what was heard while the page was read is missing")
			}
			w.holds()
		}
	})
}

func change(seq int64, member string, was, is, rank int64) *feed.Changes {
	c := feed.Change{Member: member, Rank: rank, Position: rank}
	if was != 0 {
		k := sortkey.Key(was)
		c.Old = &k
	}
	if is != 0 {
		k := sortkey.Key(is)
		c.New = &k
	}
	return &feed.Changes{Board: "b", Epoch: "e", Seq: seq, List: []feed.Change{c}}
}

// A view with fewer entries than the board takes in who comes next behind them:
// the rank says that nobody stands between.
func TestViewTakesInWhoComesNext(t *testing.T) {
	v := NewView(2)
	page := ranking.Page{State: ranking.State{Epoch: "e", Seq: 1}, Total: 100}
	for i := range v.Window() {
		page.Entries = append(page.Entries, ranking.Entry{Key: sortkey.Key(10 * (i + 1)), Member: "m"})
	}
	v.PageAsked()
	v.PageRead(page)
	w := len(v.entries)
	v.Apply(change(2, "m", 10, 0, 0))
	if len(v.entries) != w-1 {
		t.Fatal("who left is still there")
	}
	v.Apply(change(3, "far", 0, 5000, 60))
	if len(v.entries) != w-1 {
		t.Fatal("who stands far behind was taken in")
	}
	v.Apply(change(4, "next", 0, int64(10*w+5), int64(w)))
	if len(v.entries) != w || v.entries[w-1].member != "next" || !v.sure {
		t.Fatal("who comes next was not taken in")
	}
	v.Apply(change(5, "wrong", 0, 15, 3))
	if v.sure {
		t.Fatal("a rank that contradicts the view must make it unsure")
	}
}

// What is heard while a page is read is bounded: beyond it the page is of no use.
func TestViewThatHearsTooMuchReadsAgain(t *testing.T) {
	v := NewView(2)
	v.PageAsked()
	for i := range int64(viewBuffer + 1) {
		v.Apply(change(i+1, "m", i, i+1, 1))
	}
	if len(v.heard) > viewBuffer+1 {
		t.Fatalf("%d kept", len(v.heard))
	}
	v.PageRead(ranking.Page{})
	if v.sure || !v.NeedsPage() {
		t.Fatal("the view is sure of a page that it could not bring forward")
	}
}

// sureView is a view of a page with one member, at seq 5 of epoch "e".
func sureView() *View {
	v := NewView(2)
	v.PageAsked()
	v.PageRead(ranking.Page{State: ranking.State{Epoch: "e", Seq: 5}, Total: 1, Entries: []ranking.Entry{{Key: 10, Member: "m"}}})
	return v
}

// A change of another life of the board says nothing about this one, even where
// its seq follows on.
func TestAnotherEpochMakesAViewUnsure(t *testing.T) {
	v := sureView()
	c := change(6, "n", 0, 20, 2)
	c.Epoch = "f"
	if v.Apply(c) || v.sure {
		t.Fatal("a change of another epoch was taken in")
	}
}

// One subscription repeats nothing. A seq that was heard before is another
// change: a replica took over that did not have all.
func TestSeqThatGoesBackMakesAViewUnsure(t *testing.T) {
	v := sureView()
	v.Apply(change(6, "n", 0, 20, 2))
	v.Apply(change(7, "o", 0, 30, 3))
	if !v.sure {
		t.Fatal("unsure without reason")
	}
	v.Apply(change(7, "p", 0, 40, 3))
	if v.sure {
		t.Fatal("seq 7 was heard twice")
	}
	// A page that was being read then may be of either side.
	v.PageAsked()
	v.Apply(change(7, "q", 0, 50, 3))
	v.PageRead(ranking.Page{State: ranking.State{Epoch: "e", Seq: 7}})
	if v.sure {
		t.Fatal("the page may be from before")
	}
	// What came with the page already is no step back: a page may be ahead of the feed.
	v = sureView()
	v.Apply(change(4, "x", 0, 40, 3))
	v.Apply(change(5, "m", 0, 10, 1))
	v.Apply(change(6, "n", 0, 20, 2))
	if !v.sure || v.State().Seq != 6 {
		t.Fatal("changes behind the page were not passed over")
	}
}

// A page of another period takes a view over, with what was heard of that period;
// of a board that goes back meanwhile, or has gone back by then, nothing is passed
// over.
func TestPageOfAnotherPeriod(t *testing.T) {
	next := func(seq int64, member string, is, rank int64) *feed.Changes {
		c := change(seq, member, 0, is, rank)
		c.Period, c.Epoch = "next", "f"
		return c
	}
	page := ranking.Page{State: ranking.State{Epoch: "f", Seq: 1}, Period: "next", Total: 1, Entries: []ranking.Entry{{Key: 10, Member: "m"}}}
	turned := func(heard ...*feed.Changes) *View {
		v := sureView()
		v.PageAsked()
		for _, c := range heard {
			v.Apply(c)
			require.True(t, v.sure)
		}
		v.PageRead(page)
		require.Equal(t, "next", v.Period())
		return v
	}
	v := turned(next(1, "m", 10, 1), change(6, "n", 0, 20, 2), next(2, "n", 20, 2))
	require.True(t, v.sure)
	require.Equal(t, ranking.State{Epoch: "f", Seq: 2}, v.State())
	require.True(t, v.Apply(next(3, "o", 30, 3)))
	require.False(t, v.Apply(change(7, "o", 0, 30, 3)), "of the period before")
	require.True(t, v.sure)
	require.EqualValues(t, 3, v.Total())

	v = turned(next(1, "m", 10, 1), next(2, "n", 20, 2), next(2, "o", 20, 2))
	require.False(t, v.sure, "nobody knows on which side of this the page is")
	require.True(t, v.NeedsPage())

	v = turned(next(1, "m", 10, 1), next(2, "n", 20, 2))
	v.Apply(next(2, "o", 20, 2))
	require.False(t, v.sure)
}

// A period that is read as empty and closed had lost what was heard of it: it does
// not begin once more.
func TestChangesOfAClosedPeriodThatWasLost(t *testing.T) {
	v := NewView(2)
	v.PageAsked()
	v.Apply(change(1, "m", 0, 10, 1))
	lost := ranking.Page{Bounds: ranking.Bounds{Final: true}}
	v.PageRead(lost)
	require.False(t, v.sure)
	require.True(t, v.NeedsPage())
	v.PageAsked()
	v.PageRead(lost)
	require.True(t, v.Shows(2))
	require.True(t, v.Final())
	require.Empty(t, v.Top(2))
}

// farView follows "m", which stands at key 500 and rank 100 of a thousand, and
// "gone", which is not on the board; the view is at seq 5 of epoch "e" and has
// asked for both, but has no answer yet.
func farView() (v *View, answer ranking.Places) {
	v = NewView(0)
	v.Follow("m", 0)
	v.Follow("gone", 0)
	page := ranking.Page{State: ranking.State{Epoch: "e", Seq: 5}, Total: 1000}
	for i := range v.Window() {
		page.Entries = append(page.Entries, ranking.Entry{Key: sortkey.Key(i), Member: fmt.Sprint("top", i)})
	}
	v.PageAsked()
	v.PageRead(page)
	answer = ranking.Places{State: v.State(), Total: 1000}
	for _, l := range v.Lookups() {
		found := ranking.Place{Entry: ranking.Entry{Member: l.Member}}
		if l.Member == "m" {
			found.Entry.Key, found.Entry.Rank, found.Position = 500, 100, 100
		}
		answer.List = append(answer.List, found)
	}
	return v, answer
}

// A change that contradicts what is held of a followed member makes the view
// unsure.
func TestContradictionMakesAViewUnsure(t *testing.T) {
	v, answer := farView()
	require.True(t, v.PlacesRead(answer))
	require.True(t, v.Apply(change(6, "m", 500, 400, 90)))
	require.EqualValues(t, 90, v.Standing(v.Following("m")).Entry.Rank)
	for what, c := range map[string]*feed.Changes{
		"another key":      change(6, "m", 501, 400, 90),
		"not there before": change(6, "m", 0, 400, 90),
		"there before":     change(6, "gone", 300, 400, 90),
		"a taken rank":     change(6, "gone", 0, 400, 200),
	} {
		v, answer := farView()
		require.True(t, v.PlacesRead(answer))
		require.False(t, v.Apply(c), what)
		require.True(t, v.NeedsPage(), what)
		require.Nil(t, v.Lookups(), what)
	}
}

// An answer to a look-up that cannot be of this board makes the view unsure too:
// of a seq before that at which it was asked, of another life, or at odds with
// what was heard since.
func TestLookUpThatCannotBeMakesAViewUnsure(t *testing.T) {
	for what, alter := range map[string]func(*View, *ranking.Places){
		"gone back":    func(_ *View, p *ranking.Places) { p.Seq-- },
		"another life": func(_ *View, p *ranking.Places) { p.Epoch = "f" },
		"at odds": func(v *View, _ *ranking.Places) {
			require.True(t, v.Apply(change(6, "m", 501, 400, 90)))
		},
		"a rank twice": func(_ *View, p *ranking.Places) {
			for i := range p.List {
				p.List[i].Entry.Rank, p.List[i].Position, p.List[i].Entry.Key = 100, 100, sortkey.Key(500+i)
			}
		},
	} {
		v, answer := farView()
		alter(v, &answer)
		v.PlacesRead(answer)
		require.True(t, v.NeedsPage(), what)
		require.Nil(t, v.Lookups(), what)
	}
}

// What is heard while places are looked up is bounded too.
func TestLookUpThatHearsTooMuchIsDoneAgain(t *testing.T) {
	v, answer := farView()
	key := int64(5000)
	for i := range int64(viewBuffer + 1) {
		require.True(t, v.Apply(change(6+i, "far", key, key+1, 990)))
		key++
	}
	require.LessOrEqual(t, v.heardLen, viewBuffer+1)
	require.True(t, v.PlacesRead(answer))
	require.Len(t, v.Lookups(), 2)
}

// Nobody's neighbours are looked after when nobody asks for any.
func TestReachFollowsWhatIsWanted(t *testing.T) {
	v := NewView(0)
	a, b := v.Follow("a", 3), v.Follow("b", 7)
	require.EqualValues(t, 7, v.followed.reach)
	v.Follow("b", 1)
	require.EqualValues(t, 3, v.followed.reach)
	v.Unfollow(a)
	require.EqualValues(t, 1, v.followed.reach)
	v.Unfollow(b)
	require.Zero(t, v.followed.reach)
}

// Neighbours are old when somebody comes or goes among them, or beyond them where
// there are fewer than are wanted.
func TestWhatMakesNeighboursOld(t *testing.T) {
	near := func(members string) *Followed {
		f := &Followed{member: "m", around: 2}
		for _, m := range members {
			f.near = append(f.near, ranking.Entry{Key: sortkey.Key(10 * m), Member: string(m)})
		}
		return f
	}
	at := func(key rune, by int) place { return place{sortkey.Key(10*int(key) + by), "x"} }
	for _, c := range []struct {
		near string
		p    place
		old  bool
	}{
		{"klmno", at('k', -1), false}, {"klmno", at('k', 1), true}, {"klmno", at('m', 1), true}, {"klmno", at('o', -1), true}, {"klmno", at('o', 1), false},
		{"lmno", at('l', -1), true}, {"lmno", at('o', 1), false},
		{"mno", at('m', -1), true},
		{"klmn", at('n', 1), true}, {"klmn", at('k', -1), false},
		{"klm", at('m', 1), true},
		{"m", at('m', 1), true},
	} {
		f := near(c.near)
		f.mind(c.p)
		require.Equal(t, c.old, f.old, "%s and %v", c.near, c.p)
	}
}
