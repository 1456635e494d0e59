package hub

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/sortkey"
)

// Ranks follow every change on a board of thousands, over many blocks, while
// members come to be followed and cease to be; and neighbours are found across
// the blocks.
func TestRanksOverManyBlocks(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const members = 6000
	var r ranks
	board := make([]place, 0, members) // in order
	followed := make(map[string]*Followed)
	find := func(p place) int {
		i, _ := slices.BinarySearchFunc(board, p, func(a, b place) int {
			switch {
			case a == b:
				return 0
			case a.before(b):
				return -1
			}
			return 1
		})
		return i
	}
	held := make(map[string]place)
	leave := func(p place) {
		if f := followed[p.member]; f != nil {
			r.remove(f)
		}
		i := find(p)
		board = slices.Delete(board, i, i+1)
		_, _, ok := r.shift(p, -1)
		require.True(t, ok)
		delete(held, p.member)
	}
	enter := func(p place) {
		i := find(p)
		board = slices.Insert(board, i, p)
		held[p.member] = p
		_, _, ok := r.shift(p, 1)
		require.True(t, ok)
		if f := followed[p.member]; f != nil {
			f.key = p.key
			require.True(t, r.insert(f, int64(i)+1))
		}
	}
	check := func() {
		n := 0
		var last int64
		// In pieces, as a board tells them.
		each := func(f *Followed, rank int64) {
			n++
			require.Equal(t, int64(find(f.place()))+1, rank)
			require.Greater(t, rank, last)
			require.Equal(t, rank, r.rank(f))
			last = rank
		}
		for cursor, first := (*place)(nil), true; first || cursor != nil; first = false {
			cursor = r.each(cursor, 1+random.IntN(700), each)
		}
		there := 0
		for m := range followed {
			if _, on := held[m]; on {
				there++
			}
		}
		require.Equal(t, there, n)
		for _, b := range r.blocks {
			require.NotEmpty(t, b.slots)
			require.Less(t, len(b.slots), 2*blockSlots)
		}
	}
	name := func() string { return fmt.Sprint("m", random.IntN(members)) }
	most := 0
	for phase, follow := range []int{9, 9, 5, 1, 1, 9, 0} { // of ten who come or go
		for range 3000 {
			m := name()
			switch p, on := held[m]; {
			case random.IntN(3) > 0 && random.IntN(10) < follow && followed[m] == nil:
				f := &Followed{member: m, key: p.key}
				followed[m] = f
				if on {
					require.True(t, r.insert(f, int64(find(p))+1))
				}
			case random.IntN(3) == 0 && random.IntN(10) >= follow && followed[m] != nil:
				if on {
					r.remove(followed[m])
				}
				delete(followed, m)
			default:
				if on {
					leave(p)
				}
				if !on || random.IntN(5) > 0 {
					enter(place{sortkey.Key(random.IntN(2000)), m})
				}
			}
			if most = max(most, len(r.blocks)); random.IntN(100) == 0 {
				check()
			}
		}
		check()
		if phase == 1 {
			require.Greater(t, len(r.blocks), 3)
		}
		// Whoever is within reach of a position is found.
		for range 200 {
			p := place{sortkey.Key(random.IntN(2000)), name()}
			b, i := r.seek(p)
			near := make(map[string]bool)
			r.near(b, i, 5, func(f *Followed) { near[f.member] = true })
			at := find(p)
			for j := max(0, at-5); j < min(len(board), at+5); j++ {
				if m := board[j].member; followed[m] != nil {
					require.True(t, near[m], "%d places from a position", j-at)
				}
			}
			require.LessOrEqual(t, len(near), 12)
		}
	}
	for m, f := range followed {
		if _, on := held[m]; on {
			r.remove(f)
		}
	}
	require.Empty(t, r.blocks, "nobody is followed, nothing is left")
}

// What cannot be is refused: a rank that another has, and one that leaves less
// than a rank between two.
func TestRanksRefuseWhatCannotBe(t *testing.T) {
	held := func() (r ranks) {
		for i, rank := range []int64{3, 4, 9} {
			require.True(t, r.insert(&Followed{member: fmt.Sprint("m", i), key: sortkey.Key(10 * i)}, rank))
		}
		return r
	}
	for key, ranks := range map[sortkey.Key][]int64{-1: {0, 3}, 5: {3, 4, 5}, 15: {4, 9, 10}, 25: {9, 8}} {
		for _, rank := range ranks {
			r := held()
			require.False(t, r.insert(&Followed{member: "x", key: key}, rank), "rank %d at %v", rank, key)
		}
	}
	r := held()
	_, _, ok := r.shift(place{5, "x"}, -1)
	require.False(t, ok, "nobody was between ranks 3 and 4")
	r = held()
	for i := range 3 {
		_, _, ok = r.shift(place{-1, "x"}, -1)
		require.Equal(t, i < 2, ok, "two were before rank 3")
	}
}
