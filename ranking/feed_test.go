package ranking_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/feed"
	"rankcast/ranking/redistest"
)

func TestFeedTellsChanges(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s := open(t, url, definition.Board{Name: "b", Ties: definition.ByMember}, definition.Board{Name: "other"})
		f, heard := follow(t, url, 0)
		next[up](t, heard)
		f.Watch("b")
		require.EqualValues(t, "b", next[subscribed](t, heard))

		before := s.Now()
		must(s.Apply(t.Context(), "b", []definition.Update{
			{Member: "a", Score: 3}, {Member: "b", Score: 5}, {Member: "a", Score: 0}, {Member: "a", Score: 4},
		}))(t)
		applyOne(t, s, "other", definition.Update{Member: "x", Score: 1})
		must(s.Remove(t.Context(), "b", "b"))(t)

		c := next[*feed.Changes](t, heard)
		require.NotEmpty(t, c.Epoch)
		require.Equal(t, &feed.Changes{Board: "b", Epoch: c.Epoch, Seq: 1, At: c.At, Received: c.Received, List: []feed.Change{
			{Member: "a", New: key(-3), Rank: 1, Position: 1},
			{Member: "b", New: key(-5), Rank: 1, Position: 1},
			{Member: "a", Old: key(-3), New: key(-7), Rank: 1, Position: 1},
		}}, c)
		removed := next[*feed.Changes](t, heard)
		require.Equal(t, &feed.Changes{Board: "b", Epoch: c.Epoch, Seq: 4, At: removed.At, Received: removed.Received, List: []feed.Change{
			{Member: "b", Old: key(-5)},
		}}, removed)
		require.True(t, !c.At.Before(before) && c.At.Before(removed.At), "from %s: %s, %s", before, c.At, removed.At)

		require.Equal(t, ranking.State{Epoch: c.Epoch, Seq: 4}, must(s.Page(t.Context(), "b", 1, 10))(t).State)

		f.Unwatch("b")
		f.Watch("b")
		require.EqualValues(t, "b", next[subscribed](t, heard), "watching again is confirmed again")
		f.Watch("b")
		require.EqualValues(t, "b", next[subscribed](t, heard), "each call is confirmed")
		f.Unwatch("b")
		applyOne(t, s, "b", definition.Update{Member: "a", Score: 1})
		require.EqualValues(t, 5, next[*feed.Changes](t, heard).Seq, "one of two has ended")

		f.Unwatch("b")
		rdb := redistest.Dial(t, url)
		redistest.Eventually(t, "the subscription to end", func() error {
			n, err := rdb.PubSubNumSub(t.Context(), channel("b")).Result()
			if err == nil && n[channel("b")] != 0 {
				err = fmt.Errorf("%v", n)
			}
			return err
		})
	})
}

// The items of a feed are told one by one, of no other feed, and none of a
// message that is not understood; boards are told beside them.
func TestFeedTellsItems(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s := open(t, url, definition.Board{Name: "gift"})
		rdb := redistest.Dial(t, url)
		publish := func(feed, message string) int64 {
			return must(rdb.Publish(t.Context(), "rc:{/}:f:"+feed, message).Result())(t)
		}
		f, heard := follow(t, url, 0)
		next[up](t, heard)
		f.Follow("gift")
		require.EqualValues(t, "gift", next[followed](t, heard))
		f.Watch("gift")
		require.EqualValues(t, "gift", next[subscribed](t, heard))

		one, two, three := `{"at":"2026-11-20T06:30:00.000Z","data":{"star":"s]17","n":[1,{}]}}`, `{ "at": "x",  "data": {}}`,
			`{"data":{"é":"\u2028"}}`
		require.Zero(t, publish("other", "["+one+"]"))
		for _, bad := range []string{``, `{}`, `[{"at":1}`, `[{"at":1},2]`, `[{}] [{}]`, `[{"at"}]`, `[[{}]]`, `null`, "a\x1fb"} {
			publish("gift", bad)
		}
		publish("gift", `[]`)
		publish("gift", "["+one+" , "+two+"]")
		applyOne(t, s, "gift", definition.Update{Member: "a", Score: 1})
		publish("gift", "["+three+"]")
		require.EqualValues(t, one, next[item](t, heard), "nothing of what came before")
		require.EqualValues(t, two, next[item](t, heard))
		require.EqualValues(t, 1, next[*feed.Changes](t, heard).Seq)
		require.EqualValues(t, three, next[item](t, heard))

		f.Unfollow("gift")
		f.Follow("gift")
		require.EqualValues(t, "gift", next[followed](t, heard), "following again is confirmed again")
		f.Unfollow("gift")
		redistest.UntilEqual(t, "the subscription to end", 0, func() int64 { return publish("gift", "[]") })
		applyOne(t, s, "gift", definition.Update{Member: "a", Score: 1})
		require.EqualValues(t, 2, next[*feed.Changes](t, heard).Seq, "the board of that name is still watched")
	})
}

// A Redis that is killed and comes back is noticed, and each board that is
// watched and feed that is followed confirmed anew.
func TestFeedComesBack(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	s := open(t, r.URL(), definition.Board{Name: "b"})
	f, heard := follow(t, r.URL(), 0)
	f.Watch("b")
	next[subscribed](t, heard)
	f.Follow("gift")
	next[followed](t, heard)
	r.Kill()
	next[down](t, heard)
	require.False(t, f.Up())
	_, err := s.Apply(t.Context(), "b", []definition.Update{{Member: "a", Score: 1}})
	require.ErrorIs(t, err, definition.ErrUnavailable)
	r.Start()
	next[up](t, heard)
	confirmed := make(map[any]bool) // in whatever order
	for len(confirmed) < 2 {
		switch e := redistest.Receive(t, "a message of the feed", heard).(type) {
		case subscribed, followed:
			confirmed[e] = true
		}
	}
	require.Equal(t, map[any]bool{subscribed("b"): true, followed("gift"): true}, confirmed)
	applyOne(t, s, "b", definition.Update{Member: "a", Score: 1})
	require.EqualValues(t, 1, next[*feed.Changes](t, heard).Seq)
	require.NoError(t, r.Admin().Publish(t.Context(), "rc:{/}:f:gift", `[{"at":""}]`).Err())
	require.EqualValues(t, `{"at":""}`, next[item](t, heard))
}

// A connection that has gone silent without an end is noticed by missed probes.
func TestFeedNoticesSilence(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	p := redistest.StartProxy(t, r.URL())
	s := open(t, r.URL(), definition.Board{Name: "b"})
	f, heard := follow(t, p.URL(), time.Second)
	f.Watch("b")
	next[subscribed](t, heard)
	require.Equal(t, 1, p.Swallow())
	applyOne(t, s, "b", definition.Update{Member: "a", Score: 1})
	next[down](t, heard)
	next[subscribed](t, heard)
	applyOne(t, s, "b", definition.Update{Member: "a", Score: 1})
	require.EqualValues(t, 2, next[*feed.Changes](t, heard).Seq)
}
