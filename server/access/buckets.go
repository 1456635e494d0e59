package access

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxBuckets bounds the addresses in each half of a table of buckets. A bucket takes about 200 bytes, so a
// table takes 40 MB at most.
const maxBuckets = 100_000

// tokenRate is a rate, and the time that a quiet client may save up: a bucket has rate × saved tokens.
type tokenRate struct {
	perSecond int // 0: no limit
	saved     time.Duration
}

// bucket holds the tokens of one client. All methods may be called concurrently.
//
// A rate.Limiter that is given an earlier time than before credits the time in between twice. So a bucket reads
// the clock under its lock.
type bucket struct {
	mu      sync.Mutex
	limiter *rate.Limiter
}

func (r tokenRate) bucket() *bucket {
	return &bucket{limiter: rate.NewLimiter(rate.Limit(r.perSecond), max(1, int(float64(r.perSecond)*r.saved.Seconds())))}
}

// take takes a token. Without one it returns the time until there is one, 1 ns at least.
func (b *bucket) take() (wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if b.limiter.AllowN(now, 1) {
		return 0
	}
	missing := 1 - b.limiter.TokensAt(now)
	return max(1, time.Duration(missing/float64(b.limiter.Limit())*float64(time.Second)))
}

// maxHold bounds the time by which a client's tokens may be reserved in advance.
const maxHold = 5 * time.Second

// reserve takes n tokens, also those that are still to come, and returns the time until they have come. If
// that is more than maxHold, it takes none and returns maxHold.
func (b *bucket) reserve(n int) (wait time.Duration, reserved bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	r := b.limiter.ReserveN(now, min(n, b.limiter.Burst()))
	if wait = r.DelayFrom(now); wait > maxHold {
		r.CancelAt(now)
		return maxHold, false
	}
	return wait, true
}

// buckets holds a bucket for each address that has used it lately. All methods may be called concurrently.
//
// There are two halves. An address that sends is in the newer half. Any bucket fills up within maxHold, for
// its reserved tokens, and the time in which an empty bucket fills up. After that time the newer half becomes
// the older one, and the older one goes: its buckets are full, and a new bucket is full too. When maxBuckets
// addresses are in the newer half, that happens sooner. Then the addresses that sent least lately get a full
// bucket early.
type buckets struct {
	rate tokenRate
	most int

	mu           sync.Mutex
	newer, older map[Address]*bucket
	since        time.Time // when newer began
}

func newBuckets(r tokenRate) *buckets {
	return &buckets{rate: r, most: maxBuckets, newer: make(map[Address]*bucket)}
}

// take takes a token of an address. Without one it returns the time until there is one.
func (b *buckets) take(a Address) (wait time.Duration) {
	if b.rate.perSecond == 0 || a.Exempt() {
		return 0
	}
	return b.bucket(a).take()
}

// takeOrReserve takes a token of an address. Without one it reserves n tokens that are still to come, and
// returns the time until they have come. If that is more than maxHold, it reserves none and returns maxHold.
func (b *buckets) takeOrReserve(a Address, n int) (wait time.Duration, reserved bool) {
	if b.rate.perSecond == 0 || a.Exempt() {
		return 0, false
	}
	tokens := b.bucket(a)
	if tokens.take() == 0 {
		return 0, false
	}
	wait, reserved = tokens.reserve(n)
	return max(1, wait), reserved
}

// reserve takes n tokens of an address, also those that are still to come, and returns the time until they
// have come: maxHold at most.
func (b *buckets) reserve(a Address, n int) (wait time.Duration) {
	if b.rate.perSecond == 0 || a.Exempt() {
		return 0
	}
	wait, _ = b.bucket(a).reserve(n)
	return wait
}

func (b *buckets) bucket(a Address) *bucket {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if len(b.newer) >= b.most || now.Sub(b.since) >= b.rate.saved+maxHold {
		b.newer, b.older, b.since = make(map[Address]*bucket), b.newer, now
	}
	tokens := b.newer[a]
	if tokens == nil {
		if tokens = b.older[a]; tokens == nil {
			tokens = b.rate.bucket()
		}
		b.newer[a] = tokens
	}
	return tokens
}
