package ranking

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"rankcast/ranking/definition"
)

// searched is the number of profiles of BenchmarkSearch. A million take some minutes to fill.
var searched = flag.Int("searched", 100_000, "profiles of BenchmarkSearch")

// benchName is the name of a member: a first and a last name of four syllables each, so that a name has a few namesakes
// among a million, or three Chinese characters for one in eight.
func benchName(i int) string {
	const syllables = 40
	word := func(n int) string {
		var w strings.Builder
		for range 3 {
			w.WriteByte("bcdfgklmnprstvzj"[n%16])
			n /= 16
			w.WriteByte("aeiou"[n%5])
			n /= 5
		}
		return strings.ToUpper(w.String()[:1]) + w.String()[1:]
	}
	r := rand.New(rand.NewPCG(uint64(i), 1))
	if i%8 == 0 {
		return string([]rune{rune(0x4e00 + r.IntN(2000)), rune(0x4e00 + r.IntN(2000)), rune(0x4e00 + r.IntN(2000))})
	}
	return word(r.IntN(512000)) + " " + word(r.IntN(512000)*syllables)
}

// benchLongName is a name of as many Chinese characters as a name can have. Each of them begins an entry of the index.
func benchLongName(i int) string {
	r, name := rand.New(rand.NewPCG(uint64(i), 2)), []rune("国")
	for len(name) < maxNameBytes/len("国") {
		name = append(name, rune(0x4e00+r.IntN(2000)))
	}
	return string(name)
}

// setProfiles sets the profiles of n members of a kind, by many callers.
func setProfiles(b *testing.B, s *Store, kind string, n int, name func(i int) string) {
	var next atomic.Int64
	var callers errgroup.Group
	for range 32 {
		callers.Go(func() error {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if _, err := s.SetProfile(context.Background(), kind, benchMember(i), Profile{Name: name(i)}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	require.NoError(b, callers.Wait())
}

// BenchmarkProfileMemory measures what 10,000 profiles take of the memory of Redis, with the index of their names: for each
// kind of name the bytes of a profile.
func BenchmarkProfileMemory(b *testing.B) {
	const profiles = 10_000
	for _, names := range []struct {
		kind string
		name func(i int) string
	}{{"mixed", benchName}, {"two-words", func(i int) string { return benchName(8*i + 1) }},
		{"chinese", func(i int) string { return benchName(8 * i) }}, {"long-chinese", benchLongName}} {
		b.Run(names.kind, func(b *testing.B) {
			rdb, s := benchStore(b)
			used := func() (bytes int64) {
				for line := range strings.Lines(rdb.Info(context.Background(), "memory").Val()) {
					fmt.Sscanf(line, "used_memory_dataset:%d", &bytes)
				}
				return bytes
			}
			before := used()
			setProfiles(b, s, "user", profiles, names.name)
			for b.Loop() {
			}
			b.ReportMetric(float64(used()-before)/profiles, "B/profile")
		})
	}
}

// BenchmarkSearch measures searches on a board of -searched members with profiles beside the top 10 of the same board,
// in turns, with a change of a profile, and the names of 100 members that the node does not know.
// Medians of the turns: Redis CPU, and what the caller waits.
func BenchmarkSearch(b *testing.B) {
	const turn = 50 // calls
	ctx, n := context.Background(), *searched
	rdb, s := benchStore(b)
	fillBoard(b, rdb, s, definition.Board{Name: "players", Kind: "user"}, n)
	fillBoard(b, rdb, s, definition.Board{Name: "small", Kind: "user"}, 1000)
	const longNamed = 2000 // more than the members of a small board
	fillBoard(b, rdb, s, definition.Board{Name: "long-small", Kind: "long"}, 1000)
	fillBoard(b, rdb, s, definition.Board{Name: "long", Kind: "long"}, longNamed)
	setProfiles(b, s, "long", longNamed, benchLongName)
	began := time.Now()
	setProfiles(b, s, "user", n, benchName)
	b.Logf("%d profiles set in %v", n, time.Since(began).Round(100*time.Millisecond))
	anyone := func() int { return rand.IntN(n) }
	find := func(text func() string, limit int) func() error {
		return func() error { return errorOf(s.Search(ctx, "players", text(), limit)) }
	}
	latin := func() string { return benchName(8*rand.IntN(n/8) + 1) }
	calls := []struct {
		name string
		do   func() error
	}{
		{"top10", func() error { return errorOf(s.Page(ctx, "players", 1, 10)) }},
		{"whole-name", find(latin, 10)},
		{"four-letters", find(func() string { return latin()[:4] }, 10)},
		{"two-letters", find(func() string { return latin()[:2] }, 10)},
		{"one-letter", find(func() string { return latin()[:1] }, 10)},
		{"one-letter-50", find(func() string { return latin()[:1] }, 50)},
		{"two-words", find(func() string { first, last, _ := strings.Cut(latin(), " "); return last[:2] + " " + first[:2] }, 10)},
		{"chinese", find(func() string { return string([]rune(benchName(8 * rand.IntN(n/8)))[:1]) }, 10)},
		{"id", find(func() string { return benchMember(anyone()) }, 10)},
		{"leading-id", find(func() string { return benchMember(anyone())[:10] }, 10)},
		{"small-board", func() error { return errorOf(s.Search(ctx, "small", latin()[:2], 10)) }},
		{"long-names-small-board", func() error { return errorOf(s.Search(ctx, "long-small", "国", 10)) }},
		{"long-names", func() error { return errorOf(s.Search(ctx, "long", "国", 10)) }},
		{"long-names-two-words", func() error { return errorOf(s.Search(ctx, "long", "国 丁", 10)) }},
		{"set-profile", func() error {
			return errorOf(s.SetProfile(ctx, "user", benchMember(anyone()), Profile{Name: benchName(rand.Int())}))
		}},
		{"names-of-100", func() error {
			members := make([]string, 100)
			for i := range members {
				members[i] = benchMember(anyone())
			}
			s.ForgetProfiles()
			return errorOf(s.Profiles(ctx, "user", members))
		}},
	}
	costs := make(map[string][]cost)
	for b.Loop() {
		for _, call := range calls {
			costs[call.name] = append(costs[call.name], costOf(b, rdb, func() {
				for range turn {
					require.NoError(b, call.do())
				}
			}))
		}
	}
	for _, call := range calls {
		measured(b, call.name, "call", costs[call.name], turn, true)
	}
}
