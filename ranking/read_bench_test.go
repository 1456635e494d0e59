package ranking

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
)

// fillBoard fills a board with that many members behind the store's back, ten to a score,
// as fast as Redis takes them: what apply.lua would come to, without ids.
func fillBoard(b *testing.B, rdb redis.UniversalClient, s *Store, def definition.Board, members int) {
	ctx := context.Background()
	require.NoError(b, s.DefineBoard(ctx, def, Moderator{}))
	must(s.Apply(ctx, def.Name, []definition.Update{{Member: benchMember(0), Score: 1}}))(b)
	k := s.keys.Board(def.Name, "")
	const some = 1000
	now := float64(time.Now().UnixMicro())
	for i := 0; i < members; i += some {
		var rows, tiers, entered []redis.Z
		for j := i; j < min(i+some, members); j++ {
			score := float64(-rand.IntN(max(members/10, 1))) // never -0
			row := redis.Z{Member: benchMember(j), Score: score}
			if def.Ties != definition.ByMember {
				row.Score += float64(j) / float64(members) / 2
			}
			rows = append(rows, row)
			tiers = append(tiers, redis.Z{Member: strconv.FormatFloat(score, 'f', -1, 64), Score: score})
			entered = append(entered, redis.Z{Member: row.Member, Score: now})
		}
		pipe := rdb.Pipeline()
		pipe.ZAdd(ctx, k.Members, rows...)
		if def.Ties == definition.Dense {
			pipe.ZAdd(ctx, k.Distinct, tiers...)
		}
		if def.MemberTTL > 0 {
			pipe.ZAdd(ctx, k.Entered, entered...)
		}
		must(pipe.Exec(ctx))(b)
	}
	if def.Ties == definition.Dense { // the score that the first member had before
		if rdb.ZCount(ctx, k.Members, "-1", "(0").Val() == 0 {
			require.NoError(b, rdb.ZRem(ctx, k.Distinct, "-1").Err())
		}
	}
}

func benchMember(i int) string { return fmt.Sprintf("member-%07d", i) }

// measured reports the medians of some costs of so many calls each, by name.
func measured(b *testing.B, name, per string, costs []cost, calls int, wall bool) {
	b.ReportMetric(median(costs, func(c cost) time.Duration { return c.redis })/float64(calls)/1e3, name+"-redis-µs/"+per)
	if wall {
		b.ReportMetric(median(costs, func(c cost) time.Duration { return c.wall })/float64(calls)/1e3, name+"-wall-µs/"+per)
	}
}

