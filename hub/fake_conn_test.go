package hub

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
)

// fakeConn folds the frames that it is sent, once they are flushed. While it is full it refuses frames.
type fakeConn struct {
	mu      sync.Mutex
	taken   []takenFrame // since the last Flush
	full    bool
	room    int // how many frames it takes before it is full; 0: no bound
	refused int // how often it was asked while it was full
	wasted  int // how many frames it was sent while it was full
	frames  []hubtest.Message
	changed []time.Time // as Send was told; without zero times
	board   hubtest.Board
	ends    []hubtest.Board // the final boards of periods
	foldErr error
}

// takenFrame is what Send was told.
type takenFrame struct {
	*Frame
	changed time.Time
}

func (c *fakeConn) Free() bool {
	orderOperation()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.full {
		c.refused++
	}
	return !c.full
}

func (c *fakeConn) Send(f *Frame, changed time.Time) bool {
	orderOperation()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.full {
		c.wasted++
		return false
	}
	c.taken = append(c.taken, takenFrame{f, changed})
	if c.room > 0 {
		c.room--
		c.full = c.room == 0
	}
	return true
}

func (c *fakeConn) Flush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.taken {
		c.fold(f.Frame, f.changed)
	}
	c.taken = nil
}

// fold folds a frame. The caller holds mu.
func (c *fakeConn) fold(f *Frame, changed time.Time) {
	var m hubtest.Message
	err := json.Unmarshal(jsonOf(f), &m)
	if err == nil && slices.Contains([]string{"snapshot", "delta", "me", "board"}, m.Type) {
		was := c.board
		err = errors.Join(c.board.Fold(m), c.checkEnd(m, was))
	}
	c.foldErr = errors.Join(c.foldErr, err)
	c.frames = append(c.frames, m)
	if !changed.IsZero() {
		c.changed = append(c.changed, changed)
	}
}

// checkEnd checks that a period is not followed by another one before its end, or the end
// of a later one.
func (c *fakeConn) checkEnd(m hubtest.Message, was hubtest.Board) error {
	switch {
	case m.Final:
		c.ends = append(c.ends, c.board)
	case was.Ends != "" && was.Period != c.board.Period && !was.Final:
		return fmt.Errorf("period %q is shown before the end of %q", c.board.Period, was.Period)
	}
	return nil
}

func (c *fakeConn) setFull(full bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.full = full
}

// take returns the types of the frames since the last call, and checks that they fold. A
// final snapshot is "final".
func (c *fakeConn) take(t testing.TB) (types []string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	require.NoError(t, c.foldErr)
	for _, m := range c.frames {
		kind := m.Type
		switch {
		case kind == "status":
			kind = fmt.Sprintf("status %v", m.Stale)
		case m.Final:
			kind = "final"
		}
		types = append(types, kind)
	}
	c.frames = nil
	return types
}
