package access

import (
	"context"
	"sync"
	"time"
)

const (
	// turnWait bounds the time for which a request waits for its turn: the time within which the server
	// promises an answer to a write while Redis hangs.
	turnWait = 2 * time.Second
	// turnUnit is the size in bytes of a body that counts as one request. A larger one counts as several:
	// Redis is busy with a batch of 1,000 updates for as long as with hundreds of single ones.
	turnUnit = 1 << 10
	// turnRetry is the time after which a client may come back whose request has waited for too long.
	turnRetry = time.Second
)

// AcquireWrite waits for the turn of a write with a body of so many bytes. Addresses take turns, and one
// address has half of the writes under way at most, so that a client that writes much does not delay the
// others. The caller calls release once. waited is the time that passed. The error is a Refusal, also when
// ctx ends.
func (l *Limits) AcquireWrite(ctx context.Context, a Address, bytes int) (release func(), waited time.Duration, err error) {
	return l.acquire(ctx, l.writes, &turn{address: a, weight: min(1+bytes/turnUnit, l.writes.addressMost)})
}

// AcquireRead waits for the turn of a read. One address has as many reads under way as it may have writes;
// addresses do not wait for each other. release and the error are as for AcquireWrite.
func (l *Limits) AcquireRead(ctx context.Context, a Address) (release func(), err error) {
	if a.Exempt() {
		return func() {}, nil
	}
	release, _, err = l.acquire(ctx, l.reads, &turn{address: a, weight: 1})
	return release, err
}

func (l *Limits) acquire(ctx context.Context, all *turns, t *turn) (release func(), waited time.Duration, err error) {
	if l.cfg.Requests == 0 {
		return func() {}, 0, nil
	}
	if !all.enter(t) {
		began := time.Now()
		if err = l.await(ctx, t); err != nil && !all.leave(t) {
			return nil, 0, err
		}
		waited = time.Since(began)
	}
	return func() { all.release(t) }, waited, nil
}

// await waits until a request may begin.
func (l *Limits) await(ctx context.Context, t *turn) error {
	timer := time.NewTimer(turnWait)
	defer timer.Stop()
	select {
	case <-t.granted:
		return nil
	case <-ctx.Done():
		return &Refusal{Limit: Requests, RetryAfter: turnRetry, kind: ErrOverloaded, reason: "the request was given up before its turn"}
	case <-timer.C:
		return l.refuse(Requests, ErrOverloaded, turnRetry, "too many requests are under way (--max-requests), and this one has waited for %v", turnWait)
	}
}

// turns are the requests of one kind that are under way on a node, and those that wait. All methods may be
// called concurrently.
type turns struct {
	most        int // weight of the node
	addressMost int // weight of an address that is not exempt

	mu    sync.Mutex
	used  int
	lines map[Address]*turnLine // of each address that has a request
	order []Address             // addresses that may begin a request, in the order of their turns
}

// turnLine holds the requests of one address.
type turnLine struct {
	used    int
	waiting []*turn // in their order; some may have left
	ordered bool    // the address is in order
}

// turn is one request. The mu of turns guards begun and left.
type turn struct {
	address Address
	weight  int
	granted chan struct{} // closed when the request may begin; enter makes it for a request that waits
	begun   bool
	left    bool // the caller waits no longer
}

func newTurns(most, addressMost int) *turns {
	return &turns{most: most, addressMost: addressMost, lines: make(map[Address]*turnLine)}
}

// enter begins a request, or makes it wait. It reports whether the request has begun.
func (all *turns) enter(t *turn) (begun bool) {
	all.mu.Lock()
	defer all.mu.Unlock()
	line := all.lines[t.address]
	if line == nil {
		line = &turnLine{}
		all.lines[t.address] = line
	}
	if len(all.order) == 0 && len(line.waiting) == 0 && all.fits(t) && line.fits(t, all.addressMost) {
		all.begin(t, line) // most requests
		return true
	}
	if t.granted == nil {
		t.granted = make(chan struct{})
	}
	line.waiting = append(line.waiting, t)
	all.queue(t.address, line)
	all.grant()
	return t.begun
}

// fits reports whether the node has room for a request. The caller holds mu.
func (all *turns) fits(t *turn) bool { return all.used == 0 || all.used+t.weight <= all.most }

// fits reports whether the address of a line may begin a request. The caller holds the mu of turns.
func (line *turnLine) fits(t *turn, most int) bool {
	return t.address.Exempt() || line.used+t.weight <= most
}

// begin begins a request. The caller holds mu.
func (all *turns) begin(t *turn, line *turnLine) {
	all.used += t.weight
	line.used += t.weight
	t.begun = true
	if t.granted != nil {
		close(t.granted)
	}
}

// leave ends the wait of a request. It reports whether the request has begun at the same moment.
func (all *turns) leave(t *turn) (begun bool) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if t.begun {
		return true
	}
	t.left = true
	all.queue(t.address, all.lines[t.address])
	all.grant() // those behind it may fit
	return false
}

// release ends a request.
func (all *turns) release(t *turn) {
	all.mu.Lock()
	defer all.mu.Unlock()
	line := all.lines[t.address]
	all.used -= t.weight
	line.used -= t.weight
	all.queue(t.address, line)
	all.grant()
}

// next is the next request of a line, if its address may begin it; nil otherwise. The caller holds mu.
func (all *turns) next(line *turnLine) *turn {
	for len(line.waiting) > 0 && line.waiting[0].left {
		line.waiting[0] = nil
		line.waiting = line.waiting[1:]
	}
	if len(line.waiting) == 0 || !line.fits(line.waiting[0], all.addressMost) {
		return nil
	}
	return line.waiting[0]
}

// queue puts an address in order if it may begin a request. It forgets an address without requests. The caller
// holds mu.
func (all *turns) queue(a Address, line *turnLine) {
	switch {
	case line.ordered:
	case all.next(line) != nil:
		line.ordered = true
		all.order = append(all.order, a)
	case len(line.waiting) == 0 && line.used == 0:
		delete(all.lines, a)
	}
}

// grant begins requests while there is room, one of each address in turn. The caller holds mu.
func (all *turns) grant() {
	for len(all.order) > 0 {
		a := all.order[0]
		line := all.lines[a]
		if t := all.next(line); t != nil {
			if !all.fits(t) {
				return // its turn comes before that of others
			}
			line.waiting[0] = nil
			line.waiting = line.waiting[1:]
			all.begin(t, line)
		}
		all.order = all.order[1:]
		line.ordered = false
		all.queue(a, line)
	}
}
