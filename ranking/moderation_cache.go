package ranking

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/script"
)

// moderation is a node's copy of the hidden members. It never changes.
type moderation struct {
	revision int64                     // the latest, see censor.lua; 0: no member was ever hidden
	looked   int64                     // when the node read it, by Redis's clock, µs since 1970
	hidden   map[string]*hiddenMembers // by scope: see kindScope and boardScope
}

// hiddenMembers are the hidden members of a kind, or of an instance.
type hiddenMembers struct {
	revision int64            // of the latest change: a member was hidden or shown again
	members  map[string]int64 // to the revision that hid the member
}

// kindScope and boardScope are the scopes in which members are hidden.
func kindScope(kind string) string      { return "k/" + kind }
func boardScope(instance string) string { return "b/" + instance }

const (
	// moderationPage is the number of changes in one read.
	moderationPage = 1000
	// moderationKept is how long a node relies on its copy. Redis keeps for a day which
	// members were shown again.
	moderationKept = 12 * time.Hour
	// maxHidden bounds the hidden members at one time, because each node has a copy of
	// them.
	maxHidden = 100_000
)

// hides reports whether a member is hidden on an instance.
func (m *moderation) hides(instance, kind, member string) bool {
	if m.revision == 0 {
		return false
	}
	for _, where := range []string{boardScope(instance), kindScope(kind)} {
		if h := m.hidden[where]; h != nil {
			if _, hidden := h.members[member]; hidden {
				return true
			}
		}
	}
	return false
}

// latest is the revision of the latest change that concerns an instance.
func (m *moderation) latest(instance, kind string) int64 {
	latest := int64(0)
	for _, where := range []string{boardScope(instance), kindScope(kind)} {
		if h := m.hidden[where]; h != nil {
			latest = max(latest, h.revision)
		}
	}
	return latest
}

// since lists the members hidden on an instance after a revision.
func (m *moderation) since(instance, kind string, revision int64) []string {
	var members []string
	for _, where := range []string{boardScope(instance), kindScope(kind)} {
		if h := m.hidden[where]; h != nil && h.revision > revision {
			for member, since := range h.members {
				if since > revision {
					members = append(members, member)
				}
			}
		}
	}
	slices.Sort(members)
	return slices.Compact(members)
}

// readModeration returns the moderation at the given revision; m is the copy at hand. now
// is Redis's clock, in µs since 1970.
func (c *catalog) readModeration(ctx context.Context, m *moderation, revision, now int64) (*moderation, error) {
	if m.revision == revision && now-m.looked < moderationKept.Microseconds() {
		return &moderation{revision, now, m.hidden}, nil
	}
	if revision < m.revision {
		// Redis has lost some changes. The node restores them from its copy.
		if err := c.rehide(ctx, m); err != nil {
			return nil, err
		}
		return &moderation{revision, now, m.hidden}, nil // the node reads it again
	}
	// This read may see some changes that come in during it. The next read sees them all.
	next := &moderation{revision: revision, looked: now, hidden: make(map[string]*hiddenMembers)}
	from := int64(0)
	if m.revision < revision && now-m.looked < moderationKept.Microseconds() {
		from = m.revision
		for where, h := range m.hidden {
			next.hidden[where] = &hiddenMembers{h.revision, maps.Clone(h.members)}
		}
	} // else Redis may have forgotten which members were shown again
	for _, set := range []struct {
		key string
		put func(h *hiddenMembers, member string, revision int64)
	}{
		{c.keys.Shown(), func(h *hiddenMembers, member string, revision int64) {
			if h.members[member] < revision {
				delete(h.members, member)
			}
		}},
		{c.keys.Hidden(), func(h *hiddenMembers, member string, revision int64) { h.members[member] = revision }},
	} {
		for after := from; ; {
			page, err := c.rdb.ZRangeArgsWithScores(ctx, redis.ZRangeArgs{
				Key: set.key, Start: "(" + strconv.FormatInt(after, 10), Stop: "+inf", ByScore: true, Count: moderationPage,
			}).Result()
			if err != nil {
				return nil, fmt.Errorf("%w: read the hidden members: %w", ErrUnavailable, err)
			}
			for _, z := range page {
				where, member, _ := strings.Cut(z.Member.(string), keyspace.FieldSep)
				h := next.hidden[where]
				if h == nil {
					h = &hiddenMembers{members: make(map[string]int64)}
					next.hidden[where] = h
				}
				after = int64(z.Score)
				set.put(h, member, after)
				h.revision = max(h.revision, after)
			}
			if len(page) < moderationPage {
				break
			}
		}
	}
	return next, nil
}

// rehide restores the hidden members in Redis from the node's copy.
func (c *catalog) rehide(ctx context.Context, m *moderation) error {
	var entries []any
	for where, h := range m.hidden {
		for member := range h.members {
			entries = append(entries, where+keyspace.FieldSep+member)
		}
	}
	for {
		n, last := min(len(entries), moderationPage), ""
		if n == len(entries) {
			last = "1"
		}
		args := append([]any{m.revision, last}, entries[:n]...)
		if _, err := script.Rehide.Run(ctx, c.rdb, []string{c.keys.Hidden(), c.keys.Shown(), c.keys.Definitions()}, args); err != nil {
			return err
		}
		if entries = entries[n:]; len(entries) == 0 {
			return nil
		}
	}
}
