package view

import (
	"slices"
	"sort"

	"rankcast/ranking/sortkey"
)

// blockSlots is how many members a block has after a split. A block is split at twice as
// many, and merged with a neighbour where both together have fewer. Of 64 to 512 it is the
// fastest with 100,000 followed (BenchmarkFollowed).
const blockSlots = 256

// rankIndex holds followed members in the order of the board, each with its distance in
// rank from the one before. A member that enters or leaves the board shifts all members
// behind it by a change of one distance. Blocks with the sums of their distances make a
// search cheap. The cost depends on how many members are followed, never on the size of the
// board.
//
// On a board with ties it holds positions; scoreRanks holds the ranks.
//
// Methods report false where an argument contradicts the distances. The index is of no use
// after that.
type rankIndex struct {
	blocks []*block
}

type block struct {
	slots []slot // in order, never empty
	sum   int64  // of the gaps
}

type slot struct {
	key    sortkey.Key
	member *Member
	gap    int64 // distance in rank from the slot before, also across blocks; from 0 for the first
}

// clear removes all members.
func (r *rankIndex) clear() { r.blocks = nil }

// seek returns the first slot that is not before p, as its block and index. It returns the
// number of blocks and 0 where all slots are before p.
func (r *rankIndex) seek(p OrderKey) (b, i int) {
	before := func(s *slot) bool {
		if s.key != p.key {
			return s.key < p.key
		}
		return s.member.name < p.member
	}
	b = sort.Search(len(r.blocks), func(b int) bool {
		slots := r.blocks[b].slots
		return !before(&slots[len(slots)-1])
	})
	if b == len(r.blocks) {
		return b, 0
	}
	slots := r.blocks[b].slots
	return b, sort.Search(len(slots), func(i int) bool { return !before(&slots[i]) })
}

// rankBefore is the rank of the slot before the one at (b, i); 0 for the first.
func (r *rankIndex) rankBefore(b, i int) (rank int64) {
	for _, other := range r.blocks[:b] {
		rank += other.sum
	}
	if b < len(r.blocks) {
		for _, s := range r.blocks[b].slots[:i] {
			rank += s.gap
		}
	}
	return rank
}

// rank is the rank of a member in the index.
func (r *rankIndex) rank(m *Member) int64 {
	b, i := r.seek(m.orderKey())
	return r.rankBefore(b, i) + r.blocks[b].slots[i].gap
}

// adjustGap adds to the gap of the slot at (b, i), if there is one.
func (r *rankIndex) adjustGap(b, i int, by int64) bool {
	if b == len(r.blocks) {
		return true // no slot is behind
	}
	if i == len(r.blocks[b].slots) {
		return r.adjustGap(b+1, 0, by)
	}
	r.blocks[b].sum += by
	gap := &r.blocks[b].slots[i].gap
	*gap += by
	return *gap >= 1
}

// shift moves all slots behind p by so many ranks. It returns the first of them.
func (r *rankIndex) shift(p OrderKey, by int64) (b, i int, ok bool) {
	b, i = r.seek(p)
	return b, i, r.adjustGap(b, i, by)
}

// insert adds a member at its rank on the board. It shifts no other slot.
func (r *rankIndex) insert(m *Member, rank int64) bool { return r.insertAt(m.orderKey(), m, rank) }

func (r *rankIndex) insertAt(p OrderKey, m *Member, rank int64) bool {
	b, i := r.seek(p)
	if b == len(r.blocks) { // behind all slots
		if b == 0 {
			r.blocks = []*block{{}}
			b = 1
		}
		b--
		i = len(r.blocks[b].slots)
	}
	gap := rank - r.rankBefore(b, i)
	if gap < 1 || !r.adjustGap(b, i, -gap) {
		return false
	}
	at := r.blocks[b]
	at.slots = slices.Insert(at.slots, i, slot{p.key, m, gap})
	at.sum += gap
	if len(at.slots) == 2*blockSlots {
		r.split(b)
	}
	return true
}

// remove removes a member. It shifts no other slot.
func (r *rankIndex) remove(m *Member) { r.removeAt(m.orderKey()) }

func (r *rankIndex) removeAt(p OrderKey) {
	b, i := r.seek(p)
	at := r.blocks[b]
	gap := at.slots[i].gap
	at.slots = slices.Delete(at.slots, i, i+1)
	at.sum -= gap
	r.adjustGap(b, i, gap)
	switch {
	case len(at.slots) == 0:
		r.blocks = slices.Delete(r.blocks, b, b+1)
	case b+1 < len(r.blocks) && len(at.slots)+len(r.blocks[b+1].slots) < blockSlots:
		r.merge(b)
	case b > 0 && len(at.slots)+len(r.blocks[b-1].slots) < blockSlots:
		r.merge(b - 1)
	}
}

func (r *rankIndex) split(b int) {
	first := r.blocks[b]
	second := &block{slots: append(make([]slot, 0, 2*blockSlots), first.slots[blockSlots:]...)}
	for _, s := range second.slots {
		second.sum += s.gap
	}
	clear(first.slots[blockSlots:])
	first.slots = first.slots[:blockSlots]
	first.sum -= second.sum
	r.blocks = slices.Insert(r.blocks, b+1, second)
}

// merge merges a block with the next one.
func (r *rankIndex) merge(b int) {
	r.blocks[b].slots = append(r.blocks[b].slots, r.blocks[b+1].slots...)
	r.blocks[b].sum += r.blocks[b+1].sum
	r.blocks = slices.Delete(r.blocks, b+1, b+2)
}

// eachNear calls do for the members that may be within reach ranks of a position just
// before the slot at (b, i).
func (r *rankIndex) eachNear(b, i int, reach int64, do func(*Member)) {
	distance := int64(1) // at least
	for back, j := b, i; distance <= reach; {
		if j == 0 {
			if back == 0 {
				break
			}
			back--
			j = len(r.blocks[back].slots)
		}
		j--
		s := r.blocks[back].slots[j]
		do(s.member)
		distance += s.gap
	}
	distance = 1
	for b < len(r.blocks) {
		slots := r.blocks[b].slots
		if i == len(slots) {
			b, i = b+1, 0
			continue
		}
		do(slots[i].member)
		if i++; i < len(slots) {
			distance += slots[i].gap
		} else if b+1 < len(r.blocks) {
			distance += r.blocks[b+1].slots[0].gap
		}
		if distance > reach {
			break
		}
	}
}

// walk calls do for members in order, with their ranks: for limit of them at most, from a
// cursor on; a nil cursor is the first. It returns the next cursor, nil after the last.
func (r *rankIndex) walk(cursor *OrderKey, limit int, do func(m *Member, rank int64)) *OrderKey {
	var b, i int
	if cursor != nil {
		b, i = r.seek(*cursor)
	}
	rank := r.rankBefore(b, i)
	for ; b < len(r.blocks); b, i = b+1, 0 {
		for _, s := range r.blocks[b].slots[i:] {
			if limit--; limit < 0 {
				return &OrderKey{s.key, s.member.name}
			}
			rank += s.gap
			do(s.member, rank)
		}
	}
	return nil
}
