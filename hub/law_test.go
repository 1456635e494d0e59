package hub

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/feed"
	"rankcast/ranking/rankingtest"
	"rankcast/ranking/redistest"
)

// The scripts, the view and the model give the same places: through any history of a
// board of any definition, hidden members included, at each seq that what was published
// leads to, for the first entries and for each member.
func TestScriptsViewAndModelAgree(t *testing.T) {
	rankingtest.Seeded(t, 12)
	var members []string
	for i := range 30 {
		members = append(members, fmt.Sprintf("m%02d", i))
	}
	redistest.Engines(t, func(t *testing.T, url string) {
		rdb, err := ranking.Open(url)
		require.NoError(t, err)
		redistest.Patient(rdb)
		t.Cleanup(func() { rdb.Close() })
		s := ranking.New(rdb, ranking.Config{CallTimeout: redistest.CallTimeout})
		t.Cleanup(s.Close)
		families := rankingtest.Families(20) // beyond what a view of none has
		require.NoError(t, s.Define(t.Context(), definition.Set{Boards: slices.Collect(maps.Values(families))}))
		feed, heard := hearFeed(t, url)
		runs := 0
		for _, name := range slices.Sorted(maps.Keys(families)) {
			t.Run(name, func(t *testing.T) {
				rapid.Check(t, func(t *rapid.T) {
					runs++
					h := rankingtest.NewHistory(t, s, rdb, families[name], runs, members)
					feed.Watch(h.Board)
					defer feed.Unwatch(h.Board)
					w := &witness{t: t, s: s, h: h, heard: heard, ties: families[name].Ties, members: members, v: NewView(rapid.IntRange(0, 4).Draw(t, "want"))}
					w.wait(func(e any) bool { return e == watched(h.Board) })
					w.run()
				})
			})
		}
	})
}

// changesHeard passes on what a feed hears of boards.
type changesHeard chan any

// watched is a board of which each change is heard from now on.
type watched string

func (h changesHeard) FeedUp()                     {}
func (h changesHeard) FeedDown(time.Time)          { h <- errors.New("the feed went down") }
func (h changesHeard) FeedSubscribed(board string) { h <- watched(board) }
func (h changesHeard) FeedChanges(c *feed.Changes) { h <- c }
func (h changesHeard) FeedFollowed(string)         {}
func (h changesHeard) FeedItems(string, [][]byte)  {}
func (h changesHeard) FeedProfile(string, string)  {}

// wait takes what is heard of a board until it is what is waited for.
func (h changesHeard) wait(t *rapid.T, board string, until func(any) bool) {
	late := time.After(time.Minute)
	for {
		select {
		case e := <-h:
			if err, down := e.(error); down {
				t.Fatal(err)
			}
			if until(e) {
				return
			}
		case <-late:
			t.Fatalf("what was published of %s is not heard", board)
		}
	}
}

// hearFeed runs a feed until the test ends.
func hearFeed(t *testing.T, url string) (*feed.Feed, changesHeard) {
	rdb, err := ranking.Open(url)
	require.NoError(t, err)
	redistest.Patient(rdb)
	feed := feed.New(rdb, slog.New(slog.DiscardHandler), feed.Config{ProbeInterval: redistest.CallTimeout})
	heard := make(changesHeard, 4096)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- feed.Run(ctx, heard) }()
	t.Cleanup(func() {
		cancel()
		require.ErrorIs(t, <-ended, context.Canceled)
		rdb.Close()
	})
	return feed, heard
}

// witness has a view follow a history, and compares what scripts, view and model say.
type witness struct {
	t       *rapid.T
	s       *ranking.Store
	h       *rankingtest.History
	heard   changesHeard
	ties    definition.Ties
	members []string
	v       *View
	seq     int64 // that was heard last

	page   *ranking.Page // read, and not taken in yet
	places *ranking.Places
}

