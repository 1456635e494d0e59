package ranking

import (
	"container/list"
	"sync"
	"time"
)

const (
	// profileAge is for how long a node goes by a profile that it has read: changes are
	// told, but pub/sub may lose one.
	profileAge = 30 * time.Second
	// profilesKept bounds the profiles that a node keeps, those that there are not among
	// them: 20 to 60 MB.
	profilesKept = 100_000
	// profilePause is for how long no profiles are read after Redis did not answer: what
	// is shown goes without, rather than wait each time until a call is given up.
	profilePause = time.Second
)

// profileKey is a member of a kind.
type profileKey struct{ kind, member string }

// profileCache keeps the profiles that were used last. It may be used concurrently.
type profileCache struct {
	age  time.Duration
	room int

	mu      sync.Mutex
	kept    map[profileKey]*list.Element // of cachedProfile
	order   list.List                    // the one that was used last first
	reading map[*profileRead]bool
	silent  bool      // Redis did not answer when profiles were read last
	next    time.Time // when that is tried again, where it did not
}

type cachedProfile struct {
	person  profileKey
	profile Profile
	until   time.Time
}

// profileRead is a read under way: what it finds may be of before a change that was
// told meanwhile, and is not kept then.
type profileRead struct {
	kind    string
	members map[string]bool // those that have not changed since it began
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

// begin notes a read; end follows.
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

// mayRead reports whether profiles are to be read now. While Redis does not answer one
// caller at a time tries, who tells by tried what came of it within a timeout.
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

// noteRead tells what came of a read: whether Redis was silent, and whether the caller gave
// up, which says nothing of Redis.
func (c *profileCache) noteRead(silent, gaveUp bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !silent:
		c.silent = false
	case gaveUp:
		c.next = time.Now() // whoever comes next tries
	default:
		c.silent, c.next = true, time.Now().Add(profilePause)
	}
}

// store takes in what a read has found.
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

// forget has a profile read anew.
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

// forgetAll has all be read anew.
func (c *profileCache) forgetAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.kept)
	c.order.Init()
	for r := range c.reading {
		clear(r.members)
	}
}
