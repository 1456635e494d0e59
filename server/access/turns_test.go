package access

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking/redistest"
)

// A client that writes much delays another client only by the requests under way.
func TestWritesTakeTurns(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l := New(Config{Requests: 4})
		var mu sync.Mutex
		var order []string
		var writers sync.WaitGroup
		write := func(a Address, bytes int) {
			writers.Go(func() {
				release, _, err := l.AcquireWrite(t.Context(), a, bytes)
				require.NoError(t, err)
				mu.Lock()
				order = append(order, fmt.Sprint(a, " ", bytes/turnUnit))
				mu.Unlock()
				time.Sleep(time.Millisecond)
				release()
			})
			synctest.Wait()
		}
		many, few := client(1), client(2)
		for range 3 {
			write(many, 100*turnUnit) // counts as two, half of all
		}
		write(few, 0)
		require.Equal(t, []string{"198.0.0.1 100", "198.0.0.2 0"}, order, "there is room for another address at once")
		for range 3 {
			write(few, turnUnit)
		}
		write(local, 3*turnUnit)
		redistest.Wait(t, "the end of writers", writers.Wait)
		require.Len(t, order, 8)
		require.Empty(t, l.writes.lines)
	})
}

// A write that has waited for two seconds is refused, and one whose caller has gone leaves its place.
func TestWriteWaitsForALimitedTime(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		l := New(Config{Requests: 2})
		release, waited, err := l.AcquireWrite(t.Context(), client(1), 0)
		require.NoError(t, err)
		require.Zero(t, waited)
		gone, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var first sync.WaitGroup
		first.Go(func() {
			_, _, err := l.AcquireWrite(gone, client(1), 0)
			require.ErrorIs(t, err, ErrOverloaded)
		})
		synctest.Wait()
		_, _, err = l.AcquireWrite(t.Context(), client(1), 0)
		requireRefused(t, err, Requests, ErrOverloaded, turnRetry)
		redistest.Wait(t, "the end of first", first.Wait)
		require.Equal(t, map[string]uint64{"requests": 1}, counted(l))
		time.AfterFunc(time.Second, release)
		release, waited, err = l.AcquireWrite(t.Context(), client(1), 0)
		require.NoError(t, err)
		require.Equal(t, time.Second, waited)
		release()
		require.Empty(t, l.writes.lines)
	})
}

// Requests come, wait, leave and end in any order. The limits hold, no request waits that could begin, and in the
// end the table is empty.
func TestWritesWithinTheirLimits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 8).Draw(t, "most")
		w := newTurns(most, half(most))
		addresses := []Address{local, client(1), client(2), client(3)}
		var waiting, begun []*turn
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"enter", "enter", "leave", "release"}).Draw(t, "step") {
			case "enter":
				turn := &turn{address: rapid.SampledFrom(addresses).Draw(t, "address"), weight: rapid.IntRange(1, half(most)).Draw(t, "weight"), granted: make(chan struct{})}
				w.enter(turn)
				waiting = append(waiting, turn)
			case "leave":
				if len(waiting) > 0 {
					i := rapid.IntRange(0, len(waiting)-1).Draw(t, "i")
					require.False(t, w.leave(waiting[i]))
					waiting = append(waiting[:i:i], waiting[i+1:]...)
				}
			case "release":
				if len(begun) > 0 {
					i := rapid.IntRange(0, len(begun)-1).Draw(t, "i")
					w.release(begun[i])
					begun = append(begun[:i:i], begun[i+1:]...)
				}
			}
			var still []*turn
			for _, turn := range waiting {
				select {
				case <-turn.granted:
					begun = append(begun, turn)
				default:
					still = append(still, turn)
				}
			}
			waiting = still
			used := make(map[Address]int)
			sum := 0
			for _, turn := range begun {
				sum += turn.weight
				used[turn.address] += turn.weight
			}
			require.LessOrEqual(t, sum, most)
			seen := make(map[Address]bool)
			free := most - sum
			for a, n := range used {
				require.True(t, a.Exempt() || n <= half(most))
			}
			blocked := false
			for _, turn := range waiting {
				if seen[turn.address] {
					continue
				}
				seen[turn.address] = true
				if turn.address.Exempt() || used[turn.address]+turn.weight <= half(most) {
					blocked = blocked || turn.weight > free
				}
			}
			for _, turn := range waiting {
				if turn.weight <= free && (turn.address.Exempt() || used[turn.address]+turn.weight <= half(most)) && firstOf(waiting, turn) {
					require.True(t, blocked, "a write waits without a cause")
				}
			}
		}
		for len(begun) > 0 || len(waiting) > 0 {
			var still []*turn
			for _, turn := range begun {
				w.release(turn)
			}
			begun = nil
			for _, turn := range waiting {
				select {
				case <-turn.granted:
					begun = append(begun, turn)
				default:
					still = append(still, turn)
				}
			}
			require.True(t, len(begun) > 0 || len(still) == 0, "nothing goes on")
			waiting = still
		}
		require.Zero(t, w.used)
	})
}

// firstOf reports whether a turn is the first of its address among those that wait.
func firstOf(waiting []*turn, turn *turn) bool {
	for _, other := range waiting {
		if other.address == turn.address {
			return other == turn
		}
	}
	return false
}
