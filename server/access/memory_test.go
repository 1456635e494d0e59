package access

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// waitModel is a naive model of the frames that wait: a list, the longest wait first.
type waitModel struct {
	waits   []*modelWait
	givenUp []int // numbers, in order
}

type modelWait struct {
	number  int
	address Address
	memory  Memory
	wait    *Held
}

// bytes adds up the memory of the waits, each piece of shared memory once. a is an address, or nil for all.
func (m *waitModel) bytes(a *Address) (sum int) {
	shared := make(map[any]int)
	for _, w := range m.waits {
		if a == nil || w.address == *a {
			sum += w.memory.Own
			if w.memory.Shared != nil {
				shared[w.memory.Shared] = w.memory.SharedSize
			}
		}
	}
	for _, size := range shared {
		sum += size
	}
	return sum
}

// first gives up the longest wait of an address.
func (m *waitModel) first(a Address) {
	i := slices.IndexFunc(m.waits, func(w *modelWait) bool { return w.address == a })
	m.givenUp = append(m.givenUp, m.waits[i].number)
	m.waits = slices.Delete(m.waits, i, i+1)
}

// shrink gives up waits until the memory of an address, and then that of the node, fits. Of addresses that hold the same,
// it takes the one that the node took.
func (m *waitModel) shrink(t *rapid.T, a Address, most int, taken []int) {
	for !a.Exempt() && m.bytes(&a) > max(1, most/2) {
		m.first(a)
	}
	for m.bytes(nil) > most {
		require.Greater(t, len(taken), len(m.givenUp), "the node gives up too few")
		i := slices.IndexFunc(m.waits, func(w *modelWait) bool { return w.number == taken[len(m.givenUp)] })
		require.GreaterOrEqual(t, i, 0, "the node gives up a wait that has ended")
		most := m.waits[i].address
		for _, w := range m.waits {
			require.LessOrEqual(t, m.bytes(&w.address), m.bytes(&most), "the address that holds most gives way")
		}
		m.first(most)
	}
}

// The limits of what waits hold, and the node gives up the same connections as a naive model, in its order.
func TestWaitingLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 300).Draw(t, "most")
		l := New(Config{WaitingBytes: most})
		addresses := []Address{local, client(1), client(2), client(3)}
		var model waitModel
		var givenUp []int
		began := 0
		t.Repeat(map[string]func(*rapid.T){
			"begin": func(t *rapid.T) {
				began++
				w := &modelWait{number: began, address: rapid.SampledFrom(addresses).Draw(t, "address"),
					memory: Memory{Own: rapid.IntRange(0, 60).Draw(t, "own")}}
				if key := rapid.IntRange(0, 4).Draw(t, "shared"); key > 0 {
					w.memory.Shared, w.memory.SharedSize = fmt.Sprint("rows", key), 30*key
				}
				slot := &SocketSlot{limits: l, address: w.address}
				w.wait = slot.Hold(w.memory, func() { givenUp = append(givenUp, w.number) })
				model.waits = append(model.waits, w)
				model.shrink(t, w.address, most, givenUp)
				if slices.Contains(givenUp, w.number) {
					require.False(t, w.wait.End(), "a wait that is given up has ended")
				}
			},
			"grow": func(t *rapid.T) {
				if len(model.waits) == 0 {
					t.Skip("nothing waits")
				}
				w, more := rapid.SampledFrom(model.waits).Draw(t, "which"), rapid.IntRange(0, 60).Draw(t, "more")
				w.memory.Own += more
				w.wait.Grow(more)
				model.shrink(t, w.address, most, givenUp)
			},
			"end": func(t *rapid.T) {
				if len(model.waits) == 0 {
					t.Skip("nothing waits")
				}
				i := rapid.IntRange(0, len(model.waits)-1).Draw(t, "which")
				require.True(t, model.waits[i].wait.End())
				model.waits = slices.Delete(model.waits, i, i+1)
			},
			"": func(t *rapid.T) {
				require.Equal(t, model.givenUp, givenUp)
				require.Equal(t, model.bytes(nil), l.Waiting())
				require.LessOrEqual(t, l.Waiting(), most)
				for _, a := range addresses[1:] {
					held := model.bytes(&a)
					require.LessOrEqual(t, held, max(1, most/2))
					if q := l.memory.addresses[a]; q != nil {
						require.Equal(t, held, q.bytes)
						require.Positive(t, q.waits.Len())
						require.Same(t, q, l.memory.order[q.index])
					} else {
						require.Zero(t, held)
					}
				}
				all := counted(l)
				require.EqualValues(t, len(givenUp), all["waiting_bytes"]+all["address_waiting_bytes"])
			},
		})
		for _, w := range model.waits {
			require.True(t, w.wait.End())
		}
		require.Zero(t, l.Waiting())
		require.Empty(t, l.memory.addresses)
		require.Empty(t, l.memory.node.shared)
	})
}

// Rows that many connections share count once for the node, and once for each address.
func TestSharedRowsCountOnce(t *testing.T) {
	t.Parallel()
	l := New(Config{WaitingBytes: 1000})
	rows := new(int)
	wait := func(a Address, shared any, size int) (w *Held, givenUp *bool) {
		givenUp = new(bool)
		slot := &SocketSlot{limits: l, address: a}
		return slot.Hold(Memory{Own: 1, Shared: shared, SharedSize: size}, func() { *givenUp = true }), givenUp
	}
	for range 50 {
		wait(client(1), rows, 400)
		wait(client(2), rows, 400)
	}
	require.Equal(t, 500, l.Waiting())
	require.Empty(t, counted(l))
	_, first := wait(client(1), new(int), 400)
	require.False(t, *first)
	require.EqualValues(t, 50, counted(l)["address_waiting_bytes"], "the rows go with the last that holds them")
	require.Equal(t, 50+400+401, l.Waiting(), "the other address keeps them")
	_, program := wait(local, nil, 0)
	wait(local, new(int), 700)
	require.EqualValues(t, 2, counted(l)["waiting_bytes"], "those of the address that holds most, the longest first")
	require.True(t, *program)
	require.False(t, *first)
}
