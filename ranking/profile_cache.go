package ranking

import (
	"container/list"
	"sync"
	"time"
)

const (
	// profileAge is how long a node uses a profile that it has read. The feed reports
	// changes, but pub/sub may lose one.
	profileAge = 30 * time.Second
	// profilesKept bounds the profiles that a node keeps, with those of members that have
	// none: 20 to 60 MB.
	profilesKept = 100_000
	// profilePause is how long a node reads no profiles after Redis did not answer. Until
	// then entries appear without profiles, so that no reader waits for a timeout.
	profilePause = time.Second
)

// profileKey is a member of a kind.
type profileKey struct{ kind, member string }

// profileCache keeps the most recently used profiles. It may be used concurrently.
type profileCache struct {
	age  time.Duration
	room int

	mu      sync.Mutex
	kept    map[profileKey]*list.Element // of cachedProfile
	order   list.List                    // most recently used first
	reading map[*profileRead]bool
	silent  bool      // Redis did not answer the latest read of profiles
	next    time.Time // while silent: when to read again
}

type cachedProfile struct {
	person  profileKey
	profile Profile
	until   time.Time
}

// profileRead is a read under way. A profile that changes during the read may be found in
// its old state, so the cache does not store it.
type profileRead struct {
	kind    string
	members map[string]bool // those without a change since the read began
}

func newProfileCache(age time.Duration) *profileCache {
	return &profileCache{age: age, room: profilesKept, kept: make(map[profileKey]*list.Element), reading: make(map[*profileRead]bool)}
}

func (c *profileCache) get(who profileKey) (p Profile, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.kept[who]
	if e == nil {
		return p, false
	}
	k := e.Value.(*cachedProfile)
	if time.Now().After(k.until) {
		c.drop(e)
		return p, false
	}
	c.order.MoveToFront(e)
	return k.profile, true
}

// begin registers a read; the caller calls end after it.
func (c *profileCache) begin(kind string, members []string) *profileRead {
	r := &profileRead{kind, make(map[string]bool, len(members))}
	for _, m := range members {
		r.members[m] = true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reading[r] = true
	return r
}

func (c *profileCache) end(r *profileRead) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.reading, r)
}

// mayRead reports whether the caller may read profiles now. While Redis does not answer,
// one caller at a time tries. That caller reports the result with noteRead within timeout.
func (c *profileCache) mayRead(timeout time.Duration) bool {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.silent {
		if now.Before(c.next) {
			return false
		}
		c.next = now.Add(timeout + profilePause)
	}
	return true
}

// noteRead takes the result of a read: whether Redis was silent, and whether the caller
// gave up, which tells nothing about Redis.
func (c *profileCache) noteRead(silent, gaveUp bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !silent:
		c.silent = false
	case gaveUp:
		c.next = time.Now() // the next caller tries
	default:
		c.silent, c.next = true, time.Now().Add(profilePause)
	}
}

// store caches the members that a read has read; found has the profiles.
func (c *profileCache) store(r *profileRead, members []string, found map[string]Profile) {
	until := time.Now().Add(c.age)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range members {
		if !r.members[m] {
			continue
		}
		who := profileKey{r.kind, m}
		if e := c.kept[who]; e != nil {
			c.drop(e)
		}
		c.kept[who] = c.order.PushFront(&cachedProfile{who, found[m], until})
		if c.order.Len() > c.room {
			c.drop(c.order.Back())
		}
	}
}

func (c *profileCache) drop(e *list.Element) {
	delete(c.kept, e.Value.(*cachedProfile).person)
	c.order.Remove(e)
}

// forget makes the next use of a profile read it again.
func (c *profileCache) forget(who profileKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.kept[who]; e != nil {
		c.drop(e)
	}
	for r := range c.reading {
		if r.kind == who.kind {
			delete(r.members, who.member)
		}
	}
}

// forgetAll makes the next use of each profile read it again.
func (c *profileCache) forgetAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.kept)
	c.order.Init()
	for r := range c.reading {
		clear(r.members)
	}
}
