package client

import (
	"context"
	"time"
)

// backoff is exponential with full jitter: any delay up to the bound, so that clients that were cut
// off together do not come back together. attempt is 0 for the first.
func (c *Client) backoff(attempt int) time.Duration {
	bound := min(maxBackoff, firstBackoff<<min(attempt, 10)) // a larger shift could overflow
	return time.Duration(c.random() * float64(bound))
}

// sleep waits for d. It returns ctx's error if ctx ends first.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
