package bench

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"rankcast/cmd/rankcast/internal/term"
)

// status is the line on the terminal that says what the command does now. On a pipe there is none. One goroutine may
// begin phases.
type status struct {
	round string // which round, of which program; "" before the first

	mu   sync.Mutex
	bar  *progressbar.ProgressBar
	done chan struct{} // ends the ticks of a timed phase
	tick sync.WaitGroup
}

// statusStep is the time between two changes of the line.
const statusStep = 100 * time.Millisecond

// phase begins a part of the work with so many steps.
func (s *status) phase(what string, steps int) {
	s.endPhase()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bar = progressbar.NewOptions(steps, progressbar.OptionSetDescription(s.round+what),
		progressbar.OptionSetWriter(os.Stderr), progressbar.OptionSetVisibility(term.Is(os.Stderr)),
		progressbar.OptionThrottle(statusStep), progressbar.OptionSetWidth(20), progressbar.OptionClearOnFinish())
}

// add counts steps of the present phase. It may be called concurrently.
func (s *status) add(steps int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bar != nil {
		s.bar.Add(steps)
	}
}

// timed begins a phase that takes a known time.
func (s *status) timed(d time.Duration) {
	s.phase("measuring", int(d/statusStep))
	done := make(chan struct{})
	s.done = done
	s.tick.Go(func() {
		t := time.NewTicker(statusStep)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				s.add(1)
			case <-done:
				return
			}
		}
	})
}

// endPhase removes the line.
func (s *status) endPhase() {
	if s.done != nil {
		close(s.done)
		s.done = nil
		s.tick.Wait()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bar != nil {
		s.bar.Clear()
		s.bar = nil
	}
}

// fill fills the boards of a target, and the sets of the bare work on its Redis, which get the same members.
func (s *status) fill(ctx context.Context, t *target, boards map[string][]row) error {
	rows := 0
	for _, board := range boards {
		rows += len(board)
	}
	s.phase("filling the boards of "+t.name, rows)
	defer s.endPhase()
	if t.own != nil {
		if err := t.fillBare(ctx, boards); err != nil {
			return err
		}
	}
	return t.fill(ctx, boards, s.add)
}
