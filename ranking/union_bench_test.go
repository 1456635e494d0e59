package ranking

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// unionMembers is how many members each source has; RANKCAST_UNION_MEMBERS overrides it.
const unionMembers = 1_000_000

// BenchmarkUnion measures for how long Redis is held while a union over three boards of a
// million members is built, and what updates to these boards take meanwhile, 300 a second; beside
// ZUNIONSTORE of the same boards, and beside doing nothing, which tells how loaded the
// machine is; see buildWatch.
func BenchmarkUnion(b *testing.B) {
	members := unionMembers
	if n, err := strconv.Atoi(os.Getenv("RANKCAST_UNION_MEMBERS")); err == nil {
		members = n
	}
	eye := newBuildWatch(b)
	s, rdb, patient, cpu, ctx := eye.store, eye.store.rdb, eye.patient, eye.cpu, context.Background()
	sources := []string{"a", "b", "c"}
	boards := []definition.Board{{Name: "u", Union: &definition.Union{Of: sources, Weights: []int64{1, 2, 3}}}}
	for _, source := range sources {
		boards = append(boards, definition.Board{Name: source})
	}
	require.NoError(b, s.Define(ctx, definition.Set{Boards: boards}))
	zs := redis.ZStore{Weights: []float64{1, 2, 3}}
	for i, source := range sources {
		must(s.Apply(ctx, source, []definition.Update{{Member: "m0", Score: 1}}))(b)
		zs.Keys = append(zs.Keys, s.keys.Board(source, "").Members)
		fillSource(b, patient, zs.Keys[i], members, i*members/2) // half of them are on the next, too
	}

	eye.boards, eye.members = sources, 2*members
	aged := func() {
		require.NoError(b, rdb.HSet(ctx, s.keys.Board("u", "").Meta, builtField, 1).Err())
		s.builds.note("u", 0)
	}
	built := func() {
		require.GreaterOrEqual(b, must(s.Page(ctx, "u", 1, 1))(b).Total, int64(2*members))
	}
	b.Run("nothing", func(b *testing.B) { eye.watch(b, func() { time.Sleep(time.Second) }) })
	b.Run("first", func(b *testing.B) { // there is no result yet
		eye.watch(b, func() {
			require.NoError(b, s.deleteData(ctx, "u", definition.Never))
			built()
		})
	})
	b.Run("again", func(b *testing.B) { eye.watch(b, func() { aged(); built() }) })
	b.Run("zunionstore", func(b *testing.B) {
		patient.AddHook(redistest.Hook(cpu.pass))
		eye.watch(b, func() { require.NoError(b, patient.ZUnionStore(ctx, "zu", &zs).Err()) })
		require.NoError(b, rdb.Unlink(ctx, "zu").Err())
	})
}

// fillSource fills a set with members m<from>, m<from+1> and so on.
func fillSource(b *testing.B, rdb *redis.Client, key string, members, from int) {
	const some = 1000
	for i := 0; i < members; i += some {
		rows := make([]redis.Z, 0, some)
		for j := range min(some, members-i) {
			rows = append(rows, redis.Z{Member: fmt.Sprint("m", from+i+j), Score: -float64(rand.IntN(1_000_000)) + rand.Float64()/2})
		}
		require.NoError(b, rdb.ZAdd(context.Background(), key, rows...).Err())
	}
}
