package access

import (
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxBuckets bounds the clients in the newer half of a table of buckets. The older half has twice as many at
// most. A bucket takes about 200 bytes, so a table takes 60 MB at most.
const maxBuckets = 100_000

// tokenRate is a rate, and the time that a quiet client may save up: a bucket has rate × saved tokens.
type tokenRate struct {
	perSecond float64 // 0: no limit
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
	return &bucket{limiter: rate.NewLimiter(rate.Limit(r.perSecond), max(1, r.size()))}
}

// size is the number of tokens that a full bucket holds. A rate per minute is seldom a whole number per second, so
// the product can be just below the number in the access file.
func (r tokenRate) size() int { return int(math.Round(r.perSecond * r.saved.Seconds())) }

// left returns how many tokens a bucket has: less than none if tokens that are still to come were taken.
func (b *bucket) left() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.limiter.TokensAt(time.Now())
}

// take takes a token. Without one it returns the time until there is one, 1 ns at least.
func (b *bucket) take() (wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if b.limiter.AllowN(now, 1) {
		return 0
	}
	return b.until(now, 1)
}

// until is the time until a bucket that has fewer than n tokens has them: 1 ns at least. The caller holds mu.
func (b *bucket) until(now time.Time, n int) time.Duration {
	missing := float64(n) - b.limiter.TokensAt(now)
	return max(1, time.Duration(math.Ceil(missing/float64(b.limiter.Limit())*float64(time.Second))))
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

// buckets holds a bucket for each client that has used it lately. All methods may be called concurrently.
//
// There are two halves. A client that sends is in the newer half. At rotation the newer half becomes the older one,
// and the full buckets of the former older half go: a new bucket is full too. Between two rotations an empty
// bucket fills up, also one with tokens reserved for maxHold. A bucket whose client owes more stays until it is
// full.
//
// When maxBuckets clients are in the newer half, rotation comes sooner. Then only the buckets stay whose clients
// owe tokens, and the other clients that sent least lately get a full bucket early. If too many clients owe
// tokens, some of those get one too.
type buckets[K comparable] struct {
	rate tokenRate
	most int

	mu           sync.Mutex
	newer, older map[K]*bucket
	since        time.Time // when newer began
}

func newBuckets[K comparable](r tokenRate) *buckets[K] {
	return &buckets[K]{rate: r, most: maxBuckets, newer: make(map[K]*bucket)}
}

// addressBuckets are the buckets of addresses. An exempt address has none.
type addressBuckets struct{ *buckets[Address] }

func newAddressBuckets(r tokenRate) addressBuckets { return addressBuckets{newBuckets[Address](r)} }

// take takes a token of an address. Without one it returns the time until there is one.
func (b addressBuckets) take(a Address) (wait time.Duration) {
	if b.rate.perSecond == 0 || a.Exempt() {
		return 0
	}
	return b.bucket(a).take()
}

// sharedBuckets hold the tokens of a node, and for each address tokens at half the rate. newSharedBuckets makes them.
type sharedBuckets struct {
	node      *bucket // nil: no limit
	addresses addressBuckets
}

// newSharedBuckets makes buckets for a rate of the node; 0 for no limit.
func newSharedBuckets(perSecond int, saved time.Duration) sharedBuckets {
	s := sharedBuckets{addresses: newAddressBuckets(tokenRate{float64(half(perSecond)), saved})}
	if perSecond > 0 {
		s.node = tokenRate{float64(perSecond), saved}.bucket()
	}
	return s
}

// take takes a token of an address, and then one of the node: one address alone must not use up those of the node.
// Where there is none, it returns the time until there is one.
func (s sharedBuckets) take(a Address) (ofAddress, ofNode time.Duration) {
	if s.node == nil {
		return 0, 0
	}
	if ofAddress = s.addresses.take(a); ofAddress > 0 {
		return ofAddress, 0
	}
	return 0, s.node.take()
}

// takeOrReserve takes a token of an address. Without one it reserves n tokens that are still to come, and
// returns the time until they have come. If that is more than maxHold, it reserves none and returns maxHold.
func (b addressBuckets) takeOrReserve(a Address, n int) (wait time.Duration, reserved bool) {
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
func (b addressBuckets) reserve(a Address, n int) (wait time.Duration) {
	if b.rate.perSecond == 0 || a.Exempt() {
		return 0
	}
	wait, _ = b.bucket(a).reserve(n)
	return wait
}

func (b *buckets[K]) bucket(k K) *bucket {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	switch {
	case now.Sub(b.since) >= b.rate.saved+maxHold:
		b.rotate(now, max(1, b.rate.size()))
	case len(b.newer) >= b.most:
		b.rotate(now, 0)
	}
	tokens := b.newer[k]
	if tokens == nil {
		if tokens = b.older[k]; tokens == nil {
			tokens = b.rate.bucket()
		}
		b.newer[k] = tokens
	}
	return tokens
}

// rotate makes the newer half the older one, and keeps the buckets of the older half that have fewer tokens than
// full. The caller holds mu.
func (b *buckets[K]) rotate(now time.Time, full int) {
	for k, tokens := range b.older {
		if len(b.newer) >= 2*b.most {
			break
		}
		if _, sends := b.newer[k]; !sends && tokens.left() < float64(full) {
			b.newer[k] = tokens
		}
	}
	b.newer, b.older, b.since = make(map[K]*bucket), b.newer, now
}
