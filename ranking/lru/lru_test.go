package lru_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking/lru"
)

// A cache holds the values that were used last, as many as weigh no more than its bound: a list in the order of use says
// the same.
func TestCacheKeepsWhatWasUsedLast(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const most = 10
		type value struct{ key, number, weight int }
		c := lru.New[int, value](most)
		var model []value // the one used last, last
		drop := func(key int) (v value, ok bool) {
			for i := range model {
				if v = model[i]; v.key == key {
					model = append(model[:i:i], model[i+1:]...)
					return v, true
				}
			}
			return value{}, false
		}
		for number := range rapid.IntRange(1, 60).Draw(t, "steps") {
			key := rapid.IntRange(0, 6).Draw(t, "key")
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				c.Drop(key)
				drop(key)
			case 1:
				got, ok := c.Get(key)
				want, there := drop(key)
				require.Equal(t, there, ok)
				require.Equal(t, want, got)
				if there {
					model = append(model, want)
				}
			default:
				v := value{key, number, rapid.IntRange(1, 12).Draw(t, "weight")}
				c.Put(key, v, v.weight)
				drop(key)
				model = append(model, v)
				for weight(model, func(v value) int { return v.weight }) > most && len(model) > 1 {
					model = model[1:]
				}
			}
			require.Equal(t, len(model), c.Len())
		}
	})
}

func weight[V any](all []V, of func(V) int) (sum int) {
	for _, v := range all {
		sum += of(v)
	}
	return sum
}
