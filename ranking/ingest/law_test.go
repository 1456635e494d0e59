package ingest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking/definition"
	"rankcast/ranking/proptest"
	"rankcast/ranking/redistest"
)

// Whatever calls of the store, and calls that take or acknowledge entries, fail before or after they have an effect, and
// whenever consumers die: each entry counts once, and the entries of a board count in order.
func TestLawOfEntries(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		b := newBench(t, url)
		cases := 0
		proptest.Check(t, redistest.Volume(url, 60), func(r *rapid.T) {
			cases++
			of := func(name string) string { return fmt.Sprintf("%s-%d", name, cases) }
			sums, latest := make(map[string]int64), make(map[string]int64)
			add := func(fields ...string) { b.add(fields...) }
			c := b.ingest().consumer(stream)
			b.dropLease()
			kinds := rapid.SliceOfN(rapid.IntRange(0, 4), 1, 30).Draw(r, "entries")
			for i, kind := range kinds {
				score := int64(i + 1)
				member := of(rapid.SampledFrom([]string{"a", "b"}).Draw(r, "member"))
				switch kind {
				case 0:
					add("board", "stars", "member", member, "score", fmt.Sprint(score))
					sums[member] += score
				case 1, 2:
					add("board", "laps", "member", member, "score", fmt.Sprint(score))
					latest[member] = score
				case 3:
					add("event", "gift", "star", member, "user", "u", "flowers", fmt.Sprint(score))
					sums[member] += score
				case 4:
					add("board", "none", "member", member, "score", "1")
				}
			}
			fails := rapid.SliceOfN(rapid.IntRange(0, 3), 0, 20).Draw(r, "failures")
			next := func(which int) func() error {
				return func() error {
					if len(fails) == 0 {
						return nil
					}
					failure := fails[0]
					fails = fails[1:]
					switch {
					case failure == which:
						return once()()
					case failure == which+2 && which == 1: // before the call, and surely
						return definition.ErrOverloaded
					}
					return nil
				}
			}
			b.fake.mu.Lock()
			b.fake.before, b.fake.after = next(1), next(2)
			b.fake.mu.Unlock()
			lost := rapid.SliceOfN(rapid.IntRange(0, 4), 0, 20).Draw(r, "lost calls")
			nextCall := func(which int) func(string) error {
				return func(string) error {
					if len(lost) == 0 {
						return nil
					}
					failure := lost[0]
					lost = lost[1:]
					if failure == which {
						return errors.New("lost")
					}
					return nil
				}
			}
			b.calls.before, b.calls.after = nextCall(1), nextCall(2)
			for b.length(stream) > 0 {
				if rapid.IntRange(0, 4).Draw(r, "crash") == 0 {
					b.dropLease()
					c = b.ingest().consumer(stream)
				}
				c.batch(t.Context())
			}
			for member, want := range sums {
				require.Equal(r, want, b.score("stars", member), member)
			}
			for member, want := range latest {
				require.Equal(r, want, b.score("laps", member), member)
			}
		})
	})
}
