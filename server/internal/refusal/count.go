package refusal

import (
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// countInterval is the time between two lines of the log about one class of refusals.
const countInterval = time.Minute

// Count counts refusals of one class. The zero value is ready. All methods may be called concurrently.
type Count struct {
	total atomic.Uint64
	line  rate.Sometimes
	told  uint64 // what total was at the last call of log; line guards it
}

// Add counts a refusal. It calls log at the first one, and then once a minute at most. since is the number of
// refusals since the last call of log, this one included.
func (c *Count) Add(log func(since uint64)) {
	c.total.Add(1)
	c.line.Do(func() {
		c.line.Interval = countInterval
		total := c.total.Load()
		log(total - c.told)
		c.told = total
	})
}

// Total is the number of refusals so far.
func (c *Count) Total() uint64 { return c.total.Load() }
