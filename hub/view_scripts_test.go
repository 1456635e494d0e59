package hub

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/hub/view"
	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/feed"
	"rankcast/ranking/proptest"
	"rankcast/ranking/rankingtest"
	"rankcast/ranking/redistest"
)

// The scripts, the view and the model agree: through any history of a board of any
// definition, hidden members included, at each published seq, on the first entries and on
// each member. On a cluster, where each shard has a master of its own, that is so for boards with shards.
func TestScriptsViewAndModelAgree(t *testing.T) {
	t.Parallel()
	var members []string
	for i := range 30 {
		members = append(members, fmt.Sprintf("m%02d", i))
	}
	agree := func(t *testing.T, url string, families map[string]definition.Board) {
		rdb := redistest.Dial(t, url)
		s := ranking.New(rdb, ranking.Config{CallTimeout: redistest.CallTimeout})
		t.Cleanup(s.Close)
		require.NoError(t, s.Define(t.Context(), definition.Set{Boards: slices.Collect(maps.Values(families))}))
		changes, events := runFeed(t, url)
		runs := 0
		for _, name := range slices.Sorted(maps.Keys(families)) {
			t.Run(name, func(t *testing.T) {
				proptest.CheckSeeded(t, redistest.Volume(url, 12), func(t *rapid.T) {
					runs++
					h := rankingtest.NewHistory(t, s, rdb, families[name], runs, members)
					w := &scriptsComparison{t: t, s: s, h: h, heard: events, ties: families[name].Ties, members: members,
						want: rapid.IntRange(0, 4).Draw(t, "want"), channels: ranking.ShardNames(h.Board, h.Model.Definition().Shards)}
					w.seqs = make([]int64, len(w.channels))
					for _, channel := range w.channels {
						changes.Watch(channel)
						defer changes.Unwatch(channel)
					}
					w.v = view.New(w.want)
					left := len(w.channels)
					w.wait(func(e any) bool {
						if name, is := e.(subscribedTo); is && slices.Contains(w.channels, string(name)) {
							left--
						}
						return left == 0
					})
					w.run()
				})
			})
		}
	}
	const limit = 20 // more than the entries of a view of none
	redistest.Engines(t, func(t *testing.T, url string) { agree(t, url, rankingtest.Families(limit)) })
	t.Run("cluster", func(t *testing.T) {
		t.Parallel()
		families := rankingtest.Families(limit)
		maps.DeleteFunc(families, func(_ string, d definition.Board) bool { return d.Shards == 0 })
		agree(t, redistest.StartCluster(t).URL, families)
	})
}

// receivedChanges passes on the events of a feed.
type receivedChanges chan any

// subscribedTo is the event that a board's changes are delivered from now on.
type subscribedTo string

func (h receivedChanges) FeedUp()                  {}
func (h receivedChanges) FeedDown(time.Time)       { h <- errors.New("the feed went down") }
func (h receivedChanges) FeedUnfollowed(time.Time) {}
func (h receivedChanges) FeedUnsubscribed(string, time.Time) {
	h <- errors.New("the feed lost the board")
}
func (h receivedChanges) FeedSubscribed(board string) { h <- subscribedTo(board) }
func (h receivedChanges) FeedChanges(c *feed.Changes) { h <- c }
func (h receivedChanges) FeedFollowed(string)         {}
func (h receivedChanges) FeedItems(string, [][]byte)  {}
func (h receivedChanges) FeedProfile(string, string)  {}

// wait takes events of a board until one is the expected one.
func (h receivedChanges) wait(t *rapid.T, board string, until func(any) bool) {
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
			t.Fatalf("the messages of %s do not arrive", board)
		}
	}
}

// scriptsComparison applies a history to a view, and compares scripts, view and model.
type scriptsComparison struct {
	t       *rapid.T
	s       *ranking.Store
	h       *rankingtest.History
	heard   receivedChanges
	ties    definition.Ties
	members []string
	want    int // entries of v
	v       *view.View

	channels []string // of the board, or of its shards
	seqs     []int64  // of the last event of each

	page   *ranking.Page // read, and not yet applied
	places *ranking.Places
}

