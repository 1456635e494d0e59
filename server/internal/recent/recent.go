// Package recent keeps an answer for a time, and gives it to all callers that ask for it.
package recent

import (
	"context"
	"time"

	"golang.org/x/sync/singleflight"

	"rankcast/ranking/lru"
	"rankcast/server/internal/sharedread"
)

// Age is how long the node answers from one read of what changes, so that a crowd costs one read a second.
const Age = time.Second

// Cache keeps answers for a time. Callers that come during a read share it. New makes a Cache. All methods may be called
// concurrently.
type Cache[V any] struct {
	age   time.Duration
	weigh func(V) int
	kept  *lru.Cache[string, read[V]]
	reads singleflight.Group
}

type read[V any] struct {
	answer V
	at     time.Time // when the read began
}

// New makes a Cache that keeps answers for age, and that weigh most together.
func New[V any](age time.Duration, most int, weigh func(V) int) *Cache[V] {
	return &Cache[V]{age: age, weigh: weigh, kept: lru.New[string, read[V]](most)}
}

// Get returns an answer that is younger than the age of the Cache, or that of do. Callers that come during a call of do share
// it. The call goes on after the end of ctx. An error is not kept.
func (c *Cache[V]) Get(ctx context.Context, key string, do func() (V, error)) (V, error) {
	if answer, ok := c.Fresh(key); ok {
		return answer, nil
	}
	reading := c.reads.DoChan(key, func() (any, error) {
		if answer, ok := c.Fresh(key); ok { // another caller has read it since
			return answer, nil
		}
		began := time.Now()
		answer, err := sharedread.Safely(do)
		if err == nil {
			c.kept.Put(key, read[V]{answer, began}, c.weigh(answer))
		}
		return answer, err
	})
	select {
	case result := <-reading:
		answer, _ := result.Val.(V)
		return answer, result.Err
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	}
}

// Fresh returns the answer of a key that is young enough, if the node has one.
func (c *Cache[V]) Fresh(key string) (answer V, ok bool) {
	kept, ok := c.kept.Get(key)
	if !ok || time.Since(kept.at) >= c.age {
		return answer, false
	}
	return kept.answer, true
}
