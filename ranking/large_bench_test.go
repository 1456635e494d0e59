package ranking

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
)

// largest is the number of members of the large board of BenchmarkLargeBoard. Fifty million take some ten minutes to
// fill, and about 6 GB of memory.
var largest = flag.Int("largest", 1_000_000, "members of the large board of BenchmarkLargeBoard")

// BenchmarkLargeBoard compares a board of -largest members with one of 50,000, in turns on one Redis: the first page, a
// page in the middle, the rank of a member, what the hub looks up for a follower with five neighbours on each side, and
// updates with ids, alone and 16 in a call. Medians of the turns: Redis CPU, and what the caller waits. Before them: the memory
// that a member takes.
func BenchmarkLargeBoard(b *testing.B) {
	const turn = 50 // calls
	ctx := context.Background()
	rdb, s := benchStore(b)
	sizes := map[string]int{"small": 50_000, "large": *largest}
	taken := make(map[string]memory)
	for _, name := range []string{"small", "large"} { // in this order: what Redis takes first is much for a small board
		members := sizes[name]
		empty := memoryOf(b, rdb)
		fillBoard(b, rdb, s, definition.Board{Name: name}, members)
		taken[name] = memoryOf(b, rdb).since(empty)
	}
	b.Run("memory", func(b *testing.B) {
		for range b.N {
		}
		for name, members := range sizes {
			taken[name].report(b, name, "member", members)
		}
	})
	request := 0
	anyMember := func(board string) string { return benchMember(rand.IntN(sizes[board])) }
	update := func(board string, size int) error {
		updates := make([]definition.Update, size)
		for i := range updates {
			request++
			updates[i] = definition.Update{Member: anyMember(board), Score: 1 + rand.Int64N(100), ID: fmt.Sprint("request-", request)}
		}
		return errorOf(s.Apply(ctx, board, updates))
	}
	for _, call := range []struct {
		name string
		do   func(board string) error
	}{
		{"top10", func(board string) error { return errorOf(s.Page(ctx, board, 1, 10)) }},
		{"middle10", func(board string) error { return errorOf(s.Page(ctx, board, int64(sizes[board]/2), 10)) }},
		{"rank", func(board string) error {
			return errorOf(s.Places(ctx, board, []Lookup{{Member: anyMember(board)}}))
		}},
		{"follower", func(board string) error {
			return errorOf(s.Places(ctx, board, []Lookup{{Member: anyMember(board), Around: 5}}))
		}},
		{"update", func(board string) error { return update(board, 1) }},
		{"updates16", func(board string) error { return update(board, 16) }},
	} {
		b.Run(call.name, func(b *testing.B) {
			costs := make(map[string][]cost)
			for b.Loop() {
				for board := range sizes {
					costs[board] = append(costs[board], costOf(b, rdb, func() {
						for range turn {
							require.NoError(b, call.do(board))
						}
					}))
				}
			}
			for board := range sizes {
				measured(b, board, "call", costs[board], turn, true)
			}
		})
	}
}
