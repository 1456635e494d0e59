package server

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

const (
	// recentAge is how long the node answers from one read.
	recentAge = time.Second
	// maxRecent bounds the answers that recentReads keeps.
	maxRecent = 100
)

// recentReads shares each answer for recentAge among all requests with the same key. The zero value is empty. get may be
// called concurrently.
type recentReads[V any] struct {
	reads singleflight.Group

	mu   sync.Mutex
	kept map[string]recentRead[V]
}

type recentRead[V any] struct {
	answer V
	at     time.Time // when the read began
}

// get returns an answer that is younger than recentAge. Callers of one time share a call of read, which continues after
// the end of ctx.
func (r *recentReads[V]) get(ctx context.Context, key string, read func() (V, error)) (V, error) {
	if answer, ok := r.fresh(key); ok {
		return answer, nil
	}
	reading := r.reads.DoChan(key, func() (any, error) {
		if answer, ok := r.fresh(key); ok { // another request has read it since
			return answer, nil
		}
		began := time.Now()
		answer, err := read()
		if err == nil {
			r.keep(key, answer, began)
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

func (r *recentReads[V]) fresh(key string) (answer V, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept, ok := r.kept[key]
	return kept.answer, ok && time.Since(kept.at) < recentAge
}

func (r *recentReads[V]) keep(key string, answer V, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for k, kept := range r.kept {
		if time.Since(kept.at) >= recentAge {
			delete(r.kept, k)
		}
	}
	if r.kept == nil || len(r.kept) >= maxRecent {
		r.kept = make(map[string]recentRead[V])
	}
	r.kept[key] = recentRead[V]{answer, at}
}
