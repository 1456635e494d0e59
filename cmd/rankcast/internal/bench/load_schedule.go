package bench

import (
	"sync/atomic"
	"time"
)

// schedule gives each update of an open loop its time. Requests have batch updates each and are due at equal intervals.
// The updates go to members in turn: update i to the member at place i modulo cycle.
type schedule struct {
	base     time.Time
	start    *atomic.Int64 // ns after base; see begin
	interval time.Duration // between two requests
	batch    int
	cycle    int
	requests int
}

// newSchedule is the schedule of so many updates a second for a duration. It begins at start.
func newSchedule(start time.Time, perSecond, batch, cycle int, duration time.Duration) schedule {
	interval := time.Duration(float64(time.Second) * float64(batch) / float64(perSecond))
	return schedule{start, new(atomic.Int64), interval, batch, cycle, max(int(duration/interval), 1)}
}

// begin makes the schedule, and all its copies, start now. Other goroutines may use the schedule at the same time.
func (s schedule) begin() { s.start.Store(int64(time.Since(s.base))) }

// due is the scheduled time of an update.
func (s schedule) due(update int) time.Time { return s.dueRequest(update / s.batch) }

func (s schedule) dueRequest(request int) time.Time {
	return s.base.Add(time.Duration(s.start.Load()) + time.Duration(request)*s.interval)
}

// place is the place of the member that an update changes.
func (s schedule) place(update int) int { return update % s.cycle }

// nth is the n-th update of the member at a place, from 0.
func (s schedule) nth(place, n int) int { return place + n*s.cycle }

// appendShown appends the updates of the member at a place that a frame shows and the frame before did not: the frame
// shows n of them, the frame before had shown of them. Updates that the schedule does not have are left out.
func (s schedule) appendShown(to []int, place, had, n int) []int {
	for ; had < n; had++ {
		if update := s.nth(place, had); update < s.requests*s.batch {
			to = append(to, update)
		}
	}
	return to
}
