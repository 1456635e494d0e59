package faults

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
	"rankcast/server/client"
)

// watcher watches a board with the Go client until the end of the test.
type watcher struct {
	board string
	watch client.Watch

	mu    sync.Mutex
	shown client.Board
	away  int // how often the connection was lost
}

// watch starts a watcher.
func watch(t testing.TB, c *client.Client, board string, what client.Watch) *watcher {
	w := &watcher{board: board, watch: what}
	ctx, cancel := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	watching.Go(func() {
		if err := c.Watch(ctx, board, what, w.show); ctx.Err() == nil {
			t.Errorf("watch board %s: %v", board, err)
		}
	})
	t.Cleanup(func() {
		cancel()
		redistest.Wait(t, "the end of watching", watching.Wait)
	})
	return w
}

func (w *watcher) show(b client.Board) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if b.State == client.Away && w.shown.State != client.Away {
		w.away++
	}
	w.shown = b
}

func (w *watcher) timesAway() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.away
}

// shows returns an error unless the watcher is live, and its top, total, own entry and neighbours are
// those of the whole board.
func (w *watcher) shows(all []client.Entry) error {
	w.mu.Lock()
	b := w.shown
	w.mu.Unlock()
	what := fmt.Sprintf("board %s, top %d, me %s, around %d", w.board, w.watch.Top, w.watch.Me, w.watch.Around)
	if b.State != client.Live {
		return fmt.Errorf("%s: %s (%v)", what, b.State, b.Err)
	}
	if err := sameEntries(b.Top, all[:min(len(all), w.watch.Top)]); err != nil {
		return fmt.Errorf("%s: top: %w", what, err)
	}
	if b.Total != int64(len(all)) {
		return fmt.Errorf("%s: a total of %d; want %d", what, b.Total, len(all))
	}
	if b.Me == nil {
		return fmt.Errorf("%s: no own entry", what)
	}
	at := slices.IndexFunc(all, func(e client.Entry) bool { return e.Member == w.watch.Me })
	switch {
	case at < 0 && b.Me.Rank == nil:
		return nil
	case at < 0 || b.Me.Rank == nil || *b.Me.Rank != all[at].Rank || *b.Me.Score != all[at].Score:
		return fmt.Errorf("%s: own entry %+v; want index %d", what, b.Me, at)
	case w.watch.Around == 0:
		return nil
	}
	if err := sameEntries(b.Me.Around, all[max(0, at-w.watch.Around):min(len(all), at+w.watch.Around+1)]); err != nil {
		return fmt.Errorf("%s: around: %w", what, err)
	}
	return nil
}

// newClient makes a client of the server at addr that never sends an update again by itself: the load
// counts each attempt.
func newClient(t testing.TB, addr string) *client.Client {
	c, err := client.New("http://"+addr, client.Config{RetryFor: -1})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// entriesOf turns a board's sorted set into its entries: a plain second reading of what the sort key
// means. sign is 1 where the lower score ranks higher, and -1 otherwise. Equal scores of a board with
// shared ties have one rank.
func entriesOf(set []redis.Z, sign int64, shared bool) []client.Entry {
	entries := make([]client.Entry, len(set))
	for i, z := range set {
		entries[i] = client.Entry{Rank: int64(i) + 1, Member: z.Member.(string), Score: sign * int64(math.Floor(z.Score))}
		if shared && i > 0 && entries[i].Score == entries[i-1].Score {
			entries[i].Rank = entries[i-1].Rank
		}
	}
	return entries
}

// scoresOf is the score of each member.
func scoresOf(entries []client.Entry) map[string]int64 {
	scores := make(map[string]int64, len(entries))
	for _, e := range entries {
		scores[e.Member] = e.Score
	}
	return scores
}

// sameEntries returns an error for the first entry that differs.
func sameEntries(got, want []client.Entry) error {
	for i := range min(len(got), len(want)) {
		g, w := got[i], want[i]
		if g.Rank != w.Rank || g.Member != w.Member || g.Score != w.Score {
			return fmt.Errorf("entry %d is %d %s %d; want %d %s %d", i, g.Rank, g.Member, g.Score, w.Rank, w.Member, w.Score)
		}
	}
	if len(got) != len(want) {
		return fmt.Errorf("%d entries; want %d", len(got), len(want))
	}
	return nil
}
