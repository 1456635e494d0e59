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

func (r tokenRate) limiter() *rate.Limiter {
	return rate.NewLimiter(rate.Limit(r.perSecond), max(1, int(float64(r.perSecond)*r.saved.Seconds())))
}

// take takes a token. Without one it returns the time until there is one, 1 ns at least.
func take(l *rate.Limiter, now time.Time) (wait time.Duration) {
	if l.AllowN(now, 1) {
		return 0
	}
	missing := 1 - l.TokensAt(now)
	return max(1, time.Duration(missing/float64(l.Limit())*float64(time.Second)))
}

// maxHold bounds the time by which a client's tokens may be reserved in advance.
const maxHold = 5 * time.Second

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
	newer, older map[Address]*rate.Limiter
	since        time.Time // when newer began
}

func newBuckets(r tokenRate) *buckets {
	return &buckets{rate: r, most: maxBuckets, newer: make(map[Address]*rate.Limiter)}
}

// take takes a token of an address. Without one it returns the time until there is one.
func (b *buckets) take(a Address) (wait time.Duration) {
	if b.rate.perSecond == 0 || a.Exempt() {
		return 0
	}
	now := time.Now()
	return take(b.bucket(a, now), now)
}

// takeOrReserve takes a token of an address. Without one it reserves n tokens that are still to come, and
// returns the time until they have come. If that is more than maxHold, it reserves none and returns maxHold.
func (b *buckets) takeOrReserve(a Address, n int) (wait time.Duration, reserved bool) {
	if b.rate.perSecond == 0 || a.Exempt() {
		return 0, false
	}
	now := time.Now()
	l := b.bucket(a, now)
	if l.AllowN(now, 1) {
		return 0, false
	}
	r := l.ReserveN(now, n)
	if wait = r.DelayFrom(now); wait > maxHold {
		r.CancelAt(now)
		return maxHold, false
	}
	return max(1, wait), true
}

// reserve takes n tokens of an address, also those that are still to come, and returns the time until they
// have come: maxHold at most.
func (b *buckets) reserve(a Address, n int) (wait time.Duration) {
	if b.rate.perSecond == 0 || a.Exempt() {
		return 0
	}
	now := time.Now()
	return reserve(b.bucket(a, now), n, now)
}

// reserve takes n tokens, also those that are still to come, and returns the time until they have come. If
// that is more than maxHold, it takes none and returns maxHold.
func reserve(l *rate.Limiter, n int, now time.Time) (wait time.Duration) {
	r := l.ReserveN(now, min(n, l.Burst()))
	if wait = r.DelayFrom(now); wait > maxHold {
		r.CancelAt(now)
		return maxHold
	}
	return wait
}

func (b *buckets) bucket(a Address, now time.Time) *rate.Limiter {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.newer) >= b.most || now.Sub(b.since) >= b.rate.saved+maxHold {
		b.newer, b.older, b.since = make(map[Address]*rate.Limiter), b.newer, now
	}
	l := b.newer[a]
	if l == nil {
		if l = b.older[a]; l == nil {
			l = b.rate.limiter()
		}
		b.newer[a] = l
	}
	return l
}
