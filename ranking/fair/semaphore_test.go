package fair_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking/fair"
)

// Turns wait, are given up and end in any order. The limits hold, no turn waits that could begin, and in the
// end the table is empty.
func TestTurnsWithinTheirLimits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 8).Draw(t, "most")
		half := max(1, most/2)
		each := func(key string) int {
			if key == "free" {
				return most
			}
			return half
		}
		s := fair.NewSemaphore(most, each)
		var waiting, begun []*turn
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"enter", "enter", "leave", "release"}).Draw(t, "step") {
			case "enter":
				turn := &turn{key: rapid.SampledFrom([]string{"free", "a", "b", "c"}).Draw(t, "key"), weight: rapid.IntRange(1, half).Draw(t, "weight")}
				turn.Turn, turn.begun = s.Enter(turn.key, turn.weight, func(*fair.Turn[string]) { turn.begun = true })
				waiting = append(waiting, turn)
			case "leave":
				if len(waiting) > 0 {
					i := rapid.IntRange(0, len(waiting)-1).Draw(t, "i")
					waiting[i].End()
					waiting = append(waiting[:i:i], waiting[i+1:]...)
				}
			case "release":
				if len(begun) > 0 {
					i := rapid.IntRange(0, len(begun)-1).Draw(t, "i")
					begun[i].End()
					begun[i].End() // a second time does nothing
					begun = append(begun[:i:i], begun[i+1:]...)
				}
			}
			var still []*turn
			for _, turn := range waiting {
				if turn.begun {
					begun = append(begun, turn)
				} else {
					still = append(still, turn)
				}
			}
			waiting = still
			used := make(map[string]int)
			sum := 0
			for _, turn := range begun {
				sum += turn.weight
				used[turn.key] += turn.weight
			}
			require.LessOrEqual(t, sum, most)
			seen := make(map[string]bool)
			free := most - sum
			for a, n := range used {
				require.LessOrEqual(t, n, each(a))
			}
			blocked := false
			for _, turn := range waiting {
				if seen[turn.key] {
					continue
				}
				seen[turn.key] = true
				if used[turn.key]+turn.weight <= each(turn.key) {
					blocked = blocked || turn.weight > free
				}
			}
			for _, turn := range waiting {
				if turn.weight <= free && used[turn.key]+turn.weight <= each(turn.key) && firstOf(waiting, turn) {
					require.True(t, blocked, "a turn waits without a cause")
				}
			}
		}
		for len(begun) > 0 || len(waiting) > 0 {
			var still []*turn
			for _, turn := range begun {
				turn.End()
			}
			begun = nil
			for _, turn := range waiting {
				if turn.begun {
					begun = append(begun, turn)
				} else {
					still = append(still, turn)
				}
			}
			require.True(t, len(begun) > 0 || len(still) == 0, "nothing goes on")
			waiting = still
		}
		require.Zero(t, s.Keys())
	})
}

// firstOf reports whether a turn is the first of its key among those that wait.
type turn struct {
	*fair.Turn[string]
	key    string
	weight int
	begun  bool
}

func firstOf(waiting []*turn, turn *turn) bool {
	for _, other := range waiting {
		if other.key == turn.key {
			return other == turn
		}
	}
	return false
}
