package hub

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
	"rankcast/ranking"
)

// fill gives the board members m000, m001, ... with descending scores, in steps of ten.
func (f *fakeBoard) fill(members int) {
	for i := range members {
		f.set(fmt.Sprintf("m%03d", i), int64(10*(members-i)))
	}
}

// standing is the rank and the score of a member.
func (f *fakeBoard) standing(member string) (rank, score any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.entries() {
		if e.Member == member {
			return e.Rank, e.Score
		}
	}
	return nil, nil
}

// around are the neighbours of a member.
func (f *fakeBoard) around(member string, k int) []hubtest.Entry {
	all := f.top(math.MaxInt)
	at := slices.IndexFunc(all, func(e hubtest.Entry) bool { return e.Member == member })
	if at < 0 {
		return []hubtest.Entry{}
	}
	return all[max(0, at-k):min(len(all), at+k+1)]
}

func TestOwnChangeIsSentAtOnceOthersOnceAnInterval(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		_, conn, _ := follow(t, h, 3, "m100", 0)
		h.FeedSubscribed("b")
		synctest.Wait()
		require.Equal(t, []string{"snapshot", "me"}, conn.take(t))
		meHolds(t, f, conn, "m100", 0)
		pass(3 * time.Second)
		pages, lookups := len(f.pages), len(f.lookups)

		h.FeedChanges(f.set("m150", 1005))
		synctest.Wait()
		require.Equal(t, []string{"me"}, conn.take(t), "after a quiet time at once")
		meHolds(t, f, conn, "m100", 0)
		for i := range 8 {
			h.FeedChanges(f.set(fmt.Sprint("m16", i), 1005))
			pass(110 * time.Millisecond)
		}
		require.Empty(t, conn.take(t), "then not within the interval")
		h.FeedChanges(f.set("m100", 1001))
		pass(100 * time.Millisecond) // one frame of the board
		require.Equal(t, []string{"me"}, conn.take(t), "its own change is sent at once")
		meHolds(t, f, conn, "m100", 0)
		h.FeedChanges(f.set("m170", 1005))
		pass(time.Second)
		require.Equal(t, []string{"me"}, conn.take(t), "what moved it meanwhile comes in one frame")
		meHolds(t, f, conn, "m100", 0)
		h.FeedChanges(f.set("m199", 1))
		pass(5 * time.Second)
		require.Empty(t, conn.take(t), "what happens behind it is no news")
		require.False(t, h.boards["b"].ranks.dirty, "and then nothing is due")
		require.Equal(t, pages, len(f.pages), "a follower costs no reads")
		require.Equal(t, lookups, len(f.lookups))
	})
}

// A known place is not sent before the first snapshot.
func TestMeWaitsForTheSnapshot(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		follow(t, h, 3, "m100", 2)
		h.FeedSubscribed("b")
		pass(time.Second)
		f.mu.Lock()
		f.pageErr = errors.New("no pages")
		f.mu.Unlock()
		_, conn, _ := follow(t, h, 100, "m100", 2)
		pass(time.Second)
		require.Equal(t, []string{"status true"}, conn.take(t))
		f.mu.Lock()
		f.pageErr = nil
		f.mu.Unlock()
		pass(5 * time.Second)
		require.Equal(t, []string{"snapshot", "me", "status false"}, conn.take(t))
	})
}

// A me frame follows each snapshot, and never precedes the first one.
func TestMeFollowsASnapshot(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		f.setReadErr(errors.New("away"))
		_, early, _ := follow(t, h, 10, "m100", 0)
		h.FeedSubscribed("b")
		pass(time.Second)
		require.Equal(t, []string{"status true"}, early.take(t))
		f.setReadErr(nil)
		pass(5 * time.Second)
		require.Equal(t, []string{"snapshot", "me", "status false"}, early.take(t), "the status comes last")

		slow, conn, _ := follow(t, h, 10, "m100", 0)
		synctest.Wait()
		require.Equal(t, []string{"snapshot", "me"}, conn.take(t))
		conn.setFull(true)
		for i := range 5 {
			h.FeedChanges(f.set("m001", int64(5000+i)))
			pass(200 * time.Millisecond)
		}
		conn.setFull(false)
		slow.Ready()
		synctest.Wait()
		require.Equal(t, []string{"snapshot", "me"}, conn.take(t))
		require.NotContains(t, early.take(t), "snapshot")

		f.mu.Lock()
		f.state, f.scores = ranking.State{}, map[string]int64{}
		f.mu.Unlock()
		pass(5 * time.Second)
		require.Equal(t, []string{"snapshot", "me"}, conn.take(t), "of another life too, and nothing of the old one")
		meHolds(t, f, conn, "m100", 0)
	})
}

// Followers of the same member share its frames. When the last one leaves, nothing of the
// member is left.
func TestFollowersShareAMember(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		_, stays, _ := join(t, h, 10)
		h.FeedSubscribed("b")
		var clients []*Client
		var conns []*recordingConn
		for range 20 {
			k := &recordingConn{}
			c := h.Join(k, nil)
			_, err := h.Subscribe(c, theBoard, Watch{Top: 10, Me: "m100"}, nil, func() {})
			require.NoError(t, err)
			clients, conns = append(clients, c), append(conns, k)
		}
		synctest.Wait()
		h.FeedChanges(f.set("m100", 1001))
		pass(time.Second)
		shared := 0
		for _, times := range sentTimes(conns) {
			if times == len(conns) {
				shared++
			}
		}
		require.Equal(t, 2, shared, "the place before the change, and the place after it")
		require.Len(t, f.lookups, 1)
		b := h.boards["b"]
		for i, c := range clients {
			require.Equal(t, 1, b.view.Followed())
			h.Leave(c)
			synctest.Wait()
			require.Equal(t, i+1 == len(clients), b.view.Followed() == 0)
		}
		require.Empty(t, b.members)
		require.Empty(t, b.streamsOf)
		require.Equal(t, []string{"snapshot"}, stays.take(t))
	})
}
