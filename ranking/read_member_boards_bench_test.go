package ranking

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
)

// fillFamily lists so many instances of a family behind the store's back, each with ten members. The member "m" stands
// on every so many of them.
func fillFamily(b *testing.B, rdb redis.UniversalClient, s *Store, base string, instances, every int) {
	ctx := context.Background()
	require.NoError(b, s.DefineBoard(ctx, definition.Board{Name: base + ":{n}", Kind: base}, Moderator{}))
	name := func(i int) string { return fmt.Sprintf("%s:%07d", base, i) }
	for from := 0; from < instances; from += 1000 {
		pipe := rdb.Pipeline()
		for i := from; i < min(from+1000, instances); i++ {
			rows := make([]redis.Z, 10)
			for j := range rows {
				rows[j] = redis.Z{Member: benchMember(i + j), Score: -float64(j + 1)}
			}
			pipe.ZAdd(ctx, s.keys.Board(name(i), "").Members, rows...)
			pipe.ZAdd(ctx, s.keys.Instances(base+"/1"), redis.Z{Member: name(i)})
		}
		must(pipe.Exec(ctx))(b)
	}
	for i := every - 1; i < instances; i += every {
		must(s.Apply(ctx, name(i), []definition.Update{{Member: "m", Score: 5}}))(b)
	}
}

// allBoards reads all pages of the boards of m, and returns the number of pages and of boards.
func allBoards(ctx context.Context, s *Store, kind string) (pages, boards int, err error) {
	for after, more := "", true; more; more = after != "" {
		page, err := s.MemberBoards(ctx, kind, "m", MemberBoardsQuery{After: after, Limit: MaxMemberBoards})
		if err != nil {
			return 0, 0, err
		}
		pages, boards, after = pages+1, boards+len(page.Boards), page.Next
	}
	return pages, boards, nil
}

// BenchmarkMemberBoards measures a page of a member's boards that goes through 1,000 instances. The member stands on
// none, ten or 100 of them. It also measures all pages of 100,000 instances. It reports the CPU time of Redis and the
// wait of the caller, for a page and for a bare pipeline of as many ZSCORE. Then it measures an update alone, and
// beside 1 and 20 callers that go through the 100,000 instances all the time: median and 99th percentile.
func BenchmarkMemberBoards(b *testing.B) {
	ctx := context.Background()
	rdb, s := benchStore(b)
	for base, stands := range map[string]int{"none": 1_000_000, "ten": 100, "hundred": 10} {
		fillFamily(b, rdb, s, base, 1000, stands)
	}
	fillFamily(b, rdb, s, "many", 100_000, 1000)
	page := func(kind string, pages int) func() error {
		return func() error {
			n, _, err := allBoards(ctx, s, kind)
			if err == nil && n > pages+1 { // an empty one may follow
				err = fmt.Errorf("%d pages", n)
			}
			return err
		}
	}
	bare := func() error {
		pipe := rdb.Pipeline()
		for i := range 1000 {
			pipe.ZScore(ctx, s.keys.Board(fmt.Sprintf("none:%07d", i), "").Members, "m")
		}
		if _, err := pipe.Exec(ctx); err != redis.Nil {
			return fmt.Errorf("the member is there, or %w", err)
		}
		return nil
	}
	b.Run("page", func(b *testing.B) {
		costs := make(map[string][]cost)
		for b.Loop() {
			for _, c := range []struct {
				name  string
				pages int
				read  func() error
			}{{"none", 1, page("none", 1)}, {"ten", 1, page("ten", 1)}, {"hundred", 1, page("hundred", 1)},
				{"many", 100, page("many", 100)}, {"bare", 1, bare}} {
				turns := max(20/c.pages, 1)
				cpu, start := redisCPU(b, rdb), time.Now()
				for range turns {
					require.NoError(b, c.read())
				}
				wall, used := time.Since(start), redisCPU(b, rdb)-cpu
				each := time.Duration(turns * c.pages)
				costs[c.name] = append(costs[c.name], cost{used / each, wall / each})
			}
		}
		b.ReportMetric(0, "ns/op")
		for name, costs := range costs {
			measured(b, name, "page", costs, 1, true)
		}
	})
	b.Run("update", func(b *testing.B) {
		const updates = 500
		waits := make(map[int][]time.Duration)
		pages := make(map[int]float64)
		for b.Loop() {
			for _, callers := range []int{0, 1, 20} {
				walking, stop := context.WithCancel(ctx)
				var all sync.WaitGroup
				read := make([]int, callers)
				for i := range callers {
					all.Go(func() {
						caller := WithCaller(walking, i)
						for after := ""; walking.Err() == nil; read[i]++ {
							page, err := s.MemberBoards(caller, "many", "m", MemberBoardsQuery{After: after, Limit: MaxMemberBoards})
							if err == nil {
								after = page.Next
							}
						}
					})
				}
				start := time.Now()
				for i := range updates {
					began := time.Now()
					must(s.Apply(ctx, "b", []definition.Update{benchUpdate(uint64(i))}))(b)
					waits[callers] = append(waits[callers], time.Since(began))
				}
				took := time.Since(start)
				stop()
				all.Wait()
				total := 0
				for _, n := range read {
					total += n
				}
				pages[callers] = float64(total) / took.Seconds()
			}
		}
		b.ReportMetric(0, "ns/op")
		for callers, waits := range waits {
			slices.Sort(waits)
			b.ReportMetric(float64(waits[len(waits)/2])/1e3, fmt.Sprintf("callers=%d-p50-µs", callers))
			b.ReportMetric(float64(waits[len(waits)*99/100])/1e3, fmt.Sprintf("callers=%d-p99-µs", callers))
			b.ReportMetric(pages[callers], fmt.Sprintf("callers=%d-pages/s", callers))
		}
	})
}
