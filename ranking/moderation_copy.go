package ranking

import (
	"encoding/binary"
	"iter"
	"slices"
	"strings"

	"github.com/tidwall/btree"

	"rankcast/ranking/internal/keyspace"
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

// at is the same content, as of another read.
func (m *moderation) at(revision, now int64) *moderation {
	same := *m
	same.revision, same.looked = revision, now
	return &same
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
