package refusal

import (
	"sync"
	"time"
)

// countInterval is the shortest time between two lines of the log about one class: an operator sees it, and an outage of
// a day does not flood the log.
const countInterval = time.Minute

// Count counts refusals of one class: those by one limit, or the attempts that a receiver of webhooks did not accept. The
// zero value is ready. All methods may be called concurrently.
type Count struct {
	mu       sync.Mutex
	total    uint64
	logged   uint64 // what total was at the last line
	loggedAt time.Time
}

// Add counts a refusal. It calls log at the first one, and then once a minute at most. since is the number of
// refusals since the last call of log, this one included. Add holds no lock while log writes.
func (c *Count) Add(log func(since uint64)) {
	if since := c.count(); since > 0 {
		log(since)
	}
}

// count counts a refusal. It returns the refusals since the last line, or 0 while that is not old enough.
func (c *Count) count() (since uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total++
	if now := time.Now(); c.loggedAt.IsZero() || now.Sub(c.loggedAt) >= countInterval {
		since, c.logged, c.loggedAt = c.total-c.logged, c.total, now
	}
	return since
}

// Total is the number of refusals so far.
func (c *Count) Total() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total
}
