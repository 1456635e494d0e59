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

// resumes subscribes a new client that resumes from a board.
func resumes(t *testing.T, h *Hub, has hubtest.Board) *fakeConn {
	t.Helper()
	again := &fakeConn{board: has}
	_, err := h.Subscribe(h.Join(again, nil), theBoard, Watch{Top: 10, Resume: ranking.State{Epoch: has.Epoch, Seq: has.Seq}}, nil, func() {})
	require.NoError(t, err)
	pass(time.Second)
	return again
}

// A client that resumes at the seq at which a profile changed may have seen the change or
// not.
func TestResumeOverAProfileChange(t *testing.T) {
	t.Parallel()
	for _, later := range []time.Duration{time.Second, 10 * time.Minute} {
		for _, moves := range []bool{false, true} {
			t.Run(fmt.Sprint(later, " ", moves), func(t *testing.T) {
				withProfiles(t, func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn) {
					pass(10 * time.Minute) // past profileLag
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

// A client may resume from a node that had not received the change of a profile.
func TestResumeFromANodeThatMissedAProfileChange(t *testing.T) {
	t.Parallel()
	withProfiles(t, func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn) {
		pass(10 * time.Minute)
		changeProfile(h, f, "a", "Anna")
		pass(50 * time.Second)
		h.FeedChanges(f.set("low0", -20))
		pass(time.Second)
		has := conn.board // except for the name
		has.Top = slices.Clone(has.Top)
		has.Top[0].Name = "Ann"
		require.Equal(t, f.withProfiles(f.top(10)), resumes(t, h, has).board.Top)
	})
}

// The modified seqs of one epoch say nothing about another epoch.
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
		has := conn.board // except for the name
		has.Top = slices.Clone(has.Top)
		has.Top[0].Name = "Before"
		require.Equal(t, f.withProfiles(f.top(10)), resumes(t, h, has).board.Top)
	})
}

// A node that has just begun to watch a board does not know when profiles changed.
func TestResumeProfilesOnANewNode(t *testing.T) {
	t.Parallel()
	withHub(t, func(t *testing.T, h *Hub, f *fakeBoard) {
		f.kind = "user"
		f.set("a", 3)
		has := hubtest.Board{Epoch: f.state.Epoch, Seq: f.state.Seq, Total: 5, Top: f.top(10)}
		f.setProfile("a", "Ann")
		f.setProfile("low0", "Low")
		again := &fakeConn{board: has}
		_, err := h.Subscribe(h.Join(again, nil), theBoard, Watch{Top: 10, Resume: ranking.State{Epoch: has.Epoch, Seq: has.Seq}}, nil, func() {})
		require.NoError(t, err)
		h.FeedSubscribed("b")
		pass(time.Second)
		require.Equal(t, []string{"snapshot"}, again.take(t))
		require.Equal(t, f.withProfiles(f.top(10)), again.board.Top)
	})
}
