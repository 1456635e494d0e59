package ranking

import (
	"context"
	"sync"

	"rankcast/ranking/internal/script"
)

// maxProfiled bounds the kinds that are marked as having profiles, because each node knows
// all of them.
const maxProfiled = 1000

// everyKind stands for each kind, where more than maxProfiled have profiles. Nodes then look
// for profiles of all members. So no kind has to do without profiles because of the others.
const everyKind = "*"

// profiledKinds are kinds for which this node has heard of a profile, maxProfiled and
// everyKind at most. The zero value is empty. It may be used concurrently.
type profiledKinds struct {
	mu    sync.RWMutex
	kinds map[string]bool
}

func (p *profiledKinds) add(kind string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kinds == nil {
		p.kinds = make(map[string]bool)
	}
	if len(p.kinds) >= maxProfiled {
		kind = everyKind
	}
	p.kinds[kind] = true
}

func (p *profiledKinds) has(kind string) bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.kinds[kind] || p.kinds[everyKind]
}

// hasProfiles reports whether members of a kind have, or have had, profiles.
func (d *definitions) hasProfiles(kind string) bool { return d.profiled[kind] || d.profiled[everyKind] }

// markKind records that members of a kind have profiles, if that is not known. When Redis
// loses the mark, nodes restore it with the definitions.
func (s *Store) markKind(ctx context.Context, kind string) error {
	d, err := s.catalog.get(ctx)
	if err != nil || d.hasProfiles(kind) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	_, err = script.Mark.Run(ctx, s.rdb, []string{s.keys.Definitions()}, []any{profilesField, kind, everyKind, maxProfiled, newEpoch()})
	return err
}

// Profiled reports whether any member of a kind has had a profile, as far as this node
// knows. The node looks once a second while it is in use.
func (s *Store) Profiled(kind string) bool {
	if s.profiled.has(kind) {
		return true
	}
	d := s.catalog.latest.Load()
	return d != nil && d.hasProfiles(kind)
}
