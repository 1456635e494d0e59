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

// hold has look-ups answered only after release.
func (f *fakeBoard) hold() (release func()) {
	held := make(chan struct{})
	f.onPlaces.set(func() { <-held })
	return func() {
		f.onPlaces.clear()
		close(held)
	}
}

// Whoever comes to be known in any way is told: by the look-up for another that
// was followed before it under the same name, by a page that overtakes its own
// look-up, or by one who shares the member and has left.
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
			c, _, _ := follow(t, h, 3, "m018", 2) // at the end of the view
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

// A rank waits for no neighbours, be it that they cannot be read or that it takes
// long; and clients are not told that all is old for that.
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

// many is more than are told in three steps.
const many = 3*notifyBatch + 100

// followMany fills the board with many members, each followed, and one more, last
// of all, who is not.
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

// More followers than are told in one step: all are told, and what changes
// meanwhile is not missed.
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

// A change that overtakes the answer to a look-up, on a board that is quiet after
// it: the follower ends with the rank that it has now.
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

// Of another life the first entries come first also while ranks are being told in
// pieces.
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
			time.Sleep(time.Nanosecond) // between two pieces
			h.FeedChanges(next)
		}()
		pass(time.Second)
		epoch := ""
		for _, m := range conn.frames {
			if m.Type == "snapshot" {
				epoch = m.Epoch
			}
			if m.Type == "me" && m.Total < many { // of the new life
				require.Equal(t, "e2", epoch)
			}
		}
		types := conn.take(t)
		require.Equal(t, []string{"snapshot", "me"}, types[len(types)-2:])
	})
}
