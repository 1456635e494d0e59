package hub

import (
	"context"
	"fmt"
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

// A view that is told of a live window's changes alone is what a fresh read gives: as
// updates come, and as points leave one by one, or all at once.
func TestAWindowFollowedIsAFreshRead(t *testing.T) {
	rankingtest.Seeded(t, 25)
	url, set := redistest.Clocked(t)
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	set(now)
	rdb, err := ranking.Open(url)
	require.NoError(t, err)
	redistest.Patient(rdb)
	t.Cleanup(func() { rdb.Close() })
	s := ranking.New(rdb, ranking.Config{CallTimeout: redistest.CallTimeout})
	t.Cleanup(s.Close)
	feed, heard := hearFeed(t, url)
	var members []string
	for i := range 12 {
		members = append(members, fmt.Sprintf("m%02d", i))
	}
	runs := 0
	for _, order := range []definition.Order{definition.Desc, definition.Asc} {
		for _, ties := range []definition.Ties{definition.First, definition.Shared, definition.Dense, definition.ByMember} {
			family := definition.Board{Name: fmt.Sprintf("%s-%s:{n}", order, ties), Order: order, Ties: ties, Window: time.Minute, Refresh: definition.Live}
			require.NoError(t, s.DefineBoard(t.Context(), family))
			t.Run(string(order)+" "+string(ties), func(t *testing.T) {
				rapid.Check(t, func(t *rapid.T) {
					runs++
					board := fmt.Sprintf("%s-%s:%d", order, ties, runs)
					feed.Watch(board)
					defer feed.Unwatch(board)
					w := &windowWitness{t: t, s: s, board: board, heard: heard, v: NewView(rapid.IntRange(1, 4).Draw(t, "want"))}
					w.heard.wait(t, board, func(e any) bool { return e == watched(board) })
					for _, m := range members[:rapid.IntRange(0, 6).Draw(t, "followed")] {
						w.v.Follow(m, 0)
					}
					w.read()
					for range rapid.IntRange(1, 12).Draw(t, "steps") {
						if rapid.Bool().Draw(t, "time passes") {
							now = now.Add(time.Duration(rapid.SampledFrom([]int{1, 500, 20_000, 61_000}).Draw(t, "ms")) * time.Millisecond)
							set(now)
							_, err := s.Page(context.Background(), "desc-first:0", 1, 1) // by which it hears what time it is
							require.NoError(t, err)
						} else {
							updates := make([]definition.Update, rapid.IntRange(1, 5).Draw(t, "updates"))
							for i := range updates {
								updates[i] = definition.Update{Member: rapid.SampledFrom(members).Draw(t, "member"), Score: rapid.Int64Range(-2, 3).Draw(t, "score")}
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

// windowWitness has a view follow a board, and compares it with what is read.
type windowWitness struct {
	t     *rapid.T
	s     *ranking.Store
	board string
	heard changesHeard
	v     *View
}

// read brings the view to the state that a read tells of, and compares them.
func (w *windowWitness) read() {
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
			replaced = c.Epoch == fresh.Epoch && !w.v.sure // nothing of it is left, or it is the first
			return true
		})
	}
	for w.v.NeedsPage() {
		w.v.PageAsked()
		p, err := w.s.Page(ctx, w.board, 1, w.v.Window())
		require.NoError(w.t, err)
		w.v.PageRead(p)
	}
	for {
		w.v.Each(w.v.Ask)
		lookups := w.v.Lookups()
		if lookups == nil {
			break
		}
		p, err := w.s.Places(ctx, w.board, lookups)
		require.NoError(w.t, err)
		w.v.PlacesRead(p)
	}
	require.Equal(w.t, fresh.State, w.v.State())
	require.EqualValues(w.t, fresh.Total, w.v.Total())
	top := w.v.Top(len(fresh.Entries))
	require.GreaterOrEqual(w.t, len(top), min(w.v.want, len(fresh.Entries)))
	require.Equal(w.t, fresh.Entries[:len(top)], top)
	w.v.Each(func(f *Followed) {
		want := ranking.Entry{Member: f.member}
		for _, e := range fresh.Entries {
			if e.Member == f.member {
				want = e
			}
		}
		require.Equal(w.t, want, w.v.Standing(f).Entry)
	})
}
