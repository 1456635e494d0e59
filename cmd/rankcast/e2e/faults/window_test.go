package faults

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/hub/hubtest"
	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// A node is killed while it builds the result of a window, half of which lies aside. The
// other shows the whole old result, or none for as long as it waits for the dead one's
// lease, and then the whole new one; what was begun goes.
func TestWindowOutlivesItsBuilder(t *testing.T) {
	t.Parallel()
	const members, page = 20_000, 1000
	redis := redistest.Start(t)
	proxy := redistest.StartProxy(t, redis.URL())
	dies, stays := e2etest.Launch(t, "--redis", proxy.URL()), e2etest.Launch(t, "--redis", redis.URL())
	dies.Ready()
	stays.Ready()
	answer := servertest.Request(t, "PUT", "http://"+stays.Addr+"/v1/boards/hot", `{"window":"3h","refresh":"1s"}`)
	require.Less(t, answer.Status, 300, answer.Body)
	member := func(i int) string { return fmt.Sprintf("m%05d", i) }
	rdb := redistest.Dial(t, redis.URL())
	store := ranking.New(rdb, ranking.Config{CallTimeout: redistest.CallTimeout})
	defer store.Close()
	load := func() {
		for first := 0; first < members; first += page {
			updates := make([]definition.Update, page)
			for i := range updates {
				updates[i] = definition.Update{Member: member(first + i), Score: 1}
			}
			outcomes, err := store.Apply(t.Context(), "hot", updates)
			require.NoError(t, err)
			for _, o := range outcomes {
				require.NoError(t, o.Err)
			}
		}
	}
	// shown is the score that all have, whatever is read of them.
	shown := func() (score int64, err error) {
		a := servertest.Request(t, "GET", fmt.Sprintf("http://%s/v1/boards/hot/top?limit=%d", stays.Addr, page), "")
		if a.Status != 200 {
			require.Equal(t, 503, a.Status, a.Body)
			return 0, fmt.Errorf("%s", a.Body)
		}
		var body struct {
			Top   []hubtest.Entry
			Total int64
		}
		a.Into(&body)
		require.EqualValues(t, members, body.Total)
		require.Len(t, body.Top, page)
		for _, e := range body.Top {
			require.Equal(t, body.Top[0].Score, e.Score, e.Member)
		}
		return body.Top[0].Score, nil
	}
	until := func(want int64) {
		t.Helper()
		redistest.Eventually(t, "the result", func() error {
			score, err := shown()
			if err == nil && score != want {
				require.Equal(t, want-1, score)
				err = fmt.Errorf("it is still the old one")
			}
			return err
		})
	}
	load()
	until(1)
	load()

	// What it sends of those in the middle does not arrive, and nothing after that.
	proxy.Hold(member(members/2), member(members/2+1), member(members/2+2))
	var readers sync.WaitGroup
	redistest.Eventually(t, "a build", func() error {
		readers.Go(func() { servertest.Try(t, "GET", "http://"+dies.Addr+"/v1/boards/hot/top", "") })
		if proxy.Held() == 0 {
			return fmt.Errorf("it has not begun")
		}
		return nil
	})
	dies.Kill()
	redistest.Wait(t, "the callers of the test", readers.Wait)
	db := redis.Admin()
	const lock, aside, distinct = "rc:{hot}::bl", "rc:{hot}::b", "rc:{hot}::bd"
	lease := db.PTTL(t.Context(), lock).Val()
	require.Positive(t, lease)
	require.LessOrEqual(t, lease, 10*time.Second)
	begun := db.ZCard(t.Context(), aside).Val()
	require.Positive(t, begun)
	require.Less(t, begun, int64(members))
	scores := db.ZRangeWithScores(t.Context(), "rc:{hot}::z", 0, -1).Val()
	require.Len(t, scores, members)
	for _, row := range slices.Concat(scores[:1], scores[members-1:]) {
		require.InDelta(t, -0.5, row.Score, 0.5)
	}
	until(2)
	redistest.Eventually(t, "what was begun to go", func() error {
		if n := db.Exists(t.Context(), lock, aside, distinct).Val(); n > 0 {
			return fmt.Errorf("there are %d keys", n)
		}
		return nil
	})
}
