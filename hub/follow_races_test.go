package hub

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
)

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
	t.Parallel()
	for name, test := range map[string]func(h *Hub, f *fakeBoard) (conn *fakeConn, member string){
		"page reloaded": func(h *Hub, f *fakeBoard) (*fakeConn, string) {
			c, _, _ := follow(t, h, 3, "m100", 0)
			synctest.Wait()
			h.Leave(c)
			synctest.Wait()
			_, conn, _ := follow(t, h, 3, "m100", 0)
			return conn, "m100"
		},
		"overtaken": func(h *Hub, f *fakeBoard) (*fakeConn, string) {
			follow(t, h, 3, "m150", 0)
			synctest.Wait()
			_, conn, _ := follow(t, h, 100, "m060", 0)
			return conn, "m060"
		},
		"shared": func(h *Hub, f *fakeBoard) (*fakeConn, string) {
			follow(t, h, 3, "m150", 0)
			synctest.Wait()
			c, _, _ := follow(t, h, 3, "m018", 2) // the last member of the view
			synctest.Wait()
			_, conn, _ := follow(t, h, 3, "m018", 0)
			synctest.Wait()
			h.Leave(c)
			return conn, "m018"
		},
	} {
		t.Run(name, func(t *testing.T) {
			withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
				f.fill(200)
				join(t, h, 3)
				h.FeedSubscribed("b")
				pass(time.Second)
				release := f.hold()
				conn, member := test(h, f)
				pass(time.Second)
				release()
				pass(time.Second)
				require.Equal(t, []string{"snapshot", "me"}, conn.take(t))
				meHolds(t, f, conn, member, 0)
			})
		})
	}
}

// A rank does not wait for neighbours that cannot be read or are read slowly. Clients do
// not become stale for them.
func TestRankDoesNotWaitForNeighbours(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		_, conn, _ := follow(t, h, 3, "m100", 1)
		h.FeedSubscribed("b")
		pass(3 * time.Second)
		passed := 150
		rounds := func() {
			for i := range 3 {
				conn.take(t)
				h.FeedChanges(f.set("m100", int64(1500+i)))
				synctest.Wait()
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

		f.mu.Lock()
		f.lookupErr = errors.New("no places")
		f.mu.Unlock()
		rounds()
		require.False(t, isStale(h))
		f.mu.Lock()
		f.lookupErr = nil
		f.mu.Unlock()
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
		_, conn, _ := follow(t, h, 3, fmt.Sprintf("m%05d", i), 0)
		conns = append(conns, conn)
	}
	return conns
}

// When one step cannot notify all followers, later steps notify the others, with what
// changes meanwhile.
func TestManyFollowersAreNotifiedInBatches(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		conns := followMany(t, h, f)
		h.FeedSubscribed("b")
		pass(3 * time.Second)
		h.FeedChanges(f.set("late", 10*many+5))
		pass(3 * time.Second)
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
		withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
			f.fill(200)
			join(t, h, 3)
			h.FeedSubscribed("b")
			pass(3 * time.Second)
			release := f.hold()
			_, conn, _ := follow(t, h, 3, "m100", 1)
			synctest.Wait()
			h.FeedChanges(f.set("m150", 1005))
			synctest.Wait()
			pass(late)
			release()
			pass(3 * time.Second)
			conn.take(t)
			meHolds(t, f, conn, "m100", 1)
		})
	}
}

// The top of another epoch comes first, also between two batches of notifications.
func TestAnotherEpochWhileRanksAreNotified(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		conn := followMany(t, h, f)[2]
		h.FeedSubscribed("b")
		pass(3 * time.Second)
		conn.take(t)
		first := f.set("late", 10*many+5)
		f.mu.Lock()
		f.state, f.scores = ranking.State{Epoch: "e2"}, map[string]int64{}
		f.mu.Unlock()
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
