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

// bucket holds the tokens of one client. All methods may be called concurrently. A nil bucket has no limit.
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

// begin makes the bucket of a client that has none yet. It returns the bucket; nil for a rate without limit.
func (r tokenRate) begin(b **bucket) *bucket {
	if *b == nil && r.perSecond > 0 {
		*b = r.bucket()
	}
	return *b
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
	if b == nil {
		return 0
	}
	wait, _ = b.takeMany(1, 0)
	return wait
}

// maxHold bounds the time by which a client's tokens may be reserved in advance.
const maxHold = 5 * time.Second

// reserve takes n tokens, also those that are still to come, and returns the time until they have come. If
// that is more than maxHold, it takes none and returns maxHold.
func (b *bucket) reserve(n int) (wait time.Duration, reserved bool) {
	if b == nil {
		return 0, false
	}
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

// of is the bucket of an address; nil where nothing limits it.
func (b addressBuckets) of(a Address) *bucket {
	if b.rate.perSecond == 0 || a.Exempt() {
		return nil
	}
	return b.bucket(a)
}

// sharedBuckets hold the tokens of a node, and for each address tokens at half the rate. newSharedBuckets makes them.
type sharedBuckets struct {
	share
	perSecond int     // of the node
	node      *bucket // nil: no limit
	addresses addressBuckets
}

// newSharedBuckets makes buckets for a rate of the node; 0 for no limit.
func newSharedBuckets(of share, perSecond int, saved time.Duration) sharedBuckets {
	s := sharedBuckets{of, perSecond, nil, newAddressBuckets(tokenRate{float64(half(perSecond)), saved})}
	if perSecond > 0 {
		s.node = tokenRate{float64(perSecond), saved}.bucket()
	}
	return s
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