func (w *witness) run() {
	for _, member := range w.members {
		if around := rapid.SampledFrom([]int{-1, -1, 0, 0, 1, 2, 5}).Draw(w.t, "followed with around"); around >= 0 {
			w.v.Follow(member, around)
		}
	}
	if n := rapid.IntRange(0, len(w.members)).Draw(w.t, "members at first"); n > 0 {
		w.h.Fill(w.members[:n])
		w.hear()
	}
	for range rapid.IntRange(1, 8).Draw(w.t, "calls") {
		w.v.Each(w.v.Ask)
		w.v.Sample(len(w.members)) // those who are known are looked up, too
		w.ask()
		if rapid.Bool().Draw(w.t, "answered at once") {
			w.answer()
		}
		w.h.Call()
		w.hear()
		w.answer()
		if rapid.IntRange(0, 2).Draw(w.t, "settle") > 0 {
			w.settle()
		}
	}
	w.settle()
	w.h.Read()
}

// wait takes what is heard until it is what is waited for.
func (w *witness) wait(until func(any) bool) {
	w.heard.wait(w.t, w.h.Board, until)
}

// hear gives the view all that was published, as it is or change by change, and checks
// at each seq what it tells then.
func (w *witness) hear() {
	now, err := w.s.Page(context.Background(), w.h.Board, 1, 1)
	require.NoError(w.t, err)
	require.Equal(w.t, w.h.Model.Seq(), now.Seq)
	if w.seq == now.Seq {
		return
	}
	w.wait(func(e any) bool {
		c, ok := e.(*feed.Changes)
		if !ok || c.Board != w.h.Board {
			return false // of a history that failed
		}
		require.Equal(w.t, w.seq+1, c.Seq)
		for i, change := range c.List {
			w.told(c.Seq+int64(i), change)
		}
		if rapid.Bool().Draw(w.t, "one by one") {
			for i := range c.List {
				one := *c
				one.Seq, one.List = c.Seq+int64(i), c.List[i:i+1]
				w.apply(&one)
			}
		} else {
			w.apply(c)
		}
		w.seq = c.Last()
		return w.seq >= now.Seq
	})
	require.Equal(w.t, now.Seq, w.seq)
}

// told checks the place that a change tells.
func (w *witness) told(seq int64, c feed.Change) {
	board := w.h.Model.At(seq)
	i := slices.IndexFunc(board, func(e ranking.Entry) bool { return e.Member == c.Member })
	require.Equal(w.t, c.New != nil, i >= 0, "%q at seq %d", c.Member, seq)
	if i >= 0 {
		require.Equal(w.t, [2]int64{board[i].Rank, int64(i) + 1}, [2]int64{c.Rank, c.Position}, "%q at seq %d", c.Member, seq)
		require.Equal(w.t, board[i].Data, c.Data)
	}
}

func (w *witness) apply(c *feed.Changes) {
	sure := w.v.sure
	w.v.Apply(c)
	require.Equal(w.t, sure, w.v.sure, "%+v makes the view unsure", c)
	w.holds()
}

// ask reads what the view needs.
func (w *witness) ask() {
	ctx := context.Background()
	if w.v.NeedsPage() {
		w.v.PageAsked()
		p, err := w.s.Page(ctx, w.h.Board, 1, w.v.Window())
		require.NoError(w.t, err)
		w.page = &p
	}
	if l := w.v.Lookups(); l != nil {
		p, err := w.s.Places(ctx, w.h.Board, l)
		require.NoError(w.t, err)
		w.places = &p
	}
}

// answer gives the view what was read, which may be of a while ago.
func (w *witness) answer() {
	if w.page != nil {
		require.True(w.t, w.v.PageRead(*w.page), "the view was wrong")
		w.page = nil
		w.holds()
	}
	if w.places != nil {
		require.True(w.t, w.v.PlacesRead(*w.places), "the view was wrong")
		w.places = nil
		w.holds()
	}
}

