package hub

import (
	"slices"
	"sort"

	"rankcast/ranking/sortkey"
)

// blockSlots is how many followed members a block has after it was split; it is
// split at twice as many, and joined with a neighbour where both come to fewer.
// Of 64 to 512 it is the fastest with 100,000 followed (BenchmarkFollowed).
const blockSlots = 256

// ranks holds followed members in the order of the board, each with the distance
// in rank to the one before it. So a member that comes or goes moves all behind
// it by touching one distance; blocks, with the sums of theirs, make finding a
// place and a rank cheap. What it costs depends on how many are followed, never
// on the size of the board.
//
// With ties these are positions in the order; tiers has the ranks.
//
// Its methods report false for what contradicts the distances held, which are
// then of no more use.
type ranks struct {
	blocks []*block
}

type block struct {
	slots []slot // in order, never empty
	sum   int64  // of their gaps
}

type slot struct {
	key sortkey.Key
	f   *Followed
	gap int64 // from the rank of the slot before, in whichever block; from 0 for the first
}

// clear forgets everybody.
func (r *ranks) clear() { r.blocks = nil }

// seek gives the first slot that does not stand before p: its block and index,
// or the number of blocks and 0 where all do.
func (r *ranks) seek(p place) (b, i int) {
	before := func(s *slot) bool {
		if s.key != p.key {
			return s.key < p.key
		}
		return s.f.member < p.member
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
func (r *ranks) rankBefore(b, i int) (rank int64) {
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

// rank finds the rank of a member that is held.
func (r *ranks) rank(f *Followed) int64 {
	b, i := r.seek(f.place())
	return r.rankBefore(b, i) + r.blocks[b].slots[i].gap
}

// widen adds to the gap of the slot at (b, i), if there is one.
func (r *ranks) widen(b, i int, by int64) bool {
	if b == len(r.blocks) {
		return true // nobody stands behind
	}
	if i == len(r.blocks[b].slots) {
		return r.widen(b+1, 0, by)
	}
	r.blocks[b].sum += by
	gap := &r.blocks[b].slots[i].gap
	*gap += by
	return *gap >= 1
}

// shift moves all that stand behind p by that many ranks, and says where they
// begin.
func (r *ranks) shift(p place, by int64) (b, i int, ok bool) {
	b, i = r.seek(p)
	return b, i, r.widen(b, i, by)
}

// insert takes in a member at its place, which has that rank on the board; it
// moves nobody.
func (r *ranks) insert(f *Followed, rank int64) bool { return r.insertAt(f.place(), f, rank) }

func (r *ranks) insertAt(p place, f *Followed, rank int64) bool {
	b, i := r.seek(p)
	if b == len(r.blocks) { // behind all
		if b == 0 {
			r.blocks = []*block{{}}
			b = 1
		}
		b--
		i = len(r.blocks[b].slots)
	}
	gap := rank - r.rankBefore(b, i)
	if gap < 1 || !r.widen(b, i, -gap) {
		return false
	}
	at := r.blocks[b]
	at.slots = slices.Insert(at.slots, i, slot{p.key, f, gap})
	at.sum += gap
	if len(at.slots) == 2*blockSlots {
		r.split(b)
	}
	return true
}

// remove takes a member out of its place; it moves nobody.
func (r *ranks) remove(f *Followed) { r.removeAt(f.place()) }

func (r *ranks) removeAt(p place) {
	b, i := r.seek(p)
	at := r.blocks[b]
	gap := at.slots[i].gap
	at.slots = slices.Delete(at.slots, i, i+1)
	at.sum -= gap
	r.widen(b, i, gap)
	switch {
	case len(at.slots) == 0:
		r.blocks = slices.Delete(r.blocks, b, b+1)
	case b+1 < len(r.blocks) && len(at.slots)+len(r.blocks[b+1].slots) < blockSlots:
		r.join(b)
	case b > 0 && len(at.slots)+len(r.blocks[b-1].slots) < blockSlots:
		r.join(b - 1)
	}
}

func (r *ranks) split(b int) {
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

// join makes one of a block and the next.
func (r *ranks) join(b int) {
	r.blocks[b].slots = append(r.blocks[b].slots, r.blocks[b+1].slots...)
	r.blocks[b].sum += r.blocks[b+1].sum
	r.blocks = slices.Delete(r.blocks, b+1, b+2)
}

// near calls do for those whose rank may be within reach of a position that
// stands just before the slot at (b, i).
func (r *ranks) near(b, i int, reach int64, do func(*Followed)) {
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
		do(s.f)
		distance += s.gap
	}
	distance = 1
	for b < len(r.blocks) {
		slots := r.blocks[b].slots
		if i == len(slots) {
			b, i = b+1, 0
			continue
		}
		do(slots[i].f)
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

// each calls do for members in order, with their ranks: for most of them at most,
// from a cursor on, nil being the first. It returns the cursor to go on from, nil
// after the last.
func (r *ranks) each(cursor *place, most int, do func(f *Followed, rank int64)) *place {
	var b, i int
	if cursor != nil {
		b, i = r.seek(*cursor)
	}
	rank := r.rankBefore(b, i)
	for ; b < len(r.blocks); b, i = b+1, 0 {
		for _, s := range r.blocks[b].slots[i:] {
			if most--; most < 0 {
				return &place{s.key, s.f.member}
			}
			rank += s.gap
			do(s.f, rank)
		}
	}
	return nil
}
