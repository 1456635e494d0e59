package fair

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestKeysTakeTurns(t *testing.T) {
	t.Parallel()
	var q Queue[string, int]
	for i := range 4 {
		q.Push("a", i)
	}
	q.Push("b", 10)
	q.Push("c", 20)
	pop := func(want int) {
		t.Helper()
		got, ok := q.Pop()
		require.True(t, ok)
		require.Equal(t, want, got)
	}
	pop(0)
	pop(10)
	q.Push("b", 11) // b has had its turn: it comes after those that wait
	pop(20)
	pop(1)
	pop(11)
	pop(2)
	pop(3)
	_, ok := q.Pop()
	require.False(t, ok)
	q.Push("b", 12)
	pop(12)
}

// Values that are gone cost no turn: b has its value in the same round as a.
func TestValuesThatAreGoneCostNoTurn(t *testing.T) {
	t.Parallel()
	var q Queue[string, int]
	for i := range 3 {
		q.Push("a", i)
		q.Push("b", 10+i)
	}
	gone := func(v int) bool { return v == 10 || v == 11 || v == 2 }
	for _, want := range []int{0, 12, 1} {
		got, ok := q.PopUnless(gone)
		require.True(t, ok)
		require.Equal(t, want, got)
	}
	got, ok := q.PopUnless(gone)
	require.False(t, ok)
	require.Zero(t, got)
	q.Push("b", 13)
	got, _ = q.Pop()
	require.Equal(t, 13, got)
}

// Every value comes out once, those of a key in their order, and no key gets two turns while another one
// waits for its first.
func TestEveryKeyGetsItsTurn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var q Queue[int, int]
		waiting := make(map[int][]int)   // by key
		overtaken := make(map[int][]int) // keys that had a turn while a key waits, by the key that waits
		next := 0
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			if key := rapid.IntRange(-5, 5).Draw(t, "key"); key >= 0 {
				next++
				q.Push(key, next)
				waiting[key] = append(waiting[key], next)
				continue
			}
			v, ok := q.Pop()
			require.Equal(t, len(waiting) > 0, ok)
			if !ok {
				continue
			}
			turn := -1
			for key, line := range waiting {
				if line[0] == v {
					turn = key
				}
			}
			require.GreaterOrEqual(t, turn, 0, "it is the first of its line")
			if waiting[turn] = waiting[turn][1:]; len(waiting[turn]) == 0 {
				delete(waiting, turn)
			}
			delete(overtaken, turn)
			for key := range waiting {
				if key != turn {
					require.NotContains(t, overtaken[key], turn)
					overtaken[key] = append(overtaken[key], turn)
				}
			}
		}
	})
}
