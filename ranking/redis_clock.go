package ranking

import (
	"sync/atomic"
	"time"
)

// redisClock estimates the clock of Redis, which alone decides which period an update falls
// into. The estimate is the latest reading plus the time that this process has measured
// since then. The node's own clock may be off by any amount. redisClock may be used
// concurrently.
type redisClock struct {
	latest atomic.Pointer[clockReading]
	still  bool // the estimate stands between two readings; for tests that move the clock of Redis by hand
}

type clockReading struct {
	redis int64     // µs since 1970
	local time.Time // of this process; only the difference to it is used
}

// readingKept is how long the best reading counts. After that the estimate follows a Redis
// clock that runs slower or was set back.
const readingKept = 10 * time.Second

// now returns the estimate in µs since 1970, or 0 before the first reading. It lags by the
// time that the answer took to arrive.
func (c *redisClock) now() int64 {
	r := c.latest.Load()
	if r == nil {
		return 0
	}
	return r.redis + c.since(r).Microseconds()
}

// observe takes the clock from an answer, unless the reading at hand is better.
func (c *redisClock) observe(redis int64) {
	r := c.latest.Load()
	// A slow answer makes a worse reading than a fast one.
	if r == nil || redis >= c.now() || c.since(r) > readingKept {
		c.set(redis)
	}
}

// set takes the clock from an answer in any case, because the estimate was wrong.
func (c *redisClock) set(redis int64) { c.latest.Store(&clockReading{redis: redis, local: time.Now()}) }

func (c *redisClock) since(r *clockReading) time.Duration {
	if c.still {
		return 0
	}
	return time.Since(r.local)
}
