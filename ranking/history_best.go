package ranking

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// BestRank is the best rank of a member at the steps of a history.
type BestRank struct {
	Rank   int64
	At     time.Time // of the first step at which the member had it
	Period string    // "" on a board without periods
}

// readBest reads the best rank of the member asked for, in all periods that can be read.
func (r *historyReader) readBest(ctx context.Context) error {
	instance, member := r.m.Instance, r.q.Member
	if member == "" || r.hidden.hides(instance, r.m.compiled.Kind, member) {
		return nil
	}
	periods, err := r.s.periodRecords(ctx, r.m.compiled, instance)
	if err != nil {
		return err
	}
	oldest := r.m.compiled.OldestReadable(r.s.catalog.clock.now())
	periods = slices.DeleteFunc(periods, func(p periodRecord) bool { return p.Opens.Before(oldest.Opens) })
	if len(periods) == 0 {
		return nil
	}
	var numbers []*redis.SliceCmd
	err = r.s.inTurnIf(ctx, len(periods) > PacedEntries, func() (err error) {
		numbers, err = pipelined(ctx, r.s.rdb, periods, func(pipe redis.Pipeliner, p periodRecord) *redis.SliceCmd {
			return pipe.HMGet(ctx, r.s.keys.Board(instance, p.Name).History().Numbers, member)
		})
		return err
	})
	if err != nil {
		return err
	}
	for i, p := range periods { // the oldest first
		text, _ := numbers[i].Val()[0].(string)
		if p.Name == r.m.period.Name {
			text = r.number // of the same state as the steps; what was read now may be newer
		}
		_, best, known := parseNumber(text)
		if known && (r.found.Best == nil || best.Rank < r.found.Best.Rank) {
			best.Period = p.Name
			r.found.Best = &best
		}
	}
	return nil
}

// parseNumber reads 'number rank at', see record.lua. known is false where they are not there.
func parseNumber(text string) (number int64, best BestRank, known bool) {
	var at int64
	if n, _ := fmt.Sscanf(text, "%d %d %d", &number, &best.Rank, &at); n < 3 {
		return 0, BestRank{}, false
	}
	best.At = time.UnixMilli(at).UTC()
	return number, best, true
}