func (w *scriptsComparison) run() {
	for _, member := range w.members {
		if around := rapid.SampledFrom([]int{-1, -1, 0, 0, 1, 2, 5}).Draw(w.t, "followed with around"); around >= 0 {
			w.v.Follow(member, around)
		}
	}
	if n := rapid.IntRange(0, len(w.members)).Draw(w.t, "members at first"); n > 0 {
		w.h.Fill(w.members[:n])
		w.receive()
	}
	for range rapid.IntRange(1, 8).Draw(w.t, "calls") {
		w.v.EachMember(w.v.RequestLookup)
		w.v.Sample(len(w.members)) // lookups compare known members, too
		w.ask()
		if rapid.Bool().Draw(w.t, "answered at once") {
			w.answer()
		}
		w.h.Call()
		w.receive()
		w.answer()
		if rapid.IntRange(0, 2).Draw(w.t, "settle") > 0 {
			w.settle()
		}
	}
	w.settle()
	w.h.Read()
}

// wait takes events until one is the expected one.
func (w *scriptsComparison) wait(until func(any) bool) {
	w.heard.wait(w.t, w.h.Board, until)
}

// receive applies all published changes to the view, batch by batch or change by change,
// and checks the view at each seq.
func (w *scriptsComparison) receive() {
	now, err := w.s.Page(context.Background(), w.h.Board, 1, 1)
	require.NoError(w.t, err)
	require.Equal(w.t, w.h.Model.Seq(), now.Seq)
	arrived := func() bool { return sum(w.seqs) >= now.Seq }
	if arrived() {
		return
	}
	w.wait(func(e any) bool {
		c, ok := e.(*feed.Changes)
		if !ok || !slices.Contains(w.channels, c.Board) {
			return false // of a history that failed
		}
		require.Equal(w.t, w.seqs[c.Shard]+1, c.Seq)
		for i, change := range c.List {
			w.changeHolds(c.Seq+int64(i), change)
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
		w.seqs[c.Shard] = c.Last()
		return arrived()
	})
	require.Equal(w.t, now.Seq, sum(w.seqs))
	w.holds()
}

func sum(numbers []int64) (all int64) {
	for _, n := range numbers {
		all += n
	}
	return all
}

// isSharded reports whether the board has shards. Their changes arrive in any order, so the model knows the board at the last seq only.
func (w *scriptsComparison) isSharded() bool { return len(w.channels) > 1 }

// changeHolds checks the place that a change says.
func (w *scriptsComparison) changeHolds(seq int64, c feed.Change) {
	if w.isSharded() {
		return
	}
	board := w.h.Model.At(seq)
	i := slices.IndexFunc(board, func(e ranking.Entry) bool { return e.Member == c.Member })
	require.Equal(w.t, c.New != nil, i >= 0, "%q at seq %d", c.Member, seq)
	if i >= 0 {
		require.Equal(w.t, [2]int64{board[i].Rank, int64(i) + 1}, [2]int64{c.Rank, c.Position}, "%q at seq %d", c.Member, seq)
		require.Equal(w.t, board[i].Data, c.Data)
	}
}

func (w *scriptsComparison) apply(c *feed.Changes) {
	valid := w.v.Valid()
	w.v.Apply(c)
	require.Equal(w.t, valid, w.v.Valid(), "%+v makes the view invalid", c)
	w.holds()
}

// ask reads what the view needs.
func (w *scriptsComparison) ask() {
	ctx := context.Background()
	if w.v.NeedsPage() {
		w.v.BeginPage()
		p, err := w.s.Page(ctx, w.h.Board, 1, w.v.PageSize())
		require.NoError(w.t, err)
		w.page = &p
	}
	if l := w.v.BeginLookups(); l != nil {
		p, err := w.s.Places(ctx, w.h.Board, l)
		require.NoError(w.t, err)
		w.places = &p
	}
}

// answer applies what was read, which may be old by now.
func (w *scriptsComparison) answer() {
	if w.page != nil {
		require.True(w.t, w.v.ApplyPage(*w.page), "the view was wrong")
		w.page = nil
		w.holds()
	}
	if w.places != nil {
		require.True(w.t, w.v.ApplyLookups(*w.places), "the view was wrong")
		w.places = nil
		w.holds()
	}
}

// holds checks all that the view knows against the model.
func (w *scriptsComparison) holds() {
	w.v.TakeMoved()
	w.v.TakeFound()
	if !w.v.Valid() {
		return
	}
	board := w.h.Model.At(w.v.State().Seq)
	if w.isSharded() {
		if w.v.State().Seq != w.h.Model.Seq() {
			return
		}
		p, err := w.s.Page(context.Background(), w.h.Board, 1, 100)
		require.NoError(w.t, err)
		board = w.h.Ordered(board, p.Entries)
	}
	require.EqualValues(w.t, len(board), w.v.Total())
	top := w.v.Top(len(board))
	require.Equal(w.t, board[:len(top)], rankingtest.Unkeyed(top))
	w.v.EachMember(func(f *view.Member) {
		if !f.Known() {
			return
		}
		i := slices.IndexFunc(board, func(e ranking.Entry) bool { return e.Member == f.Name() })
		s := w.v.Standing(f)
		require.EqualValues(w.t, i+1, s.Position, "of %q", f.Name())
		if i < 0 {
			require.Zero(w.t, s.Entry.Rank)
			return
		}
		require.Equal(w.t, [2]int64{board[i].Rank, board[i].Score}, [2]int64{s.Entry.Rank, s.Entry.Score}, "of %q", f.Name())
		if s.Around != nil && f.Around() > 0 {
			near := board[max(0, i-f.Around()):min(len(board), i+f.Around()+1)]
			require.Equal(w.t, near, rankingtest.Unkeyed(s.NeighboursWithin(f.Around())), "around %q", f.Name())
		}
	})
}

// settle completes the view. Then the view equals the scripts' answers, keys included, and
// these equal the model, for each member.
func (w *scriptsComparison) settle() {
	t, ctx := w.t, context.Background()
	for range 3 {
		w.v.EachMember(w.v.RequestLookup)
		w.ask()
		w.answer()
	}
	require.True(t, w.v.Valid() && !w.v.NeedsPage())
	require.Nil(t, w.v.BeginLookups())

	page, err := w.s.Page(ctx, w.h.Board, 1, 100)
	require.NoError(t, err)
	state := page.State
	if state.Seq == 0 && w.v.State().Epoch == "" {
		// Hidden members alone have written. No change has told the epoch, and the view shows
		// the empty board that it read before.
		state.Epoch = ""
	}
	if w.isSharded() {
		states := slices.Clone(page.Shards)
		for i, is := range w.v.States() {
			if states[i].Seq == 0 && is.Epoch == "" {
				states[i].Epoch = "" // likewise
			}
		}
		require.Equal(t, states, w.v.States())
	} else {
		require.Equal(t, state, w.v.State())
	}
	board := w.h.Ordered(w.h.Model.At(page.Seq), page.Entries)
	require.Equal(t, board, rankingtest.Unkeyed(page.Entries))
	top := w.v.Top(len(board))
	require.GreaterOrEqual(t, len(top), min(w.want, len(board)))
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
func (w *scriptsComparison) placed(member string, p ranking.Place, all []ranking.Entry) {
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
	f := w.v.Member(member)
	if f == nil {
		return
	}
	require.True(w.t, f.Known(), "%q is followed", member)
	s := w.v.Standing(f)
	want.Entry.Data = "" // the view does not keep the data of members
	require.Equal(w.t, want.Entry, s.Entry)
	require.Equal(w.t, want.Position, s.Position)
	if i >= 0 && f.Around() > 0 {
		require.Equal(w.t, all[max(0, i-f.Around()):min(len(all), i+f.Around()+1)], s.NeighboursWithin(f.Around()))
	}
}

// reached compares the rank that a member would get if it reached the score of an entry
// now.
func (w *scriptsComparison) reached(e ranking.Entry, all []ranking.Entry) {
	at, err := w.s.At(context.Background(), w.h.Board, e.Score, nil, 0)
	require.NoError(w.t, err)
	rank := e.Rank
	if !w.ties.Tied() { // the first member with that score, or past the last
		same := func(o ranking.Entry) bool { return o.Score == e.Score }
		rank = all[slices.IndexFunc(all, same)].Rank
		for w.ties == definition.First && int(rank) <= len(all) && same(all[rank-1]) { // behind all of them
			rank++
		}
	}
	require.Equal(w.t, rank, at.Rank, "of the score %d", e.Score)
}

// A view that follows the changes of a live window equals a fresh read: while updates
// arrive, and while points leave one by one or all at once.
func TestFollowedWindowEqualsAFreshRead(t *testing.T) {
	t.Parallel()
	url, set := redistest.Clocked(t)
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	set(now)
	rdb := redistest.Dial(t, url)
	s := ranking.New(rdb, ranking.Config{CallTimeout: redistest.CallTimeout})
	t.Cleanup(s.Close)
	changes, events := runFeed(t, url)
	var members []string
	for i := range 12 {
		members = append(members, fmt.Sprintf("m%02d", i))
	}
	runs := 0
	for _, order := range []definition.Order{definition.Desc, definition.Asc} {
		for _, ties := range []definition.Ties{definition.First, definition.Shared, definition.Dense, definition.ByMember} {
			family := definition.Board{Name: fmt.Sprintf("%s-%s:{n}", order, ties), Order: order, Ties: ties, Window: time.Minute,
				Refresh: definition.Live}
			require.NoError(t, s.DefineBoard(t.Context(), family, ranking.Moderator{}))
			t.Run(string(order)+" "+string(ties), func(t *testing.T) {
				proptest.CheckSeeded(t, 25, func(t *rapid.T) {
					runs++
					board := fmt.Sprintf("%s-%s:%d", order, ties, runs)
					changes.Watch(board)
					defer changes.Unwatch(board)
					w := &windowComparison{t: t, s: s, board: board, heard: events, want: rapid.IntRange(1, 4).Draw(t, "want")}
					w.v = view.New(w.want)
					w.heard.wait(t, board, func(e any) bool { return e == subscribedTo(board) })
					for _, m := range members[:rapid.IntRange(0, 6).Draw(t, "followed")] {
						w.v.Follow(m, 0)
					}
					w.read()
					for range rapid.IntRange(1, 12).Draw(t, "steps") {
						if rapid.Bool().Draw(t, "time passes") {
							now = now.Add(time.Duration(rapid.SampledFrom([]int{1, 500, 20_000, 61_000}).Draw(t, "ms")) * time.Millisecond)
							set(now)
							_, err := s.Page(context.Background(), "desc-first:0", 1, 1) // the store reads the clock
							require.NoError(t, err)
						} else {
							updates := make([]definition.Update, rapid.IntRange(1, 5).Draw(t, "updates"))
							for i := range updates {
								updates[i] = definition.Update{Member: rapid.SampledFrom(members).Draw(t, "member"),
									Score: rapid.Int64Range(-2, 3).Draw(t, "score")}
							}
							_, err := s.Apply(context.Background(), board, updates)
							require.NoError(t, err)
						}
						w.read()
					}
				})
			})
		}
	}
}

// windowComparison follows a window with a view, and compares it with fresh reads.
type windowComparison struct {
	t     *rapid.T
	s     *ranking.Store
	board string
	heard receivedChanges
	want  int // entries of v
	v     *view.View
}

// read brings the view to the state of a fresh read, and compares them.
func (w *windowComparison) read() {
	ctx := context.Background()
	fresh, err := w.s.Page(ctx, w.board, 1, 100)
	require.NoError(w.t, err)
	replaced := false
	for !replaced && w.v.State() != fresh.State {
		w.heard.wait(w.t, w.board, func(e any) bool {
			c, ok := e.(*feed.Changes)
			if !ok || c.Board != w.board {
				return false // of a history that failed
			}
			w.v.Apply(c)
			replaced = c.Epoch == fresh.Epoch && !w.v.Valid() // the board became empty, or begins
			return true
		})
	}
	for w.v.NeedsPage() {
		w.v.BeginPage()
		p, err := w.s.Page(ctx, w.board, 1, w.v.PageSize())
		require.NoError(w.t, err)
		w.v.ApplyPage(p)
	}
	for {
		w.v.EachMember(w.v.RequestLookup)
		lookups := w.v.BeginLookups()
		if lookups == nil {
			break
		}
		p, err := w.s.Places(ctx, w.board, lookups)
		require.NoError(w.t, err)
		w.v.ApplyLookups(p)
	}
	require.Equal(w.t, fresh.State, w.v.State())
	require.EqualValues(w.t, fresh.Total, w.v.Total())
	top := w.v.Top(len(fresh.Entries))
	require.GreaterOrEqual(w.t, len(top), min(w.want, len(fresh.Entries)))
	require.Equal(w.t, fresh.Entries[:len(top)], top)
	w.v.EachMember(func(f *view.Member) {
		want := ranking.Entry{Member: f.Name()}
		for _, e := range fresh.Entries {
			if e.Member == f.Name() {
				want = e
			}
		}
		require.Equal(w.t, want, w.v.Standing(f).Entry)
	})
}
