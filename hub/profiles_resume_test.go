package hub

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
)

// resumes subscribes a new client that resumes from a board.
func resumes(t *testing.T, h *Hub, has hubtest.Board) *fakeConn {
	t.Helper()
	again := &fakeConn{board: has}
	_, err := h.Subscribe(h.Join(again, nil), theBoard, Watch{Top: 10, Resume: Position{has.Life, has.Seq}}, nil, func() {})
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

// Members that have no profiles any more lose their names, also for a client that resumes.
func TestResumeWhereProfilesEnd(t *testing.T) {
	t.Parallel()
	withProfiles(t, func(t *testing.T, h *Hub, f *fakeBoard, conn *fakeConn) {
		has := conn.board
		require.NotEmpty(t, has.Top[0].Name)
		f.setKind("", nil)
		pass(time.Minute)
		again := resumes(t, h, has)
		require.Equal(t, f.top(10), again.board.Top)
	})
}
