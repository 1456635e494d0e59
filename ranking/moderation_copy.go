package ranking

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/tidwall/btree"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/script"
)

// moderation is a node's copy of the hidden members. It never changes: readers may use it concurrently.
// The node reads the changes into the next one, which shares with it what stays the same. So an act of
// moderation costs what it changes.
type moderation struct {
	revision int64                         // the latest, see censor.lua; 0: no member was ever hidden
	looked   int64                         // when the node read it, by Redis's clock, µs since 1970
	members  btree.Map[string, int64]      // by hiddenEntry: the revision that hid the member
	hidings  btree.Set[string]             // the same by hidingEntry: in the order of their revisions
	scopes   btree.Map[string, scopeState] // those with hidden members, and the emptied ones
	emptied  btree.Map[int64, string]      // scopes without hidden members, by their revision
	// forgotten is the revision up to which the copy may lack emptied scopes. Members that were hidden in
	// them may still have to be shown.
	forgotten int64
}

// scopeState is the state of a kind, or of an instance.
type scopeState struct {
	revision int64 // of the latest change: a member was hidden or shown again
	hidden   int   // number of members
}

// kindScope and boardScope are the scopes in which members are hidden.
func kindScope(kind string) string      { return "k/" + kind }
func boardScope(instance string) string { return "b/" + instance }

// hiddenEntry names a member of a scope, as Redis does.
func hiddenEntry(scope, member string) string { return scope + keyspace.FieldSep + member }

// hidingEntry sorts the members of a scope by the revision that hid them.
func hidingEntry(scope string, revision int64, member string) string {
	return string(binary.BigEndian.AppendUint64([]byte(hiddenEntry(scope, "")), uint64(revision))) + member
}

// maxEmptied bounds the emptied scopes that a node remembers, and the members shown again that Redis does.
// It is more than Redis can record between two looks of a node.
const maxEmptied = 20_000

// next is a copy to read changes into.
func (m *moderation) next(revision, now int64) *moderation {
	return &moderation{revision, now, *m.members.Copy(), *m.hidings.Copy(), *m.scopes.Copy(), *m.emptied.Copy(), m.forgotten}
}

// hide records that a revision has hidden a member. The caller owns m.
func (m *moderation) hide(scope, member string, revision int64) {
	state, known := m.scopes.Get(scope)
	if known && state.hidden == 0 {
		m.emptied.Delete(state.revision)
	}
	if since, hidden := m.members.Set(hiddenEntry(scope, member), revision); hidden {
		m.hidings.Delete(hidingEntry(scope, since, member))
	} else {
		state.hidden++
	}
	m.hidings.Insert(hidingEntry(scope, revision, member))
	state.revision = max(state.revision, revision)
	m.scopes.Set(scope, state)
}

// show records that a revision has shown a member again. The caller owns m.
func (m *moderation) show(scope, member string, revision int64) {
	state, known := m.scopes.Get(scope)
	if known && state.hidden == 0 {
		m.emptied.Delete(state.revision)
	}
	entry := hiddenEntry(scope, member)
	if since, hidden := m.members.Get(entry); hidden && since < revision {
		m.members.Delete(entry)
		m.hidings.Delete(hidingEntry(scope, since, member))
		state.hidden--
	}
	state.revision = max(state.revision, revision)
	m.scopes.Set(scope, state)
	if state.hidden > 0 {
		return
	}
	m.emptied.Set(state.revision, scope)
	if m.emptied.Len() > maxEmptied {
		oldest, scope, _ := m.emptied.Min()
		m.emptied.Delete(oldest)
		m.scopes.Delete(scope)
		m.forgotten = max(m.forgotten, oldest)
	}
}

// hides reports whether a member is hidden on an instance.
func (m *moderation) hides(instance, kind, member string) bool {
	return m.hidesIn(boardScope(instance), member) || m.hidesIn(kindScope(kind), member)
}

// hidesIn reports whether a member is hidden in a scope.
func (m *moderation) hidesIn(scope, member string) bool {
	if m.count(scope) == 0 {
		return false
	}
	_, hidden := m.members.Get(hiddenEntry(scope, member))
	return hidden
}

// count is the number of members hidden in a scope.
func (m *moderation) count(scope string) int {
	state, _ := m.scopes.Get(scope)
	return state.hidden
}

// latest is the revision of the latest change that the copy knows to concern an instance.
func (m *moderation) latest(instance, kind string) int64 {
	board, _ := m.scopes.Get(boardScope(instance))
	everywhere, _ := m.scopes.Get(kindScope(kind))
	return max(board.revision, everywhere.revision)
}

// since lists the members hidden on an instance after a revision. If there are more than most, it lists
// none and all is false.
func (m *moderation) since(instance, kind string, revision, most int64) (members []string, all bool) {
	all = true
	for _, scope := range []string{boardScope(instance), kindScope(kind)} {
		inScope, from := hiddenEntry(scope, ""), hidingEntry(scope, revision+1, "")
		m.hidings.Ascend(from, func(entry string) bool {
			if !strings.HasPrefix(entry, inScope) {
				return false
			}
			if all = int64(len(members)) < most; all {
				members = append(members, entry[len(from):])
			}
			return all
		})
		if !all {
			return nil, false
		}
	}
	slices.Sort(members)
	return slices.Compact(members), true
}

