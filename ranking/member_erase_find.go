package ranking

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/definition"
	"rankcast/ranking/internal/script"
)

const (
	// findAtOnce is the number of members that one command reads or looks up. A command of this size holds
	// Redis for less than 0.1 ms, and seek.lua, which looks in up to five keys, for 0.3 ms.
	findAtOnce = 256
	// findCalls is the number of calls of seek.lua in one pipeline.
	findCalls = 64
)

// foundMembers are the members to be erased that were found in a board-period.
type foundMembers struct {
	instance string
	boardPeriod
	members []string
	left    bool // the data have another shape than the definition
}

// wantedMembers are the members that a walk removes.
type wantedMembers struct {
	ids []string
	has map[string]bool
}

func newWantedMembers(ids []string) wantedMembers {
	w := wantedMembers{ids: ids, has: make(map[string]bool, len(ids))}
	for _, member := range ids {
		w.has[member] = true
	}
	return w
}

// findMembers looks for members in all periods of some instances, in their order. It finds the members for which
// erase.lua removes something. It reads a small set whole, so a board costs little, whatever the number
// of wanted members.
func (s *Store) findMembers(ctx context.Context, r *definition.Compiled, instances []string,
	wanted wantedMembers) (found []*foundMembers, err error) {
	var shards, of []string // of: their instances
	for _, instance := range instances {
		for _, shard := range shardNames(r, instance) {
			shards, of = append(shards, shard), append(of, instance)
		}
	}
	periods, err := pipelined(ctx, s.rdb, shards, func(pipe redis.Pipeliner, shard string) *redis.StringSliceCmd {
		return pipe.HKeys(ctx, s.keys.Board(shard, "").Periods)
	})
	if err != nil {
		return nil, fmt.Errorf("list periods: %w", err)
	}
	for i, names := range periods {
		for _, name := range names.Val() {
			if name != lastSettledField {
				found = append(found, &foundMembers{instance: of[i], boardPeriod: boardPeriod{shards[i], name}})
			}
		}
	}
	in := found
	for members := range slices.Chunk(wanted.ids, findAtOnce) {
		var large []*foundMembers
		for some := range slices.Chunk(in, findCalls) {
			began := time.Now()
			for i, reply := range script.Pipeline(ctx, s.rdb, s.seekCalls(r, some, members)...) {
				if some[i].take(reply, wanted) {
					large = append(large, some[i])
				}
				if reply.Err != nil {
					return nil, fmt.Errorf("look for members: %w", reply.Err)
				}
			}
			if err := restAfter(ctx, began); err != nil {
				return nil, err
			}
		}
		in = large
	}
	for _, f := range found {
		slices.Sort(f.members)
		f.members = slices.Compact(f.members)
	}
	return found, nil
}

// seekCalls are the calls of seek.lua that look for members in board-periods.
func (s *Store) seekCalls(r *definition.Compiled, in []*foundMembers, members []string) []script.Call {
	calls := make([]script.Call, len(in))
	for i, f := range in {
		k := s.keys.Board(f.shard, f.period)
		keys := []string{k.Meta, k.Members, k.Hidden, k.History().Numbers}
		if r.IsWindowed() {
			keys = append(keys, k.Window[1], k.Window[2])
		} else {
			keys = append(keys, k.Pending().Members, k.Pending().Hidden)
		}
		calls[i] = script.Call{Script: script.Seek, Keys: keys, Args: appendTexts([]any{r.Shape, boolArg(r.IsWindowed())}, members)}
	}
	return calls
}

// take takes an answer of seek.lua. isLarge reports that it is about the given members only.
func (f *foundMembers) take(r *script.Reply, wanted wantedMembers) (isLarge bool) {
	state := r.Text()
	f.left = state == "shape"
	for r.More() {
		if member := r.Text(); wanted.has[member] {
			f.members = append(f.members, member)
		}
	}
	return state == "some"
}
