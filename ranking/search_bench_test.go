package ranking

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
)

// searched is the number of profiles of BenchmarkSearch. A million take two minutes to fill and to index.
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

// BenchmarkSearch measures searches on a board of -searched members with profiles beside the top 10 of the same board,
// in turns, what a profile costs to write with and without the index, and once what the index takes in memory and its build in time.
// Medians of the turns: Redis CPU, and what the caller waits.
func BenchmarkSearch(b *testing.B) {
	const turn = 50 // calls
	ctx, n := context.Background(), *searched
	rdb, s := benchStore(b)
	fillBoard(b, rdb, s, definition.Board{Name: "players", Kind: "user"}, n)
	fillBoard(b, rdb, s, definition.Board{Name: "small", Kind: "user"}, 1000)
	require.NoError(b, s.markKind(ctx, "user"))
	const longNamed = 2000 // more than the members of a small board
	require.NoError(b, s.markKind(ctx, "long"))
	fillBoard(b, rdb, s, definition.Board{Name: "long-small", Kind: "long"}, 1000)
	fillBoard(b, rdb, s, definition.Board{Name: "long", Kind: "long"}, longNamed)
	for i := range longNamed {
		_, err := s.SetProfile(ctx, "long", benchMember(i), Profile{Name: benchLongName(i)})
		require.NoError(b, err)
	}
	used := func() int64 {
		var bytes int64
		for line := range strings.Lines(rdb.Info(ctx, "memory").Val()) {
			fmt.Sscanf(line, "used_memory_dataset:%d", &bytes)
		}
		return bytes
	}
	before := used()
	for from := 0; from < n; from += 1000 {
		pipe := rdb.Pipeline()
		for i := from; i < min(from+1000, n); i++ {
			pipe.Set(ctx, s.keys.Profile("user", benchMember(i)), fmt.Sprintf(`{"name":%q}`, benchName(i)), 0)
		}
		_, err := pipe.Exec(ctx)
		require.NoError(b, err)
	}
	profiles := used()
	cpu, began := redisCPU(b, rdb), time.Now()
	walk, err := s.newNameWalk(ctx)
	require.NoError(b, err)
	ended, err := walk.step(ctx, time.Now().Add(time.Hour))
	require.NoError(b, err)
	require.True(b, ended)
	b.Logf("%d profiles of %d bytes each: the index takes %d bytes each, and its build %v, with %v of Redis", n, (profiles-before)/int64(n), (used()-profiles)/int64(n),
		time.Since(began).Round(100*time.Millisecond), (redisCPU(b, rdb) - cpu).Round(100*time.Millisecond))
	cpu, began = redisCPU(b, rdb), time.Now()
	walk, err = s.newNameWalk(ctx)
	require.NoError(b, err)
	_, err = walk.step(ctx, time.Now().Add(time.Hour))
	require.NoError(b, err)
	b.Logf("the next walk, which changes nothing: %v, with %v of Redis", time.Since(began).Round(100*time.Millisecond), (redisCPU(b, rdb) - cpu).Round(100*time.Millisecond))
	require.NoError(b, s.noteNamesBuilt(ctx))
	anyone := func() int { return rand.IntN(n) }
	find := func(text func() string, limit int) func() error {
		return func() error {
			_, err := s.Search(ctx, "players", text(), limit)
			return err
		}
	}
	latin := func() string { return benchName(8*rand.IntN(n/8) + 1) }
	calls := []struct {
		name string
		do   func() error
	}{
		{"top10", func() error { _, err := s.Page(ctx, "players", 1, 10); return err }},
		{"whole-name", find(latin, 10)},
		{"four-letters", find(func() string { return latin()[:4] }, 10)},
		{"two-letters", find(func() string { return latin()[:2] }, 10)},
		{"one-letter", find(func() string { return latin()[:1] }, 10)},
		{"one-letter-50", find(func() string { return latin()[:1] }, 50)},
		{"two-words", find(func() string { first, last, _ := strings.Cut(latin(), " "); return last[:2] + " " + first[:2] }, 10)},
		{"chinese", find(func() string { return string([]rune(benchName(8 * rand.IntN(n/8)))[:1]) }, 10)},
		{"id", find(func() string { return benchMember(anyone()) }, 10)},
		{"leading-id", find(func() string { return benchMember(anyone())[:10] }, 10)},
		{"small-board", func() error { _, err := s.Search(ctx, "small", latin()[:2], 10); return err }},
		{"long-names-small-board", func() error { _, err := s.Search(ctx, "long-small", "国", 10); return err }},
		{"long-names", func() error { _, err := s.Search(ctx, "long", "国", 10); return err }},
		{"long-names-two-words", func() error { _, err := s.Search(ctx, "long", "国 丁", 10); return err }},
		{"set-profile", func() error {
			_, err := s.SetProfile(ctx, "user", benchMember(anyone()), Profile{Name: benchName(rand.Int())})
			return err
		}},
		{"set-profile-in-steps", func() error {
			s.inProfileSteps.Store(true)
			defer s.inProfileSteps.Store(false)
			_, err := s.SetProfile(ctx, "user", benchMember(anyone()), Profile{Name: benchName(rand.Int())})
			return err
		}},
		{"set-profile-without-index", func() error { return setProfileWithoutIndex(ctx, s, benchMember(anyone()), benchName(rand.Int())) }},
	}
	costs := make(map[string][]cost)
	for b.Loop() {
		for _, call := range calls {
			cpu, start := redisCPU(b, rdb), time.Now()
			for range turn {
				require.NoError(b, call.do())
			}
			wall := time.Since(start)
			costs[call.name] = append(costs[call.name], cost{redisCPU(b, rdb) - cpu, wall})
		}
	}
	for _, call := range calls {
		measured(b, call.name, "call", costs[call.name], turn, true)
	}
}

// setProfileWithoutIndex writes a profile as it was done before there was an index.
func setProfileWithoutIndex(ctx context.Context, s *Store, member, name string) error {
	text := fmt.Sprintf(`{"name":%q}`, name)
	_, err := s.callScript(ctx, script.Profile, []string{s.keys.Profile("user", member)}, s.profileArgs("user", member, text))
	return err
}
