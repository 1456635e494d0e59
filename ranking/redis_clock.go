package ranking

import (
	"sync/atomic"
	"time"
)

// redisClock estimates Redis's clock, which alone decides what falls into which
// period: what it was when it was last heard, and what this process has measured
// since. A node's own clock may be off by any amount. It may be used concurrently.
type redisClock struct{ latest atomic.Pointer[clockReading] }

type clockReading struct {
	redis int64     // µs since 1970
	local time.Time // only what has passed since counts
}

// readingKept is for how long the best reading counts, so that a Redis whose clock
// runs slower, or was set back, is followed.
const readingKept = 10 * time.Second

// now is Redis's clock in µs since 1970, 0 before it was ever heard. It lags by
// what an answer takes to arrive.
func (c *redisClock) now() int64 {
	r := c.latest.Load()
	if r == nil {
		return 0
	}
	return r.redis + time.Since(r.local).Microseconds()
}

// observe notes what an answer said that Redis's clock was.
func (c *redisClock) observe(redis int64) {
	r := c.latest.Load()
	// An answer that took long makes a worse reading than one that did not.
	if r == nil || redis >= c.now() || time.Since(r.local) > readingKept {
		c.set(redis)
	}
}

// set has Redis's clock be what an answer said, for the estimate was wrong.
func (c *redisClock) set(redis int64) { c.latest.Store(&clockReading{redis: redis, local: time.Now()}) }
