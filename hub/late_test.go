package hub

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
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
func TestWhoeverBecomesKnownIsTold(t *testing.T) {
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
			inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
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
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
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
		f.noPlaces = errors.New("no places")
		f.mu.Unlock()
		rounds()
		require.False(t, isStale(h))
		f.mu.Lock()
		f.noPlaces = nil
		f.mu.Unlock()
		pass(3 * time.Second)
		meHolds(t, f, conn, "m100", 1)
	})
}

// After a failover seq may go back, and then Redis is the truth: for what is
// shown, for what followers were told, and for who resumes with a state of the
// history that is lost.
func TestBoardThatGoesBack(t *testing.T) {
	t.Parallel()
	for name, notice := range map[string]func(h *Hub, f *fakeBoard){
		"by the check": func(*Hub, *fakeBoard) { pass(5 * time.Second) },
		"by a change": func(h *Hub, f *fakeBoard) {
			h.FeedChanges(f.set("m180", 25))
			pass(5 * time.Second)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
				f.fill(200)
				_, conn, _ := follow(t, h, 10, "m100", 0)
				h.FeedSubscribed("b")
				pass(time.Second)
				again := f.was()
				var held []hubtest.Board // by clients that lose their connection
				for i := range 5 {
					h.FeedChanges(f.set("m150", int64(1005+i)))
					pass(time.Second)
					h.FeedChanges(f.set("m007", int64(1945-i)))
					pass(2 * time.Second)
					held = append(held, conn.board)
				}
				meHolds(t, f, conn, "m100", 0)
				again()
				notice(h, f)
				require.Equal(t, f.top(10), conn.board.Top)
				meHolds(t, f, conn, "m100", 0)

				for i := range 20 { // past the seq at which it went back
					h.FeedChanges(f.set("m020", int64(10+i)))
					h.FeedChanges(f.set("m000", int64(3000+i)))
					pass(time.Second)
					for _, has := range held {
						back := &fakeConn{board: has}
						c := h.Join(back)
						_, err := h.Subscribe(c, theBoard, Watch{Top: 10, Resume: ranking.State{Epoch: has.Epoch, Seq: has.Seq}}, nil, func() {})
						require.NoError(t, err)
						synctest.Wait()
						back.take(t)
						require.Equal(t, f.top(10), back.board.Top)
						h.Leave(c)
					}
				}
				conn.take(t)
				meHolds(t, f, conn, "m100", 0)
			})
		})
	}
}

// The page of an audit may be ahead of the very first change of a board: all who
// follow somebody on it keep being told, also who comes later.
func TestFirstChangeOverlapsAnAudit(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.state, f.scores = ranking.State{}, map[string]int64{}
		_, conn, _ := follow(t, h, 3, "u1", 0)
		for i := range 2 * auditMembers {
			follow(t, h, 3, fmt.Sprint("w", i), 0)
		}
		h.FeedSubscribed("b")
		pass(time.Second)
		require.Equal(t, []string{"snapshot", "me"}, conn.take(t))
		f.beforeRead.set(func() {
			f.beforeRead.clear()
			first := f.set("other", 5)
			go func() {
				time.Sleep(time.Millisecond)
				h.FeedChanges(first)
			}()
		})
		pass(35 * time.Second)
		require.False(t, f.beforeRead.isSet())
		require.Equal(t, []string{"snapshot", "me"}, conn.take(t))
		_, late, _ := follow(t, h, 3, "u1", 0)
		pass(time.Second)
		require.Equal(t, []string{"snapshot", "me"}, late.take(t))
	})
}

// A subscription that takes another's place begins where it was accepted: nothing
// of the old one comes after.
func TestNothingOfTheReplacedSubscriptionFollows(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		c, conn, sub := follow(t, h, 10, "m100", 0)
		h.FeedSubscribed("b")
		pass(5 * time.Second)
		held := conn.board
		w := Watch{Top: 10, Me: "m050", Resume: ranking.State{Epoch: held.Epoch, Seq: held.Seq}}
		_, err := h.Subscribe(c, theBoard, w, sub, func() {
			conn.take(t)
			h.FeedChanges(f.set("m005", 1955))
			pass(time.Second)
			h.FeedChanges(f.set("m150", 1705))
			pass(time.Second)
			require.Empty(t, conn.take(t))
		})
		require.NoError(t, err)
		synctest.Wait()
		require.Equal(t, []string{"delta", "me"}, conn.take(t))
		require.Equal(t, f.top(10), conn.board.Top)
		meHolds(t, f, conn, "m050", 0)
	})
}

// Of another life of a board the first entries come before anybody's place.
func TestFirstEntriesOfAnotherLifeComeFirst(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		_, conn, _ := follow(t, h, 3, "m010", 0)
		h.FeedSubscribed("b")
		pass(3 * time.Second)
		h.FeedChanges(f.set("m000", 3000)) // begins an interval
		synctest.Wait()
		conn.take(t)
		f.mu.Lock()
		f.state, f.scores = ranking.State{Epoch: "e2"}, map[string]int64{}
		f.mu.Unlock()
		f.fill(5)
		h.FeedChanges(f.set("m010", 25))
		pass(200 * time.Millisecond)
		require.Equal(t, []string{"snapshot", "me"}, conn.take(t))
		meHolds(t, f, conn, "m010", 0)
	})
}

// To replace a subscription that ended with its client ends nobody else's.
func TestReplacingWhatHasEnded(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		join(t, h, 10)
		c, _, sub := join(t, h, 10)
		h.FeedSubscribed("b")
		pass(time.Second)
		h.Leave(c)
		_, err := h.Subscribe(c, theBoard, Watch{Top: 10}, sub, func() {})
		require.ErrorIs(t, err, ErrClosed)
		h.Unsubscribe(sub)
		require.Equal(t, 1, h.Watched())
	})
}

// many is more than are told in three steps.
const many = 3*tellMost + 100

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
func TestManyFollowersAreToldInPieces(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
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
func TestChangeThatOvertakesALookUp(t *testing.T) {
	t.Parallel()
	for _, late := range []time.Duration{0, 200 * time.Millisecond, 2 * time.Second} {
		inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
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

// An outage is over when what was read has been shown, whatever else was failing.
func TestOutageIsOverOnceTheEntriesAreShown(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.fill(200)
		_, conn, _ := join(t, h, 3)
		h.FeedSubscribed("b")
		pass(3 * time.Second)
		f.mu.Lock()
		f.noPlaces = errors.New("no places")
		f.mu.Unlock()
		c, _, _ := follow(t, h, 3, "m100", 0)
		pass(5 * time.Second)
		require.Equal(t, []string{"snapshot", "status true"}, conn.take(t))
		h.FeedChanges(f.set("m000", 3000)) // begins an interval
		synctest.Wait()
		conn.take(t)
		f.set("m002", 5000) // nobody hears of it
		h.FeedChanges(f.set("m001", 4000))
		synctest.Wait()
		h.Leave(c)
		pass(time.Second)
		types := conn.take(t)
		require.Len(t, types, 2)
		require.Equal(t, "status false", types[1])
		require.Equal(t, f.top(3), conn.board.Top)
	})
}

// Of another life the first entries come first also while ranks are being told in
// pieces.
func TestAnotherLifeWhileRanksAreTold(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, h *Hub, f *fakeBoard) {
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
