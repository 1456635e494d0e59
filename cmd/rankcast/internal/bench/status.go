package bench

import (
	"context"
	"os"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"

	"rankcast/cmd/rankcast/internal/term"
)

// status is the line on the terminal that says what the command does now. On a pipe there is none. One goroutine may
// begin phases.
type status struct {
	round string // which round, of which program; "" before the first
	bar   atomic.Pointer[progressbar.ProgressBar]
}

// statusStep is the least time between two changes of the line.
const statusStep = 100 * time.Millisecond

// phase begins a part of the work with so many steps.
func (s *status) phase(what string, steps int) {
	s.endPhase()
	s.bar.Store(progressbar.NewOptions(steps, progressbar.OptionSetDescription(s.round+what),
		progressbar.OptionSetWriter(os.Stderr), progressbar.OptionSetVisibility(term.Is(os.Stderr)),
		progressbar.OptionThrottle(statusStep), progressbar.OptionSetWidth(20), progressbar.OptionClearOnFinish()))
}

// add counts steps of the present phase. It may be called concurrently.
func (s *status) add(steps int) {
	if bar := s.bar.Load(); bar != nil {
		bar.Add(steps)
	}
}

// endPhase removes the line.
func (s *status) endPhase() {
	if bar := s.bar.Swap(nil); bar != nil {
		bar.Clear()
	}
}

// startMeasuring begins the phase of a measurement, and measures the lateness meanwhile.
func (s *status) startMeasuring(ctx context.Context, d time.Duration) *lateness {
	s.phase("measuring", int(d/latenessStep))
	return startLateness(ctx, func() { s.add(1) })
}
