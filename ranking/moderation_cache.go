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

// moderation is a node's copy of who is hidden where. It never changes.
type moderation struct {
	revision int64                     // the latest, see censor.lua; 0: nobody was ever hidden
	looked   int64                     // by Redis's clock, µs since 1970
	hidden   map[string]*hiddenMembers // by where
}

// hiddenMembers are those of a kind, or of an instance.
type hiddenMembers struct {
	revision int64            // the latest, of somebody who is hidden or is not any more
	members  map[string]int64 // to the revision that hid them
}

// Where members are hidden.
func kindScope(kind string) string      { return "k/" + kind }
func boardScope(instance string) string { return "b/" + instance }

const (
	// moderationPage is how much of what has changed is read in one call.
	moderationPage = 1000
	// moderationKept is for how long a node counts on what it knows, of the day for
	// which those shown again are kept.
	moderationKept = 12 * time.Hour
	// maxHidden bounds who may be hidden at one time, of which each node has a copy.
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

// latest is the revision of what was last done on an instance.
func (m *moderation) latest(instance, kind string) int64 {
	latest := int64(0)
	for _, where := range []string{boardScope(instance), kindScope(kind)} {
		if h := m.hidden[where]; h != nil {
			latest = max(latest, h.revision)
		}
	}
	return latest
}

// since are those hidden on an instance after a revision.
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

// readModeration brings m up to a revision that there is, as of a moment of Redis's
// clock.
func (c *catalog) readModeration(ctx context.Context, m *moderation, revision, now int64) (*moderation, error) {
	if m.revision == revision && now-m.looked < moderationKept.Microseconds() {
		return &moderation{revision, now, m.hidden}, nil
	}
	if revision < m.revision {
		// Redis has lost some of it; the node has not.
		if err := c.rehide(ctx, m); err != nil {
			return nil, err
		}
		return &moderation{revision, now, m.hidden}, nil // and looks again
	}
	// What comes in while this is read may be seen or not, and is read again.
	next := &moderation{revision: revision, looked: now, hidden: make(map[string]*hiddenMembers)}
	from := int64(0)
	if m.revision < revision && now-m.looked < moderationKept.Microseconds() {
		from = m.revision
		for where, h := range m.hidden {
			next.hidden[where] = &hiddenMembers{h.revision, maps.Clone(h.members)}
		}
	} // else Redis may have forgotten who was shown again
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
				return nil, fmt.Errorf("%w: read who is hidden: %w", ErrUnavailable, err)
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

// rehide gives back to Redis what this node knows.
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
