package hub

import (
	"math"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/feed"
	"rankcast/ranking/sortkey"
)

// tierOf is the score that a key was made of, as a key: all who hold the score come
// at it or behind, and before the next whole number.
func tierOf(k sortkey.Key) sortkey.Key { return sortkey.Key(math.Floor(float64(k))) }

// tiers holds scores in the order of a board with ties shared or dense, each with
// its rank, as ranks holds members with their positions. It has the scores of the
// followed members, and of their neighbours as long as those are kept; each is held
// by somebody on the board. So no two have the same rank.
//
// A nil tiers holds nothing and agrees with everything: it is that of a board where
// the position is the rank. Methods report false as those of ranks do.
type tiers struct {
	ties   definition.Ties
	ranks  ranks
	counts map[sortkey.Key]int // how often each is held
	nobody Followed            // stands in all slots
}

// newTiers makes tiers for the ties of a board.
func newTiers(ties definition.Ties) *tiers {
	if !ties.Tied() {
		return nil
	}
	return &tiers{ties: ties, counts: make(map[sortkey.Key]int)}
}

// clear forgets all scores.
func (t *tiers) clear() {
	if t != nil {
		t.ranks.clear()
		clear(t.counts)
	}
}

// hold has a score be held once more, which has that rank now.
func (t *tiers) hold(tier sortkey.Key, rank int64) bool {
	switch {
	case t == nil:
		return true
	case t.counts[tier] > 0:
		if t.rank(tier) != rank {
			return false
		}
	case !t.ranks.insertAt(place{key: tier}, &t.nobody, rank):
		return false
	}
	t.counts[tier]++
	return true
}

// drop ends hold.
func (t *tiers) drop(tier sortkey.Key) {
	if t == nil {
		return
	}
	if t.counts[tier]--; t.counts[tier] == 0 {
		delete(t.counts, tier)
		t.ranks.removeAt(place{key: tier})
	}
}

// dropAll ends hold for the scores of some entries.
func (t *tiers) dropAll(entries []ranking.Entry) {
	if t != nil {
		for _, e := range entries {
			t.drop(tierOf(e.Key))
		}
	}
}

// left takes in that a member has left its score. Neither it nor a neighbour that it
// was holds that any more.
func (t *tiers) left(c feed.Change) bool {
	switch {
	case t == nil || t.ties == definition.Dense && !c.Gone:
		return true
	case c.Gone && t.counts[tierOf(*c.Old)] > 0:
		return false // somebody does hold it
	}
	return t.shift(*c.Old, -1)
}

// came takes in that a member has come to its score, before that is held for it.
func (t *tiers) came(c feed.Change) bool {
	switch {
	case t == nil || t.ties == definition.Dense && !c.Born:
		return true
	case c.Born && t.counts[tierOf(*c.New)] > 0:
		return false // somebody did hold it
	}
	return t.shift(*c.New, 1)
}

// shift moves all scores behind that of a key by that many ranks.
func (t *tiers) shift(k sortkey.Key, by int64) bool {
	_, _, ok := t.ranks.shift(place{key: tierOf(k) + 1}, by)
	return ok
}

// rank finds the rank of a score that is held.
func (t *tiers) rank(tier sortkey.Key) int64 {
	walk := t.from(tier)
	return walk.to(tier)
}

// each calls do with the ranks of entries whose scores are held and in order.
func (t *tiers) each(entries []ranking.Entry, do func(i int, rank int64)) {
	if t == nil || len(entries) == 0 {
		return
	}
	walk := t.from(tierOf(entries[0].Key))
	for i, e := range entries {
		do(i, walk.to(tierOf(e.Key)))
	}
}

// tierWalk finds the ranks of scores that lie close together, each from where the
// one before was.
type tierWalk struct {
	ranks *ranks
	b, i  int
	rank  int64 // of the slot before
}

// from starts a walk at a score.
func (t *tiers) from(tier sortkey.Key) tierWalk {
	b, i := t.ranks.seek(place{key: tier})
	return tierWalk{&t.ranks, b, i, t.ranks.rankBefore(b, i)}
}

// to walks on to a score that is held, and gives its rank.
func (w *tierWalk) to(tier sortkey.Key) int64 {
	for ; w.b < len(w.ranks.blocks); w.b, w.i = w.b+1, 0 {
		for slots := w.ranks.blocks[w.b].slots; w.i < len(slots); w.i++ {
			if slots[w.i].key >= tier {
				return w.rank + slots[w.i].gap
			}
			w.rank += slots[w.i].gap
		}
	}
	return 0
}
