package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// errFrame means that a frame of the server is not one of its live protocol.
var errFrame = errors.New("the server's frame is not one of its live protocol")

// entry is one of the first entries of a board.
type entry struct {
	Rank   int64  `json:"rank"`
	Member string `json:"member"`
	Score  int64  `json:"score"`
}

// boardState is what a watcher shows. It does not change.
type boardState struct {
	seq, total int64
	top        []entry
}

func (b *boardState) equal(other *boardState) bool {
	return b.seq == other.seq && b.total == other.total && slices.Equal(b.top, other.top)
}

// step is what a frame does to a state: most watchers take the same steps.
type step struct {
	after *boardState
	shown []int // updates that after shows and the state before did not
}

// stepKey names a step: the state before, nil for a first snapshot, and the frame.
type stepKey struct {
	before *boardState
	frame  string
}

// folder folds frames for all watchers of one board. It decodes a frame once for all that get it on the same state. Its
// methods may be called concurrently.
type folder struct {
	shows func(before, after *boardState) []int // gives the updates of a step

	mu     sync.Mutex
	steps  map[stepKey]step
	states map[int64]*boardState // by seq: one pointer for equal states
}

// maxSteps bounds the steps that a folder keeps.
const maxSteps = 1000

// fold applies a frame to a state, which is nil at first. For frames that are no snapshot and no delta it returns a step
// to the same state.
func (f *folder) fold(before *boardState, frame []byte) (step, error) {
	if !bytes.HasPrefix(frame, snapshotFrame) && !bytes.HasPrefix(frame, deltaFrame) {
		return step{after: before}, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if s, known := f.steps[stepKey{before, string(frame)}]; known {
		return s, nil
	}
	after, err := decodeFrame(before, frame)
	if err != nil {
		return step{}, err
	}
	if len(f.steps) == 0 || len(f.steps) == maxSteps {
		f.steps, f.states = make(map[stepKey]step), make(map[int64]*boardState)
	}
	if same := f.states[after.seq]; same != nil && same.equal(after) {
		after = same
	}
	f.states[after.seq] = after
	s := step{after: after}
	if before != nil {
		s.shown = f.shows(before, after)
	}
	f.steps[stepKey{before, string(frame)}] = s
	return s, nil
}

// wireFrame is a snapshot or a delta.
type wireFrame struct {
	Type  string            `json:"type"`
	From  int64             `json:"from"`
	Seq   int64             `json:"seq"`
	Total int64             `json:"total"`
	Top   []entry           `json:"top"`
	Rows  []json.RawMessage `json:"rows"`
	Len   int               `json:"len"`
}

// decodeFrame returns the state after a frame. A delta that does not continue the state is an error.
func decodeFrame(before *boardState, frame []byte) (*boardState, error) {
	var w wireFrame
	if err := json.Unmarshal(frame, &w); err != nil {
		return nil, fmt.Errorf("%w: %w", errFrame, err)
	}
	if w.Type == "snapshot" {
		return &boardState{w.Seq, w.Total, w.Top}, nil
	}
	if before == nil || w.From != before.seq || w.Len < 0 || w.Len > len(before.top)+len(w.Rows) {
		return nil, fmt.Errorf("%w: a delta that does not continue", errFrame)
	}
	top := make([]entry, w.Len)
	copy(top, before.top)
	for _, row := range w.Rows {
		var place int
		var e entry
		if err := json.Unmarshal(row, &[]any{&place, &e}); err != nil || place < 0 || place >= len(top) {
			return nil, fmt.Errorf("%w: row %s", errFrame, row)
		}
		top[place] = e
	}
	if slices.Contains(top, entry{}) {
		return nil, fmt.Errorf("%w: an entry is missing", errFrame)
	}
	return &boardState{w.Seq, w.Total, top}, nil
}
