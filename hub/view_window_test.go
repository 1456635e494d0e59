package hub

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/hub/view"
	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/feed"
	"rankcast/ranking/proptest"
	"rankcast/ranking/redistest"
)

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
