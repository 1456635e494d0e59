package profiles

import "sync"

// MaxKinds bounds the kinds that are marked as having profiles, because each node knows
// all of them.
const MaxKinds = 1000

// EveryKind stands for each kind, where more than MaxKinds have profiles. Nodes then look
// for profiles of all members. So no kind has to do without profiles because of the others.
const EveryKind = "*"

// Kinds are kinds for which this node has heard of a profile, MaxKinds and EveryKind at most.
// The zero value is empty. It may be used concurrently.
type Kinds struct {
	mu    sync.RWMutex
	kinds map[string]bool
}

// Add adds a kind, or EveryKind in place of one too many.
func (p *Kinds) Add(kind string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kinds == nil {
		p.kinds = make(map[string]bool)
	}
	if len(p.kinds) >= MaxKinds {
		kind = EveryKind
	}
	p.kinds[kind] = true
}

// Has reports whether a kind was added, or stands for one of those that were too many.
func (p *Kinds) Has(kind string) bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.kinds[kind] || p.kinds[EveryKind]
}
