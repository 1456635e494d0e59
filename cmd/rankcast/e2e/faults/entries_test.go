package faults

import (
	"fmt"
	"math"

	"github.com/redis/go-redis/v9"

	"rankcast/server/client"
)

// entriesOf turns a board's sorted set into its entries: a plain second reading of what the sort key
// means. sign is 1 where the lower score ranks higher, and -1 otherwise. Equal scores of a board with
// shared ties have one rank.
func entriesOf(set []redis.Z, sign int64, shared bool) []client.Entry {
	entries := make([]client.Entry, len(set))
	for i, z := range set {
		entries[i] = client.Entry{Rank: int64(i) + 1, Member: z.Member.(string), Score: sign * int64(math.Floor(z.Score))}
		if shared && i > 0 && entries[i].Score == entries[i-1].Score {
			entries[i].Rank = entries[i-1].Rank
		}
	}
	return entries
}

// scoresOf is the score of each member.
func scoresOf(entries []client.Entry) map[string]int64 {
	scores := make(map[string]int64, len(entries))
	for _, e := range entries {
		scores[e.Member] = e.Score
	}
	return scores
}

// sameEntries returns an error for the first entry that differs.
func sameEntries(got, want []client.Entry) error {
	for i := range min(len(got), len(want)) {
		g, w := got[i], want[i]
		if g.Rank != w.Rank || g.Member != w.Member || g.Score != w.Score {
			return fmt.Errorf("entry %d is %d %s %d; want %d %s %d", i, g.Rank, g.Member, g.Score, w.Rank, w.Member, w.Score)
		}
	}
	if len(got) != len(want) {
		return fmt.Errorf("%d entries; want %d", len(got), len(want))
	}
	return nil
}