// BenchmarkRead measures a call that reads the top 10, a member with five neighbours on
// each side, or a member alone, near the top and anywhere, and a page of ten from rank
// 900,000 beside one from rank 1: on boards of 1,000, 100,000 and a million members, for
// each tie rule and, as bare, for the plain commands that the read stands for, in turns in
// one run. Medians of the turns: Redis CPU, and what the caller waits.
func BenchmarkRead(b *testing.B) {
	const turn = 50 // calls
	ctx := context.Background()
	for _, members := range []int{1_000, 100_000, 1_000_000} {
		rdb, s := benchStore(b)
		rules := []definition.Ties{definition.First, definition.Shared, definition.Dense, definition.ByMember}
		for _, ties := range rules {
			fillBoard(b, rdb, s, definition.Board{Name: string(ties), Ties: ties}, members)
		}
		plain := s.keys.Board(string(definition.First), "").Members
		page := func(from int64) (read func(board string) error, bare func() error) {
			return func(board string) error {
					rank := from
					if board == string(definition.Dense) && from > 1 {
						rank /= 10 // so many have a score
					}
					p, err := s.Page(ctx, board, rank, 10)
					if err == nil && len(p.Entries) != 10 {
						err = fmt.Errorf("%d entries", len(p.Entries))
					}
					return err
				}, func() error {
					return rdb.ZRangeWithScores(ctx, plain, from-1, from+8).Err()
				}
		}
		place := func(around int, member func(board string) string) (read func(board string) error, bare func() error) {
			return func(board string) error {
					p, err := s.Places(ctx, board, []Lookup{{Member: member(board), Around: around}})
					if err == nil && p.List[0].Entry.Rank == 0 {
						err = fmt.Errorf("%q is not there", p.List[0].Entry.Member)
					}
					return err
				}, func() error {
					at, err := rdb.ZRank(ctx, plain, member(string(definition.First))).Result()
					if err == nil && around > 0 {
						err = rdb.ZRangeWithScores(ctx, plain, max(0, at-int64(around)), at+int64(around)).Err()
					}
					return err
				}
		}
		first := make(map[string][]Entry)
		for _, ties := range rules {
			p := must(s.Page(ctx, string(ties), 1, 100))(b)
			first[string(ties)] = p.Entries
		}
		near := func(board string) string { return first[board][rand.IntN(len(first[board]))].Member }
		anywhere := func(string) string { return benchMember(rand.IntN(members)) }
		measure := func(name string, read func(board string) error, bare func() error) {
			b.Run(fmt.Sprintf("members=%d/%s", members, name), func(b *testing.B) {
				costs := make(map[string][]cost)
				run := func(name string, call func() error) {
					costs[name] = append(costs[name], costOf(b, rdb, func() {
						for range turn {
							require.NoError(b, call())
						}
					}))
				}
				for b.Loop() {
					for _, ties := range rules {
						run(string(ties), func() error { return read(string(ties)) })
					}
					run("bare", bare)
				}
				b.ReportMetric(0, "ns/op")
				for name, costs := range costs {
					measured(b, name, "read", costs, turn, true)
				}
			})
		}
		for _, c := range []struct {
			name string
			page int64
		}{{"top=10", 1}, {"page=10/from=900000", 900_000}} {
			if c.page+9 <= int64(members) {
				read, bare := page(c.page)
				measure(c.name, read, bare)
			}
		}
		for _, c := range []struct {
			name   string
			around int
			member func(board string) string
		}{{"around=5/near-the-top", 5, near}, {"around=5/anywhere", 5, anywhere}, {"rank/near-the-top", 0, near},
			{"rank/anywhere", 0, anywhere}} {
			read, bare := place(c.around, c.member)
			measure(c.name, read, bare)
		}
		require.NoError(b, rdb.FlushAllAsync(ctx).Err())
	}
}

// BenchmarkApplyByDefinition measures what an update costs Redis on a board of 100,000
// members, by what the board is: its tie rule, a limit that is reached, a member_ttl. Each
// update has a request id and sets a score; one of eleven is of a member that is new at
// first, and on the board with a limit of one that has to get in. Medians of the turns.
func BenchmarkApplyByDefinition(b *testing.B) {
	rdb, s := benchStore(b)
	boards := []definition.Board{
		{Name: "first"}, {Name: "shared", Ties: definition.Shared}, {Name: "dense", Ties: definition.Dense},
		{Name: "member", Ties: definition.ByMember},
		{Name: "limit", Limit: benchMembers}, {Name: "member_ttl", MemberTTL: 24 * time.Hour},
	}
	for i := range boards {
		boards[i].Mode = definition.Last
		fillBoard(b, rdb, s, boards[i], benchMembers)
	}
	request := 0
	for _, size := range []int{16, 128} {
		b.Run(fmt.Sprintf("batch=%d", size), func(b *testing.B) {
			const turn = 1024 // updates
			costs := make(map[string][]cost)
			for b.Loop() {
				for _, def := range boards {
					batches := make([][]updateItem, turn/size)
					to := targetOf(b, s, def.Name)
					for i := range batches {
						for range size {
							request++
							u := definition.Update{Member: benchMember(rand.IntN(benchMembers * 11 / 10)), Score: rand.Int64N(benchMembers / 10),
								ID: fmt.Sprint("request-", request)}
							batches[i] = append(batches[i], updateItem{write{Update: u}, to, new(Outcome)})
						}
					}
					costs[def.Name] = append(costs[def.Name], costOf(b, rdb, func() {
						for _, batch := range batches {
							require.NoError(b, s.applyBatch(context.Background(), def.Name, batch, nil))
						}
					}))
				}
			}
			b.ReportMetric(0, "ns/op")
			for _, def := range boards {
				measured(b, def.Name, "update", costs[def.Name], turn, false)
			}
		})
	}
}

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
				took := costOf(b, rdb, func() {
					for range turns {
						require.NoError(b, c.read())
					}
				})
				each := time.Duration(turns * c.pages)
				costs[c.name] = append(costs[c.name], cost{took.redis / each, took.wall / each})
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
