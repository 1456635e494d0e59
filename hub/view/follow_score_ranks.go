package view

import (
	"math"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/feed"
	"rankcast/ranking/sortkey"
)

// scoreKeyOf is the smallest key of a score: all keys of the score are at it or above, and
// below the next integer.
func scoreKeyOf(k sortkey.Key) sortkey.Key { return sortkey.Key(math.Floor(float64(k))) }

// scoreRanks holds scores in the order of a board with shared or dense ties, each with its
// rank. It holds the scores of the followed members and of their stored neighbours. A
// member on the board has each of these scores, so no two scores have the same rank.
//
// A nil scoreRanks holds nothing and agrees with everything: on a board without ties the
// position is the rank. Methods report false as those of rankIndex do.
type scoreRanks struct {
	ties        definition.Ties
	index       rankIndex
	counts      map[sortkey.Key]int // how often each score is retained
	placeholder Member              // the member of all slots
}

// newScoreRanks returns the scoreRanks of a board; nil without ties.
func newScoreRanks(ties definition.Ties) *scoreRanks {
	if !ties.Tied() {
		return nil
	}
	return &scoreRanks{ties: ties, counts: make(map[sortkey.Key]int)}
}

// clear removes all scores.
func (t *scoreRanks) clear() {
	if t != nil {
		t.index.clear()
		clear(t.counts)
	}
}

// retain adds a reference to a score that has that rank now.
func (t *scoreRanks) retain(score sortkey.Key, rank int64) bool {
	switch {
	case t == nil:
		return true
	case t.counts[score] > 0:
		if t.rank(score) != rank {
			return false
		}
	case !t.index.insertAt(OrderKey{key: score}, &t.placeholder, rank):
		return false
	}
	t.counts[score]++
	return true
}

// release ends retain.
func (t *scoreRanks) release(score sortkey.Key) {
	if t == nil {
		return
	}
	if t.counts[score]--; t.counts[score] == 0 {
		delete(t.counts, score)
		t.index.removeAt(OrderKey{key: score})
	}
}

// releaseAll releases the scores of entries.
func (t *scoreRanks) releaseAll(entries []ranking.Entry) {
	if t != nil {
		for _, e := range entries {
			t.release(scoreKeyOf(e.Key))
		}
	}
}

// applyOld applies the first half of a change: a member leaves its score. The caller has
// released the score for that member and as a neighbour.
func (t *scoreRanks) applyOld(c feed.Change) bool {
	switch {
	case t == nil || t.ties == definition.Dense && !c.Gone:
		return true
	case c.Gone && t.counts[scoreKeyOf(*c.Old)] > 0:
		return false // a retained score has a member
	}
	return t.shift(*c.Old, -1)
}

// applyNew applies the second half of a change: a member comes to its score. The caller has
// not yet retained it.
func (t *scoreRanks) applyNew(c feed.Change) bool {
	switch {
	case t == nil || t.ties == definition.Dense && !c.Born:
		return true
	case c.Born && t.counts[scoreKeyOf(*c.New)] > 0:
		return false // a retained score had a member
	}
	return t.shift(*c.New, 1)
}

// shift moves all scores behind the score of a key by so many ranks.
func (t *scoreRanks) shift(k sortkey.Key, by int64) bool {
	_, _, ok := t.index.shift(OrderKey{key: scoreKeyOf(k) + 1}, by)
	return ok
}

// rank is the rank of a retained score.
func (t *scoreRanks) rank(score sortkey.Key) int64 {
	walk := t.walkFrom(score)
	return walk.rankOf(score)
}

// eachRank calls do with the ranks of entries in order, whose scores are retained.
func (t *scoreRanks) eachRank(entries []ranking.Entry, do func(i int, rank int64)) {
	if t == nil || len(entries) == 0 {
		return
	}
	walk := t.walkFrom(scoreKeyOf(entries[0].Key))
	for i, e := range entries {
		do(i, walk.rankOf(scoreKeyOf(e.Key)))
	}
}

// scoreWalk finds the ranks of scores in ascending order, each from the one before.
type scoreWalk struct {
	index *rankIndex
	b, i  int
	rank  int64 // of the slot before
}

// walkFrom starts a walk at a score.
func (t *scoreRanks) walkFrom(score sortkey.Key) scoreWalk {
	b, i := t.index.seek(OrderKey{key: score})
	return scoreWalk{&t.index, b, i, t.index.rankBefore(b, i)}
}

// rankOf walks to a retained score and returns its rank.
func (w *scoreWalk) rankOf(score sortkey.Key) int64 {
	for ; w.b < len(w.index.blocks); w.b, w.i = w.b+1, 0 {
		for slots := w.index.blocks[w.b].slots; w.i < len(slots); w.i++ {
			if slots[w.i].key >= score {
				return w.rank + slots[w.i].gap
			}
			w.rank += slots[w.i].gap
		}
	}
	return 0
}
