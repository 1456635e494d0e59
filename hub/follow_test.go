package hub

import (
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
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		conn := fillAndWatchMember(t, h, f, "m100", 0)
		meHolds(t, f, conn, "m100", 0)
		pages, lookups := len(f.pages), len(f.lookups)

		deliver(h, f.set("m150", 1005), 0)
		require.Equal(t, []string{"me"}, conn.take(t), "after a quiet time at once")
		meHolds(t, f, conn, "m100", 0)
		for i := range 8 {
			deliver(h, f.set(fmt.Sprint("m16", i), 1005), 110*time.Millisecond)
		}
		require.Empty(t, conn.take(t), "then not within the interval")
		deliver(h, f.set("m100", 1001), 100*time.Millisecond) // one frame of the board
		require.Equal(t, []string{"me"}, conn.take(t), "its own change is sent at once")
		meHolds(t, f, conn, "m100", 0)
		deliver(h, f.set("m170", 1005), time.Second)
		require.Equal(t, []string{"me"}, conn.take(t), "what moved it meanwhile comes in one frame")
		meHolds(t, f, conn, "m100", 0)
		deliver(h, f.set("m199", 1), 5*time.Second)
		require.Empty(t, conn.take(t), "what happens behind it is no news")
		require.False(t, h.boards["b"].ranks.dirty, "and then nothing is due")
		require.Equal(t, pages, len(f.pages), "a follower costs no reads")
		require.Equal(t, lookups, len(f.lookups))
	})
}

// A known place is not sent before the first snapshot.
func TestMeWaitsForTheSnapshot(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		fillAndWatchMember(t, h, f, "m100", 2)
		f.edit(func() { f.pageErr = errAway })
		_, conn, _ := watchMember(t, h, 100, "m100", 2)
		pass(time.Second)
		require.Equal(t, []string{"status true"}, conn.take(t))
		f.edit(func() { f.pageErr = nil })
		pass(5 * time.Second)
		require.Equal(t, []string{"snapshot", "me", "status false"}, conn.take(t))
	})
}

// A me frame follows each snapshot, and never precedes the first one.
func TestMeFollowsASnapshot(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		f.setReadErr(errAway)
		_, early, _ := watchMember(t, h, 10, "m100", 0)
		confirm(h, time.Second)
		require.Equal(t, []string{"status true"}, early.take(t))
		f.setReadErr(nil)
		pass(5 * time.Second)
		require.Equal(t, []string{"snapshot", "me", "status false"}, early.take(t), "the status comes last")

		slow, conn, _ := watchMember(t, h, 10, "m100", 0)
		synctest.Wait()
		require.Equal(t, []string{"snapshot", "me"}, conn.take(t))
		conn.setFull(true)
		for i := range 5 {
			deliver(h, f.set("m001", int64(5000+i)), 200*time.Millisecond)
		}
		free(slow, conn)
		require.Equal(t, []string{"snapshot", "me"}, conn.take(t))
		require.NotContains(t, early.take(t), "snapshot")

		f.edit(func() { f.state, f.scores = ranking.State{}, map[string]int64{} })
		pass(5 * time.Second)
		require.Equal(t, []string{"snapshot", "me"}, conn.take(t), "of another life too, and nothing of the old one")
		meHolds(t, f, conn, "m100", 0)
	})
}

