package view

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/sortkey"
)

// The rank index follows each change of a board of thousands, over many blocks, while
// members are followed and unfollowed. It finds neighbours across blocks.
func TestRankIndexOverManyBlocks(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	const members = 6000
	var r rankIndex
	board := make([]OrderKey, 0, members) // in order
	followed := make(map[string]*Member)
	find := func(p OrderKey) int {
		i, _ := slices.BinarySearchFunc(board, p, func(a, b OrderKey) int {
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
	held := make(map[string]OrderKey)
	leave := func(p OrderKey) {
		if f := followed[p.member]; f != nil {
			r.remove(f)
		}
		i := find(p)
		board = slices.Delete(board, i, i+1)
		_, _, ok := r.shift(p, -1)
		require.True(t, ok)
		delete(held, p.member)
	}
	enter := func(p OrderKey) {
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
		// In batches, as a board notifies members.
		each := func(f *Member, rank int64) {
			n++
			require.Equal(t, int64(find(f.orderKey()))+1, rank)
			require.Greater(t, rank, last)
			require.Equal(t, rank, r.rank(f))
			last = rank
		}
		for cursor, first := (*OrderKey)(nil), true; first || cursor != nil; first = false {
			cursor = r.walk(cursor, 1+random.IntN(700), each)
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
	for phase, follow := range []int{9, 9, 5, 1, 1, 9, 0} { // of ten that are followed or unfollowed
		for range 3000 {
			m := name()
			switch p, on := held[m]; {
			case random.IntN(3) > 0 && random.IntN(10) < follow && followed[m] == nil:
				f := &Member{name: m, key: p.key}
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
					enter(OrderKey{sortkey.Key(random.IntN(2000)), m})
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
		// Each member within reach of a position is found.
		for range 200 {
			p := OrderKey{sortkey.Key(random.IntN(2000)), name()}
			b, i := r.seek(p)
			near := make(map[string]bool)
			r.eachNear(b, i, 5, func(f *Member) { near[f.name] = true })
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
	require.Empty(t, r.blocks, "without members nothing is left")
}

// The index refuses a rank that another member has, and one that leaves no rank between two
// members.
func TestRankIndexRefusesContradictions(t *testing.T) {
	t.Parallel()
	held := func() (r rankIndex) {
		for i, rank := range []int64{3, 4, 9} {
			require.True(t, r.insert(&Member{name: fmt.Sprint("m", i), key: sortkey.Key(10 * i)}, rank))
		}
		return r
	}
	for key, ranks := range map[sortkey.Key][]int64{-1: {0, 3}, 5: {3, 4, 5}, 15: {4, 9, 10}, 25: {9, 8}} {
		for _, rank := range ranks {
			r := held()
			require.False(t, r.insert(&Member{name: "x", key: key}, rank), "rank %d at %v", rank, key)
		}
	}
	r := held()
	_, _, ok := r.shift(OrderKey{5, "x"}, -1)
	require.False(t, ok, "no member was between ranks 3 and 4")
	r = held()
	for i := range 3 {
		_, _, ok = r.shift(OrderKey{-1, "x"}, -1)
		require.Equal(t, i < 2, ok, "two were before rank 3")
	}
}
