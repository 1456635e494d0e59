package hub

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
	"rankcast/ranking"
)

// resumes has a client that shows a board go on from there.
func resumes(t *testing.T, h *Hub, has hubtest.Board) *fakeConn {
	t.Helper()
	again := &fakeConn{board: has}
	_, err := h.Subscribe(h.Join(again), theBoard, Watch{Top: 10, Resume: ranking.State{Epoch: has.Epoch, Seq: has.Seq}}, nil, func() {})
	require.NoError(t, err)
	pass(time.Second)
	return again
}

// Who resumes at the seq at which a profile has changed may have seen it or not.
func TestResumeOverAProfileChange(t *testing.T) {
	t.Parallel()
	for _, later := range []time.Duration{time.Second, 10 * time.Minute} {
		for _, moves := range []bool{false, true} {
			t.Run(fmt.Sprint(later, " ", moves), func(t *testing.T) {
				withProfiles(t, func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn) {
					pass(10 * time.Minute) // all that was read at first has settled
					h.FeedChanges(f.set("low0", -15))
					pass(time.Second)
					has := conn.board
					changeProfile(h, f, "a", "Anna")
					if moves {
						pass(time.Second)
						h.FeedChanges(f.set("low0", -20))
					}
					pass(later)
					again := resumes(t, h, has)
					require.Equal(t, []string{"delta"}, again.take(t))
					require.Equal(t, f.withProfiles(f.top(10)), again.board.Top)
				})
			})
		}
	}
}

// A client may come with a seq that another node gave it, which had not heard of the
// profile yet.
func TestResumeFromANodeThatMissedAProfileChange(t *testing.T) {
	t.Parallel()
	withProfiles(t, func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn) {
		pass(10 * time.Minute)
		changeProfile(h, f, "a", "Anna")
		pass(50 * time.Second)
		h.FeedChanges(f.set("low0", -20))
		pass(time.Second)
		has := conn.board // but for the name
		has.Top = slices.Clone(has.Top)
		has.Top[0].Name = "Ann"
		require.Equal(t, f.withProfiles(f.top(10)), resumes(t, h, has).board.Top)
	})
}

// What is known of the seq of one life of a board says nothing of another.
func TestResumeProfilesInAnotherEpoch(t *testing.T) {
	t.Parallel()
	withProfiles(t, func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn) {
		pass(10 * time.Minute)
		h.FeedChanges(f.replace(map[string]int64{"a": 9, "b": 8, "low0": 1, "low1": 0}))
		pass(time.Second)
		for i := range 20 {
			h.FeedChanges(f.set("b", int64(-i)))
			pass(time.Second)
		}
		has := conn.board // but for the name
		has.Top = slices.Clone(has.Top)
		has.Top[0].Name = "Before"
		require.Equal(t, f.withProfiles(f.top(10)), resumes(t, h, has).board.Top)
	})
}

// A node that has only begun to watch a board knows nothing of when profiles changed.
func TestResumeProfilesOnANewNode(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.kind = "user"
		f.set("a", 3)
		has := hubtest.Board{Epoch: f.state.Epoch, Seq: f.state.Seq, Total: 5, Top: f.top(10)}
		f.setProfile("a", "Ann")
		f.setProfile("low0", "Low")
		again := &fakeConn{board: has}
		_, err := h.Subscribe(h.Join(again), theBoard, Watch{Top: 10, Resume: ranking.State{Epoch: has.Epoch, Seq: has.Seq}}, nil, func() {})
		require.NoError(t, err)
		h.FeedSubscribed("b")
		pass(time.Second)
		require.Equal(t, []string{"snapshot"}, again.take(t))
		require.Equal(t, f.withProfiles(f.top(10)), again.board.Top)
	})
}
