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
)

// person is a member of a kind.
type person struct{ kind, member string }

// profileCache keeps the profiles that were used last. It may be used concurrently.
type profileCache struct {
	age  time.Duration
	room int

	mu      sync.Mutex
	kept    map[person]*list.Element // of keptProfile
	order   list.List                // the one that was used last first
	reading map[*profileRead]bool
}

type keptProfile struct {
	person  person
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
	return &profileCache{age: age, room: profilesKept, kept: make(map[person]*list.Element), reading: make(map[*profileRead]bool)}
}

func (c *profileCache) get(who person) (p Profile, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.kept[who]
	if e == nil {
		return p, false
	}
	k := e.Value.(*keptProfile)
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

// keep takes in what a read has found.
func (c *profileCache) keep(r *profileRead, members []string, found map[string]Profile) {
	until := time.Now().Add(c.age)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range members {
		if !r.members[m] {
			continue
		}
		who := person{r.kind, m}
		if e := c.kept[who]; e != nil {
			c.drop(e)
		}
		c.kept[who] = c.order.PushFront(&keptProfile{who, found[m], until})
		if c.order.Len() > c.room {
			c.drop(c.order.Back())
		}
	}
}

func (c *profileCache) drop(e *list.Element) {
	delete(c.kept, e.Value.(*keptProfile).person)
	c.order.Remove(e)
}

// forget has a profile read anew.
func (c *profileCache) forget(who person) {
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