// Followers of the same member share its frames. When the last one leaves, nothing of the
// member is left.
func TestFollowersShareAMember(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		_, stays, _ := watchTop(t, h, 10)
		h.FeedSubscribed("b")
		var clients []*Client
		var conns []*recordingConn
		for range 20 {
			k := &recordingConn{}
			c, _ := subscribe(t, h, k, "b", Watch{Top: 10, Me: "m100"})
			clients, conns = append(clients, c), append(conns, k)
		}
		synctest.Wait()
		deliver(h, f.set("m100", 1001), time.Second)
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

// hold delays the answers of lookups until release.
func (f *fakeBoard) hold() (release func()) {
	held := make(chan struct{})
	f.onPlaces.set(func() { <-held })
	return func() {
		f.onPlaces.clear()
		close(held)
	}
}

// A member that becomes known in any way is notified: by the lookup for an earlier
// follower, by a page that overtakes the lookup, or through a client that shared the member
// and has left.
func TestFoundMembersAreNotified(t *testing.T) {
	withHubFor(t, map[string]func(t *testing.T, h *Hub) (conn *fakeConn, member string){
		"page reloaded": func(t *testing.T, h *Hub) (*fakeConn, string) {
			c, _, _ := watchMember(t, h, 3, "m100", 0)
			synctest.Wait()
			h.Leave(c)
			synctest.Wait()
			_, conn, _ := watchMember(t, h, 3, "m100", 0)
			return conn, "m100"
		},
		"overtaken": func(t *testing.T, h *Hub) (*fakeConn, string) {
			watchMember(t, h, 3, "m150", 0)
			synctest.Wait()
			_, conn, _ := watchMember(t, h, 100, "m060", 0)
			return conn, "m060"
		},
		"shared": func(t *testing.T, h *Hub) (*fakeConn, string) {
			watchMember(t, h, 3, "m150", 0)
			synctest.Wait()
			c, _, _ := watchMember(t, h, 3, "m018", 2) // the last member of the view
			synctest.Wait()
			_, conn, _ := watchMember(t, h, 3, "m018", 0)
			synctest.Wait()
			h.Leave(c)
			return conn, "m018"
		},
	}, func(t *testing.T, h *Hub, f *fakeBoard, test func(t *testing.T, h *Hub) (conn *fakeConn, member string)) {
		f.fill(200)
		watchTopLive(t, h, 3)
		release := f.hold()
		conn, member := test(t, h)
		pass(time.Second)
		release()
		pass(time.Second)
		require.Equal(t, []string{"snapshot", "me"}, conn.take(t))
		meHolds(t, f, conn, member, 0)
	})
}

// A rank does not wait for neighbours that cannot be read or are read slowly. Clients do
// not become stale for them.
func TestRankDoesNotWaitForNeighbours(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		conn := fillAndWatchMember(t, h, f, "m100", 1)
		passed := 150
		rounds := func() {
			for i := range 3 {
				conn.take(t)
				deliver(h, f.set("m100", int64(1500+i)), 0)
				require.Equal(t, []string{"me"}, conn.take(t), "its own change, at once")
				meHolds(t, f, conn, "m100", 0)
				h.FeedChanges(f.set(fmt.Sprint("m", passed), 1600))
				passed++
				pass(2 * time.Second)
				require.NotEmpty(t, conn.take(t))
				meHolds(t, f, conn, "m100", 0)
			}
		}
		release := f.hold()
		rounds()
		release()
		pass(2 * time.Second)
		meHolds(t, f, conn, "m100", 1)

		f.edit(func() { f.lookupErr = errAway })
		rounds()
		require.False(t, isStale(h))
		f.edit(func() { f.lookupErr = nil })
		pass(3 * time.Second)
		meHolds(t, f, conn, "m100", 1)
	})
}

// many is more than three steps notify.
const many = 3*notifyBatch + 100

// followMany fills the board with many members, each with a follower, and one more member
// at the end.
func followMany(t *testing.T, h *Hub, f *fakeBoard) (conns []*fakeConn) {
	for i := range many {
		f.scores[fmt.Sprintf("m%05d", i)] = int64(10 * (many - i))
	}
	f.scores["late"] = 5
	for i := range many {
		_, conn, _ := watchMember(t, h, 3, fmt.Sprintf("m%05d", i), 0)
		conns = append(conns, conn)
	}
	return conns
}

// When one step cannot notify all followers, later steps notify the others, with what
// changes meanwhile.
func TestManyFollowersAreNotifiedInBatches(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		conns := followMany(t, h, f)
		confirm(h, 3*time.Second)
		deliver(h, f.set("late", 10*many+5), 3*time.Second)
		for i, conn := range conns {
			require.EqualValues(t, i+2, *conn.board.Me.Rank)
		}
	})
}

// A change overtakes the answer to a lookup, and no other change follows. The follower ends
// with its current rank.
func TestChangeOvertakesALookup(t *testing.T) {
	t.Parallel()
	for _, late := range []time.Duration{0, 200 * time.Millisecond, 2 * time.Second} {
		t.Run(late.String(), func(t *testing.T) {
			withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
				f.fill(200)
				watchTopLive(t, h, 3)
				release := f.hold()
				_, conn, _ := watchMember(t, h, 3, "m100", 1)
				synctest.Wait()
				deliver(h, f.set("m150", 1005), 0)
				pass(late)
				release()
				pass(3 * time.Second)
				conn.take(t)
				meHolds(t, f, conn, "m100", 1)
			})
		})
	}
}

// The top of another epoch comes first, also between two batches of notifications.
func TestAnotherEpochWhileRanksAreNotified(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		conn := followMany(t, h, f)[2]
		confirm(h, 3*time.Second)
		conn.take(t)
		first := f.set("late", 10*many+5)
		f.edit(func() { f.state, f.scores = ranking.State{Epoch: "e2"}, map[string]int64{} })
		for i := range 5 {
			f.set(fmt.Sprintf("m%05d", i), int64(25-i))
		}
		next := f.set("m00001", 7)
		h.FeedChanges(first)
		go func() {
			time.Sleep(time.Nanosecond) // between two batches
			h.FeedChanges(next)
		}()
		pass(time.Second)
		epoch := ""
		for _, m := range conn.frames {
			if m.Type == "snapshot" {
				epoch = m.Epoch
			}
			if m.Type == "me" && m.Total < many { // of the new epoch
				require.Equal(t, "e2", epoch)
			}
		}
		types := conn.take(t)
		require.Equal(t, []string{"snapshot", "me"}, types[len(types)-2:])
	})
}
