// Package profiles keeps the profiles that a node has read from Redis, and the kinds that have any.
// It knows neither Redis nor what a profile is.
package profiles

import (
	"sync"
	"time"

	"rankcast/ranking/lru"
)

const (
	// maxKept bounds the profiles that a node keeps, with those of members that have none: 20 to 60 MB.
	maxKept = 100_000
	// Pause is how long a node reads no profiles after Redis did not answer. Until
	// then entries appear without profiles, so that no reader waits for a timeout.
	Pause = time.Second
)

// Member is a member of a kind.
type Member struct{ Kind, ID string }

// Cache keeps the 100,000 profiles of type P that were used last. The zero P stands for no profile. It may be
// used concurrently.
type Cache[P any] struct {
	age  time.Duration
	kept *lru.Cache[Member, entry[P]]

	mu      sync.Mutex // held while a read is stored and while a profile is forgotten
	reading map[*Read]bool
	silent  bool      // Redis did not answer the latest read of profiles
	next    time.Time // while silent: when to read again
}

type entry[P any] struct {
	profile P
	until   time.Time
}

// Read is a read under way. A profile that changes during the read may be found in
// its old state, so the cache does not store it.
type Read struct {
	kind    string
	members map[string]bool // those without a change since the read began
}

// NewCache returns an empty cache that uses a profile for the time of age.
func NewCache[P any](age time.Duration) *Cache[P] {
	return &Cache[P]{age: age, kept: lru.New[Member, entry[P]](maxKept), reading: make(map[*Read]bool)}
}

// Get returns the profile of a member, if the cache knows it. A member without a profile is known too.
func (c *Cache[P]) Get(who Member) (p P, known bool) {
	e, ok := c.kept.Get(who)
	if !ok || time.Now().After(e.until) {
		return p, false
	}
	return e.profile, true
}

// Begin registers a read; the caller calls End after it.
func (c *Cache[P]) Begin(kind string, members []string) *Read {
	r := &Read{kind, make(map[string]bool, len(members))}
	for _, m := range members {
		r.members[m] = true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reading[r] = true
	return r
}

// End ends a read.
func (c *Cache[P]) End(r *Read) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.reading, r)
}

// MayRead reports whether the caller may read profiles now. While Redis does not answer,
// one caller at a time tries. That caller reports the result with NoteRead within timeout.
func (c *Cache[P]) MayRead(timeout time.Duration) bool {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.silent {
		if now.Before(c.next) {
			return false
		}
		c.next = now.Add(timeout + Pause)
	}
	return true
}

// NoteRead takes the result of a read: whether Redis was silent, and whether the caller
// gave up, which tells nothing about Redis.
func (c *Cache[P]) NoteRead(silent, gaveUp bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !silent:
		c.silent = false
	case gaveUp:
		c.next = time.Now() // the next caller tries
	default:
		c.silent, c.next = true, time.Now().Add(Pause)
	}
}

// Store caches the members that a read has read; found has the profiles.
func (c *Cache[P]) Store(r *Read, members []string, found map[string]P) {
	until := time.Now().Add(c.age)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range members {
		if r.members[m] {
			c.kept.Put(Member{r.kind, m}, entry[P]{found[m], until}, 1)
		}
	}
}

// Forget makes the next use of a profile read it again.
func (c *Cache[P]) Forget(who Member) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept.Drop(who)
	for r := range c.reading {
		if r.kind == who.Kind {
			delete(r.members, who.ID)
		}
	}
}

// ForgetAll makes the next use of each profile read it again.
func (c *Cache[P]) ForgetAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept.Clear()
	for r := range c.reading {
		clear(r.members)
	}
}
