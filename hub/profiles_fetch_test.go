package hub

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
)

func TestChangeWaitsForProfilesOneReadAtMost(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]bool{"slow": false, "failing": true} {
		t.Run(name, func(t *testing.T) {
			withProfiles(t, func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn) {
				f.setProfile("new", "Newt")
				f.setSlow(300*time.Millisecond, broken)
				deliver(h, f.set("new", -20), 99*time.Millisecond)
				require.Empty(t, conn.take(t))
				pass(2 * time.Millisecond)
				require.Equal(t, []string{"delta"}, conn.take(t))
				require.Equal(t, f.top(10), unnamed(conn.board.Top), "it goes out without")
				require.Empty(t, conn.board.Top[6].Name)
				deliver(h, f.set("new", -19), 110*time.Millisecond)
				require.Equal(t, []string{"delta"}, conn.take(t), "and no change waits for it again")
				f.setSlow(0, false)
				pass(5 * time.Second)
				require.Equal(t, []string{"delta"}, conn.take(t), "the name comes when it is there")
				require.Equal(t, f.withProfiles(f.top(10)), conn.board.Top)
				require.False(t, isStale(h), "all scores were right")
			})
		})
	}
}

// An unreadable profile does not affect the others, and is read again alone.
func TestUnreadableProfileLeavesTheOthers(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.kind, f.failingMember = "user", "b"
		f.set("a", 3)
		f.set("b", 2)
		f.setProfile("a", "Ann")
		f.setProfile("b", "Bob")
		conn := watchTopLive(t, h, 10)
		require.Equal(t, "Ann", conn.board.Top[0].Name)
		require.Empty(t, conn.board.Top[1].Name)
		pass(5 * time.Second)
		reads := f.takeReads()
		require.Equal(t, 6, reads[0])
		require.Greater(t, len(reads), 2)
		for _, n := range reads[1:] {
			require.Equal(t, 1, n)
		}
		f.profilesMu.Lock()
		f.failingMember = ""
		f.profilesMu.Unlock()
		pass(5 * time.Second)
		require.Equal(t, f.withProfiles(f.top(10)), conn.board.Top)
		require.Equal(t, []string{"delta"}, conn.take(t))
		require.Len(t, f.takeReads(), 1)
	})
}

func unnamed(entries []hubtest.Entry) []hubtest.Entry {
	list := slices.Clone(entries)
	for i := range list {
		list[i].Name, list[i].Avatar = "", ""
	}
	return list
}

func TestSteadyBoardRefreshesProfilesOnlyWhenDue(t *testing.T) {
	withProfiles(t, func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn) {
		require.Equal(t, []int{6}, f.takeReads(), "all in one call")
		pass(2 * time.Minute)
		reads := f.takeReads()
		require.GreaterOrEqual(t, len(reads), 4)
		require.LessOrEqual(t, len(reads), 6)
		for _, n := range reads {
			require.Equal(t, 6, n, "all in one call")
		}
		for len(f.takeReads()) == 0 { // the next refresh is then seconds away
			pass(100 * time.Millisecond)
		}
		conn.take(t)
		for i := range 100 {
			deliver(h, f.set("a", int64(100+i)), time.Millisecond)
		}
		require.Empty(t, f.takeReads())
		require.Equal(t, []string{"delta", "delta"}, conn.take(t)[:2])
	})
}

func TestKindWithoutProfilesIsNotRead(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.kind = "user"
		f.set("a", 3)
		conn := watchTopLive(t, h, 10)
		pass(5 * time.Minute)
		deliver(h, f.set("b", 5), 5*time.Minute)
		require.Empty(t, f.takeReads())
		conn.take(t)
		changeProfile(h, f, "a", "Ann", 0)
		require.Equal(t, []string{"delta"}, conn.take(t), "the first profile of a kind")
		require.Equal(t, f.withProfiles(f.top(10)), conn.board.Top)
	})
}

// The first profile of a kind is found although its message was lost.
func TestFirstProfileOfAKindWithoutAMessage(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.kind = "user"
		f.set("a", 3)
		conn := watchTopLive(t, h, 10)
		f.setProfile("a", "Ann")
		pass(2 * time.Second)
		require.Equal(t, f.withProfiles(f.top(10)), conn.board.Top)
	})
}

func TestLostProfileMessageIsRepairedWithinAMinute(t *testing.T) {
	withProfiles(t, func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn) {
		for i := range 20 {
			pass(time.Duration(rand.N(int64(time.Minute))))
			f.setProfile("b", fmt.Sprint("Bob ", i))
			pass(time.Minute)
			require.Equal(t, f.withProfiles(f.top(10)), conn.board.Top)
		}
	})
}

func TestProfilesAreRefreshedAfterAnOutage(t *testing.T) {
	withProfiles(t, func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn) {
		h.FeedDown(time.Now())
		f.setProfile("a", "Anna")
		f.setProfile("b", "Bob")
		h.FeedUp()
		confirm(h, time.Second)
		require.Equal(t, f.withProfiles(f.top(10)), conn.board.Top)
	})
}

// A profile that changes during its read is shown as it ends up.
func TestProfileChangesWhileItIsRead(t *testing.T) {
	withProfiles(t, func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn) {
		f.setSlow(50*time.Millisecond, false)
		changeProfile(h, f, "a", "Anna", 20*time.Millisecond)
		changeProfile(h, f, "a", "Annabel", time.Second)
		require.Equal(t, "Annabel", conn.board.Top[0].Name)
	})
}

// The number of profiles that a board keeps is bounded, and all of them go with the board.
func TestProfilesAreEvicted(t *testing.T) {
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.kind = "user"
		f.setProfile("x", "X")
		_, _, sub := watchTop(t, h, 3)
		confirm(h, 0)
		for i := range 4 * spareProfiles {
			h.FeedChanges(f.fakePeriod.step(fmt.Sprint("n", i), int64(i)))
			if i%100 == 0 {
				pass(time.Millisecond)
			}
		}
		pass(time.Second)
		require.Less(t, len(membersWithPlaces(h)), spareProfiles+300)
		h.Unsubscribe(sub)
		pass(time.Second)
		require.Empty(t, membersWithPlaces(h))
	})
}

// A client that resumes at the seq at which a profile changed may have seen the change or
// not.
func TestResumeOverAProfileChange(t *testing.T) {
	t.Parallel()
	for _, later := range []time.Duration{time.Second, 10 * time.Minute} {
		for _, moves := range []bool{false, true} {
			t.Run(fmt.Sprint(later, " ", moves), func(t *testing.T) {
				withProfiles(t, func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn) {
					deliver(h, f.set("low0", -15), time.Second)
					has := conn.board
					changeProfile(h, f, "a", "Anna", 0)
					if moves {
						pass(time.Second)
						h.FeedChanges(f.set("low0", -20))
					}
					pass(later)
					_, again := resume(t, h, has, Watch{Top: 10})
					pass(time.Second)
					require.Equal(t, []string{"delta"}, again.take(t))
					require.Equal(t, f.withProfiles(f.top(10)), again.board.Top)
				})
			})
		}
	}
}

// Members that have no profiles any more lose their names, also for a client that resumes.
func TestResumeWhereProfilesEnd(t *testing.T) {
	withProfiles(t, func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn) {
		has := conn.board
		require.NotEmpty(t, has.Top[0].Name)
		f.setKind("", nil)
		pass(time.Minute)
		_, again := resume(t, h, has, Watch{Top: 10})
		pass(time.Second)
		require.Equal(t, f.top(10), again.board.Top)
	})
}
