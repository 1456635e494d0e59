package ranking_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/redistest"
)

// recorder is a FeedHandler that passes on what it hears.
type recorder chan any

type (
	up         struct{}
	down       struct{}
	subscribed string
)

func (r recorder) FeedUp()                        { r <- up{} }
func (r recorder) FeedDown(time.Time)             { r <- down{} }
func (r recorder) FeedSubscribed(board string)    { r <- subscribed(board) }
func (r recorder) FeedChanges(c *ranking.Changes) { r <- c }

// next waits for an event of type E and passes over others.
func next[E any](t testing.TB, r recorder) E {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		select {
		case e := <-r:
			if e, ok := e.(E); ok {
				return e
			}
		case <-ctx.Done():
			t.Fatalf("no %T was heard", *new(E))
		}
	}
}

// follow runs a feed on a client of its own until the test ends.
func follow(t testing.TB, url string, probe time.Duration) (*ranking.Feed, recorder) {
	rdb, err := ranking.Open(url)
	require.NoError(t, err)
	f := ranking.NewFeed(rdb, slog.New(slog.DiscardHandler), ranking.Config{ProbeInterval: probe})
	heard := make(recorder, 4096)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f.Run(ctx, heard) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("feed ended with %v", err)
		}
		rdb.Close()
	})
	return f, heard
}

func key(k ranking.Key) *ranking.Key { return &k }

func TestFeedTellsChanges(t *testing.T) {
	redistest.Engines(t, func(t *testing.T, url string) {
		s := open(t, url, ranking.Definition{Board: "b", Ties: ranking.ByMember}, ranking.Definition{Board: "other"})
		f, heard := follow(t, url, 0)
		next[up](t, heard)
		f.Watch("b")
		require.EqualValues(t, "b", next[subscribed](t, heard))

		_, err := s.Apply(t.Context(), "b", []ranking.Update{
			{Member: "a", Score: 3}, {Member: "b", Score: 5}, {Member: "a", Score: 0}, {Member: "a", Score: 4},
		})
		require.NoError(t, err)
		applyOne(t, s, "other", ranking.Update{Member: "x", Score: 1})
		_, err = s.Remove(t.Context(), "b", "b")
		require.NoError(t, err)

		c := next[*ranking.Changes](t, heard)
		require.NotEmpty(t, c.Epoch)
		require.Equal(t, &ranking.Changes{Board: "b", Epoch: c.Epoch, Seq: 1, List: []ranking.Change{
			{Member: "a", New: key(-3), Rank: 1},
			{Member: "b", New: key(-5), Rank: 1},
			{Member: "a", Old: key(-3), New: key(-7), Rank: 1},
		}}, c)
		require.Equal(t, &ranking.Changes{Board: "b", Epoch: c.Epoch, Seq: 4, List: []ranking.Change{
			{Member: "b", Old: key(-5)},
		}}, next[*ranking.Changes](t, heard))

		page, err := s.Page(t.Context(), "b", 1, 10)
		require.NoError(t, err)
		require.Equal(t, ranking.State{Epoch: c.Epoch, Seq: 4}, page.State)

		f.Unwatch("b")
		f.Watch("b")
		require.EqualValues(t, "b", next[subscribed](t, heard), "watching again is confirmed again")

		f.Unwatch("b")
		rdb, err := ranking.Open(url)
		require.NoError(t, err)
		defer rdb.Close()
		redistest.Eventually(t, "the subscription to end", func() error {
			n, err := rdb.PubSubNumSub(t.Context(), "rc:{b}:c").Result()
			if err == nil && n["rc:{b}:c"] != 0 {
				err = fmt.Errorf("%v", n)
			}
			return err
		})
	})
}

// A Redis that is killed and comes back is noticed, and each board that is
// watched confirmed anew.
func TestFeedComesBack(t *testing.T) {
	r := redistest.Start(t)
	s := open(t, r.URL(), ranking.Definition{Board: "b"})
	f, heard := follow(t, r.URL(), 0)
	f.Watch("b")
	next[subscribed](t, heard)
	r.Kill()
	next[down](t, heard)
	require.False(t, f.Up())
	_, err := s.Apply(t.Context(), "b", []ranking.Update{{Member: "a", Score: 1}})
	require.ErrorIs(t, err, ranking.ErrUnavailable)
	r.Start()
	next[up](t, heard)
	require.EqualValues(t, "b", next[subscribed](t, heard))
	applyOne(t, s, "b", ranking.Update{Member: "a", Score: 1})
	require.EqualValues(t, 1, next[*ranking.Changes](t, heard).Seq)
}

// A connection that has gone silent without an end is noticed by missed probes.
func TestFeedNoticesSilence(t *testing.T) {
	r := redistest.Start(t)
	p := redistest.StartProxy(t, r.URL())
	s := open(t, r.URL(), ranking.Definition{Board: "b"})
	f, heard := follow(t, p.URL(), 50*time.Millisecond)
	f.Watch("b")
	next[subscribed](t, heard)
	require.Equal(t, 1, p.Swallow())
	applyOne(t, s, "b", ranking.Update{Member: "a", Score: 1})
	next[down](t, heard)
	next[subscribed](t, heard)
	applyOne(t, s, "b", ranking.Update{Member: "a", Score: 1})
	require.EqualValues(t, 2, next[*ranking.Changes](t, heard).Seq)
}

// The names of keys and scripts suit a cluster: writes, reads and changes all
// pass, on boards of all three masters.
func TestCluster(t *testing.T) {
	url, _ := redistest.StartCluster(t)
	boards := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	var defs []ranking.Definition
	for _, b := range boards {
		defs = append(defs, ranking.Definition{Board: b})
	}
	s := open(t, url, defs...)
	f, heard := follow(t, url, 0)
	for _, b := range boards {
		f.Watch(b)
		next[subscribed](t, heard)
		first := applyOne(t, s, b, ranking.Update{Member: "m", Score: 3, ID: "1"})
		require.Equal(t, applied(3, 1, nil), first)
		require.True(t, applyOne(t, s, b, ranking.Update{Member: "m", Score: 3, ID: "1"}).Result.Duplicate)
		c := next[*ranking.Changes](t, heard)
		require.Equal(t, b, c.Board)
		page, err := s.Page(t.Context(), b, 1, 10)
		require.NoError(t, err)
		require.Equal(t, ranking.State{Epoch: c.Epoch, Seq: 1}, page.State)
		require.Len(t, page.Entries, 1)
		_, err = s.Around(t.Context(), b, "m", 2)
		require.NoError(t, err)
	}
	for _, st := range s.States(t.Context(), boards) {
		require.NoError(t, st.Err)
		require.EqualValues(t, 1, st.Seq)
	}
	require.NoError(t, s.Ping(t.Context()))
}
