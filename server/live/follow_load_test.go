package live_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/hub"
	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// calls counts what Redis was asked for so far, by command.
func calls(t testing.TB, rdb redis.UniversalClient) map[string]int64 {
	t.Helper()
	info, err := rdb.Info(t.Context(), "commandstats").Result()
	require.NoError(t, err)
	counts := make(map[string]int64)
	for line := range strings.Lines(info) {
		name, rest, ok := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":calls=")
		if !ok {
			continue
		}
		text, _, _ := strings.Cut(rest, ",")
		n, err := strconv.ParseInt(text, 10, 64)
		require.NoError(t, err)
		counts[name] = n
	}
	return counts
}

// Two nodes, 500 sockets that follow 500 members of a board of 20,000, while
// scores change at random: after each pause each socket knows its rank and score,
// and Redis was not asked for any of it.
func TestFollowersOfLargeBoardCostNoReads(t *testing.T) {
	t.Parallel()
	const members, followers, rounds, updates = 20_000, 250, 5, 400
	r := redistest.Start(t)
	d := definition.Board{Name: "b"}
	// Neither audit nor seq check nor probe of writes may fall into the count.
	cfg := servertest.Config{Ranking: ranking.Config{ProbeInterval: time.Hour}, Hub: hub.Config{Interval: 5 * time.Millisecond,
		MeInterval: 20 * time.Millisecond, CheckInterval: time.Hour, VerifyInterval: time.Hour}}
	nodes := []*servertest.Node{servertest.Start(t, r.URL(), cfg, d), servertest.Start(t, r.URL(), cfg, d)}
	descending(t, nodes[0], "b", members)
	recount := make(map[string]int64, members)
	for i := range members {
		recount[fmt.Sprint("m", i)] = int64(10 * (members - i))
	}
	before := calls(t, r.Admin())
	update(t, nodes[0], "b", "m0", 5)
	update(t, nodes[0], "b", "m0", -5)
	alone := forBoards(since(calls(t, r.Admin()), before)) // what one update costs
	for name := range alone {
		alone[name] /= 2
	}
	require.EqualValues(t, 1, alone["evalsha"])
	var sockets []*servertest.Socket
	for i := range followers {
		s := servertest.Dial(t, nodes[i%2].Addr)
		s.Send(`{"type":"subscribe","id":1,"board":"b","top":10,"me":"m%d"}`, i*members/followers)
		sockets = append(sockets, s)
	}
	right := func() {
		t.Helper()
		// All scores are apart, so that ranks follow from them alone.
		order := make([]string, 0, members)
		for m := range recount {
			order = append(order, m)
		}
		slices.SortFunc(order, func(a, b string) int { return int(recount[b] - recount[a]) })
		rank := make(map[string]int64, members)
		for i, m := range order {
			rank[m] = int64(i) + 1
		}
		for i, s := range sockets {
			m := fmt.Sprint("m", i*members/followers)
			meIs(s, "b", rank[m], recount[m])
		}
	}
	right()
	before = calls(t, r.Admin())
	random := rand.New(rand.NewPCG(5, 6))
	taken := make(map[int64]bool)
	for range rounds {
		for range updates {
			m := fmt.Sprint("m", random.IntN(members))
			if random.IntN(4) == 0 {
				m = fmt.Sprint("m", random.IntN(followers)*members/followers)
			}
			score := random.Int64N(10 * members)
			for score%10 == 0 || taken[score] { // those at tens are of members that never moved
				score = random.Int64N(10 * members)
			}
			taken[score] = true
			_, err := nodes[random.IntN(2)].Store.Apply(t.Context(), "b", []definition.Update{{Member: m, Score: score, Op: definition.Last}})
			require.NoError(t, err)
			recount[m] = score
		}
		right()
	}
	const housekeeping = rounds * updates / 100 // calls in the time that the test takes on a slow machine
	for name, n := range forBoards(since(calls(t, r.Admin()), before)) {
		// The test's own, the feed's probes, and what a connection that the pool adds begins with.
		if verb, _, _ := strings.Cut(name, "|"); !slices.Contains([]string{"info", "publish", "hello", "client"}, verb) {
			require.InDelta(t, rounds*updates*alone[name], n, housekeeping, "%s: %d calls for an update that nobody watches", name, alone[name])
		}
	}
}

// forBoards leaves away what nodes look at once a second, whatever is watched: the
// definitions, one HMGET each time, the agenda, one ZRANGEBYSCORE, and the items that wait for
// their turn, one EXISTS in the same script, which begins with a ZREM. An update has one HMGET, too, and one HSET.
func forBoards(counts map[string]int64) map[string]int64 {
	looks := counts["hmget"] - counts["hset"] + counts["zrangebyscore"]
	counts["hmget"] = counts["hset"]
	delete(counts, "zrangebyscore")
	delete(counts, "exists")
	delete(counts, "zrem")
	counts["evalsha"] -= looks
	counts["time"] -= looks
	return counts
}

// since is what was counted more.
func since(now, before map[string]int64) map[string]int64 {
	more := make(map[string]int64)
	for name, n := range now {
		if n > before[name] {
			more[name] = n - before[name]
		}
	}
	return more
}