// holds checks all that the view knows at its seq against the model.
func (w *witness) holds() {
	w.v.Own()
	w.v.Found()
	if !w.v.sure {
		return
	}
	board := w.h.Model.At(w.v.State().Seq)
	require.EqualValues(w.t, len(board), w.v.Total())
	top := w.v.Top(len(board))
	require.Equal(w.t, board[:len(top)], rankingtest.Unkeyed(top))
	w.v.Each(func(f *Followed) {
		if !f.known {
			return
		}
		i := slices.IndexFunc(board, func(e ranking.Entry) bool { return e.Member == f.member })
		s := w.v.Standing(f)
		require.EqualValues(w.t, i+1, s.Position, "of %q", f.member)
		if i < 0 {
			require.Zero(w.t, s.Entry.Rank)
			return
		}
		require.Equal(w.t, [2]int64{board[i].Rank, board[i].Score}, [2]int64{s.Entry.Rank, s.Entry.Score}, "of %q", f.member)
		if s.Around != nil && f.around > 0 {
			near := board[max(0, i-f.around):min(len(board), i+f.around+1)]
			require.Equal(w.t, near, rankingtest.Unkeyed(s.within(f.around)), "around %q", f.member)
		}
	})
}

// settle has the view learn all that it wants to know. Then it is what the scripts
// answer, keys included, and these are what the model says, for every member.
func (w *witness) settle() {
	t, ctx := w.t, context.Background()
	for range 3 {
		w.v.Each(w.v.Ask)
		w.ask()
		w.answer()
	}
	require.True(t, w.v.sure && !w.v.NeedsPage())
	require.Nil(t, w.v.Lookups())

	page, err := w.s.Page(ctx, w.h.Board, 1, 100)
	require.NoError(t, err)
	require.Equal(t, page.State, w.v.State())
	board := w.h.Model.At(page.Seq)
	require.Equal(t, board, rankingtest.Unkeyed(page.Entries))
	top := w.v.Top(len(board))
	require.GreaterOrEqual(t, len(top), min(w.v.want, len(board)))
	require.Equal(t, page.Entries[:len(top)], top)

	var lookups []ranking.Lookup
	for _, member := range w.members {
		lookups = append(lookups, ranking.Lookup{Member: member, Around: 5})
	}
	places, err := w.s.Places(ctx, w.h.Board, lookups)
	require.NoError(t, err)
	require.Equal(t, page.State, places.State)
	for i, member := range w.members {
		w.placed(member, places.List[i], page.Entries)
	}
	if len(page.Entries) > 0 {
		w.reached(rapid.SampledFrom(page.Entries).Draw(t, "whose score is reached"), page.Entries)
	}
}

// placed compares what the three say of a member; all is the board, keys included.
func (w *witness) placed(member string, p ranking.Place, all []ranking.Entry) {
	i := slices.IndexFunc(all, func(e ranking.Entry) bool { return e.Member == member })
	want := ranking.Place{Entry: ranking.Entry{Member: member}}
	if i >= 0 {
		want = ranking.Place{Entry: all[i], Position: int64(i) + 1, Around: all[max(0, i-5):min(len(all), i+6)]}
		for j, e := range all {
			if e.Rank > all[i].Rank || !w.ties.Tied() && j > i {
				want.Below++
			}
		}
	}
	require.Equal(w.t, want, p)
	f := w.v.Following(member)
	if f == nil {
		return
	}
	require.True(w.t, f.known, "%q is followed", member)
	s := w.v.Standing(f)
	want.Entry.Data = "" // which is not kept of those who follow
	require.Equal(w.t, want.Entry, s.Entry)
	require.Equal(w.t, want.Position, s.Position)
	if i >= 0 && f.around > 0 {
		require.Equal(w.t, all[max(0, i-f.around):min(len(all), i+f.around+1)], s.within(f.around))
	}
}

// reached compares what rank the score of an entry would give who reaches it now.
func (w *witness) reached(e ranking.Entry, all []ranking.Entry) {
	at, err := w.s.At(context.Background(), w.h.Board, e.Score, nil, 0)
	require.NoError(w.t, err)
	rank := e.Rank
	if !w.ties.Tied() { // the first of those who have the score, or past the last
		same := func(o ranking.Entry) bool { return o.Score == e.Score }
		rank = all[slices.IndexFunc(all, same)].Rank
		for w.ties == definition.First && int(rank) <= len(all) && same(all[rank-1]) {
			rank++
		}
	}
	require.Equal(w.t, rank, at.Rank, "of the score %d", e.Score)
}