// in lists the members hidden in a scope with an id greater than after, by id, and the revision that hid
// each.
func (m *moderation) in(scope, after string) iter.Seq2[string, int64] {
	return func(yield func(string, int64) bool) {
		if m.count(scope) == 0 {
			return
		}
		prefix := hiddenEntry(scope, "")
		m.members.Ascend(prefix+after, func(entry string, revision int64) bool {
			member, inside := strings.CutPrefix(entry, prefix)
			return inside && (member == after || yield(member, revision))
		})
	}
}

// page lists the first members that are hidden in a scope with an id greater than after, by id, at most
// limit.
func (m *moderation) page(scope, after string, limit int) []string {
	page := make([]string, 0, min(limit, m.count(scope)))
	for member := range m.in(scope, after) {
		if len(page) == limit {
			break
		}
		page = append(page, member)
	}
	return page
}

const (
	// moderationPage is the number of changes in one read.
	moderationPage = 1000
	// moderationKept is how long a node relies on its copy. Redis keeps for a day at most which
	// members were shown again.
	moderationKept = 12 * time.Hour
	// maxHidden bounds the hidden members at one time, because each node has a copy of
	// them.
	maxHidden = 100_000
)

// readModeration returns the moderation at the given revision; m is the copy at hand. now
// is Redis's clock, in µs since 1970.
func (c *catalog) readModeration(ctx context.Context, m *moderation, revision, now int64) (*moderation, error) {
	recent := now-m.looked < moderationKept.Microseconds()
	if m.revision == revision && recent {
		return m.next(revision, now), nil
	}
	if revision < m.revision {
		// Redis has lost some changes. The node restores them from its copy.
		if err := c.rehide(ctx, m); err != nil {
			return nil, err
		}
		return m.next(revision, now), nil // the node reads it again
	}
	// This read may see some changes that come in during it. The next read sees them all.
	if recent && m.revision > 0 {
		next := m.next(revision, now)
		if err := c.readModerationSince(ctx, next, m.revision); err != nil {
			return nil, err
		}
		if next.forgotten <= m.revision {
			return next, nil
		}
	} // else Redis may have forgotten which members were shown again
	next := &moderation{revision: revision, looked: now}
	return next, c.readModerationSince(ctx, next, 0)
}

// readModerationSince reads all changes after a revision into m. If m.forgotten is greater after it, Redis
// has no longer known all members that were shown again.
func (c *catalog) readModerationSince(ctx context.Context, m *moderation, after int64) error {
	for _, set := range []struct {
		key string
		put func(scope, member string, revision int64)
	}{{c.keys.Shown(), m.show}, {c.keys.Hidden(), m.hide}} {
		// rehide gives many members one revision, so a page may end in the middle of a revision.
		for from, seen := after+1, int64(0); ; {
			pipe := c.rdb.Pipeline()
			read := pipe.ZRangeArgsWithScores(ctx, redis.ZRangeArgs{
				Key: set.key, Start: from, Stop: "+inf", ByScore: true, Offset: seen, Count: moderationPage,
			})
			// After the page, so that nothing that the page lacks is missing here.
			forgotten := pipe.HGet(ctx, c.keys.Definitions(), forgottenField)
			if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
				return fmt.Errorf("%w: read the hidden members: %w", definition.ErrUnavailable, err)
			}
			if text := forgotten.Val(); text != "" {
				revision, err := strconv.ParseInt(text, 10, 64)
				if err != nil {
					return fmt.Errorf("%w: the moderation holds %q, which is not a revision", definition.ErrUnavailable, text)
				}
				m.forgotten = max(m.forgotten, revision)
			}
			page := read.Val()
			for _, z := range page {
				scope, member, _ := strings.Cut(z.Member.(string), keyspace.FieldSep)
				if revision := int64(z.Score); revision > from {
					from, seen = revision, 0
				}
				seen++
				set.put(scope, member, from)
			}
			if len(page) < moderationPage {
				break
			}
		}
	}
	return nil
}

// rehide restores the hidden members in Redis from the node's copy.
func (c *catalog) rehide(ctx context.Context, m *moderation) error {
	entries := m.members.Keys()
	for {
		n, last := min(len(entries), moderationPage), ""
		if n == len(entries) {
			last = "1"
		}
		args := appendTexts([]any{m.revision, last}, entries[:n])
		if err := script.Rehide.Run(ctx, c.rdb, []string{c.keys.Hidden(), c.keys.Shown(), c.keys.Definitions()}, args).Err; err != nil {
			return err
		}
		if entries = entries[n:]; len(entries) == 0 {
			return nil
		}
	}
}
