package demo

import (
	"cmp"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// spanLength is how long one span of traffic is.
const spanLength = 8 * time.Minute

// simulate is some spans of traffic.
func simulate(seed uint64, spans int) (gifts []timedGift) {
	t := newTraffic(seed)
	until := t.now + time.Duration(spans)*spanLength
	for {
		g, gap := t.next()
		if t.now >= until {
			return gifts
		}
		if len(gifts) > 0 && gap != t.now-gifts[len(gifts)-1].at {
			panic("the times between gifts do not add up")
		}
		gifts = append(gifts, timedGift{g, t.now})
	}
}

// eachDemo checks a law for some seeds.
func eachDemo(t *testing.T, spans int, law func(t *testing.T, gifts []timedGift)) {
	for seed := range uint64(10) {
		law(t, simulate(seed, spans))
	}
}

func TestDemoFollowsFromItsSeed(t *testing.T) {
	t.Parallel()
	require.Equal(t, simulate(3, 2), simulate(3, 2))
	require.NotEqual(t, simulate(3, 2), simulate(4, 2))
}

// shareOfFirst is what the first fifth of all there could be has of gifts.
func shareOfFirst(gifts []timedGift, all int, who func(timedGift) string) float64 {
	counts := make(map[string]int)
	for _, g := range gifts {
		counts[who(g)]++
	}
	sorted := slices.SortedFunc(maps.Values(counts), func(a, b int) int { return cmp.Compare(b, a) })
	first := 0
	for _, n := range sorted[:min(len(sorted), all/5)] {
		first += n
	}
	return float64(first) / float64(len(gifts))
}

func TestDemoHasFavourites(t *testing.T) {
	t.Parallel()
	eachDemo(t, 3, func(t *testing.T, gifts []timedGift) {
		require.Greater(t, shareOfFirst(gifts, len(starNames), func(g timedGift) string { return g.star }), 0.5, "of stars")
		require.Greater(t, shareOfFirst(gifts, len(viewerIDs), func(g timedGift) string { return g.user }), 0.5, "of viewers")
	})
}

// Never more comes than one can watch.
func TestDemoIsWatchable(t *testing.T) {
	t.Parallel()
	eachDemo(t, 3, func(t *testing.T, gifts []timedGift) {
		for i := 10; i < len(gifts); i++ {
			require.GreaterOrEqual(t, gifts[i].at-gifts[i-10].at, time.Second)
		}
	})
}

// In each span one viewer gives one star many small gifts at once, and many viewers give to one star.
func TestDemoHasBursts(t *testing.T) {
	t.Parallel()
	type pair struct{ star, user string }
	eachDemo(t, 3, func(t *testing.T, gifts []timedGift) {
		runs, crowds := make(map[time.Duration]bool), make(map[time.Duration]bool)
		for i, g := range gifts {
			of, users := make(map[pair]int), make(map[string]bool)
			for _, later := range gifts[i:] {
				if later.at > g.at+6*time.Second {
					break
				}
				if later.star == g.star {
					of[pair{later.star, later.user}]++
					users[later.user] = true
				}
			}
			span := (g.at - gifts[0].at) / spanLength
			if of[pair{g.star, g.user}] >= 8 && g.flowers <= smallGift {
				runs[span] = true
			}
			if len(users) >= 7 {
				crowds[span] = true
			}
		}
		require.Len(t, runs, 3)
		require.Len(t, crowds, 3)
	})
}

// Large gifts are rare, the larger the rarer.
func TestDemoGifts(t *testing.T) {
	t.Parallel()
	eachDemo(t, 200, func(t *testing.T, gifts []timedGift) {
		counts := make(map[int]int)
		for _, g := range gifts {
			counts[g.flowers]++
		}
		require.Len(t, counts, len(amounts))
		for i, a := range amounts[1:] {
			require.Less(t, counts[a.flowers], counts[amounts[i].flowers], "%d flowers", a.flowers)
		}
		require.Less(t, counts[520]+counts[999], len(gifts)/200)
	})
}

// Who is in favour on one day is so the next, and not for ever.
func TestDemoDrifts(t *testing.T) {
	t.Parallel()
	tr := newTraffic(5)
	seen := make(map[int]bool)
	for range 30 * 3600 {
		tr.next()
		seen[tr.popular[0]] = true
	}
	require.Greater(t, len(seen), 5)
	sorted := slices.Sorted(slices.Values(tr.popular))
	for i, star := range sorted {
		require.Equal(t, i, star, "none is lost")
	}
}
