package access

import (
	"math"
	"time"
)

// rateSaved is the time for which a caller may save up the tokens of its rate.
const rateSaved = 10 * time.Second

// Quota is the state of a caller's rate after a request, for the fields RateLimit and RateLimit-Policy
// (draft-ietf-httpapi-ratelimit-headers-10). The zero Quota means that the caller has no rate.
type Quota struct {
	Policy    string        // key, viewer or anonymous
	Tokens    int           // that the caller may save up
	Window    time.Duration // in which an empty bucket fills up
	Remaining int           // tokens that are left
	Reset     time.Duration // until the bucket is full again
}

// take takes n tokens of a bucket for a request that has taken some before. A request of more tokens than the
// bucket holds passes when the bucket was full before it, and uses up tokens that are still to come.
func (r tokenRate) take(b *bucket, policy string, n, taken int) (q Quota, wait time.Duration) {
	wait, left := b.takeMany(n, taken)
	q = Quota{Policy: policy, Tokens: b.limiter.Burst(), Window: r.saved, Remaining: max(0, int(left))}
	q.Reset = time.Duration((float64(q.Tokens) - left) / r.perSecond * float64(time.Second))
	return q, wait
}

// takeMany takes n tokens, and returns how many are left: less than none if tokens that are still to come
// were taken. Without enough tokens it takes none, and returns the time until there are enough, 1 ns at least.
func (b *bucket) takeMany(n, taken int) (wait time.Duration, left float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now, burst := time.Now(), b.limiter.Burst()
	first := min(n, max(0, burst-taken))
	if !b.limiter.AllowN(now, first) {
		left = b.limiter.TokensAt(now)
		seconds := (float64(first) - left) / float64(b.limiter.Limit())
		return max(1, time.Duration(math.Ceil(seconds*float64(time.Second)))), left
	}
	for rest := n - first; rest > 0; rest -= burst {
		b.limiter.ReserveN(now, min(rest, burst))
	}
	return 0, b.limiter.TokensAt(now)
}
