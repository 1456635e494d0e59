package ingest

import (
	"sync"
	"time"
)

// rateCredit is how much unused time a consumer may catch up on. Without it, the time that a batch takes would
// lower the rate.
const rateCredit = 100 * time.Millisecond

// rateLimit bounds the updates of all consumers of a process in a second. Its methods may be called
// concurrently.
type rateLimit struct {
	rate int // updates a second; 0 for no bound

	mu   sync.Mutex
	next time.Time // when the updates that were booked are paid for
}

// batch returns how many entries a batch may have: those of a tenth of a second at most, so that updates
// spread over the second.
func (p *rateLimit) batch() int {
	if p.rate == 0 {
		return maxEntries
	}
	return min(max(p.rate/10, 1), maxEntries)
}

// book books updates that were applied, and returns how long the consumer must pause.
func (p *rateLimit) book(updates int) time.Duration {
	if p.rate == 0 {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if earliest := now.Add(-rateCredit); p.next.Before(earliest) {
		p.next = earliest
	}
	p.next = p.next.Add(time.Duration(updates) * time.Second / time.Duration(p.rate))
	return max(0, p.next.Sub(now))
}
