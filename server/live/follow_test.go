package live_test

import (
	"context"
	"encoding/json"
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
	"rankcast/hub/hubtest"
	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// descending gives a board n members m0, m1, ... of which the first has the
// highest score, in steps of ten.
func descending(t testing.TB, n *servertest.Node, board string, members int) {
	t.Helper()
	for from := 0; from < members; from += 1000 {
		var updates []definition.Update
		for i := from; i < min(members, from+1000); i++ {
			updates = append(updates, definition.Update{Member: fmt.Sprint("m", i), Score: int64(10 * (members - i))})
		}
		_, err := n.Store.Apply(context.Background(), board, updates)
		require.NoError(t, err)
	}
}

func update(t testing.TB, n *servertest.Node, board, member string, score int64) {
	t.Helper()
	_, err := n.Store.Apply(context.Background(), board, []definition.Update{{Member: member, Score: score}})
	require.NoError(t, err)
}

// meIs waits until a socket was told that it stands there, and returns the frame.
func meIs(s *servertest.Socket, board string, rank, score int64) hubtest.Message {
	is := func(b *hubtest.Board) bool {
		return b.Me != nil && b.Me.Rank != nil && *b.Me.Rank == rank && *b.Me.Score == score
	}
	s.Until(board, fmt.Sprintf("rank %d with %d", rank, score), is)
	return *s.Boards[board].Me
}

// A follower far below the top is told where it stands, and each time it moves:
// by itself, for others, off the board and onto it.
func TestOwnRank(t *testing.T) {
	servertest.With(servertest.Config{Hub: hub.Config{Interval: time.Millisecond, MeInterval: 2 * time.Millisecond}},
		definition.Board{Name: "b"}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		descending(t, n, "b", 200)
		s := servertest.Dial(t, n.Addr)
		s.Send(`{"type":"subscribe","id":1,"board":"b","top":3,"me":"m100"}`)
		var order []string
		for range 3 {
			order = append(order, s.Next("ok", "snapshot", "me").Type)
		}
		require.Equal(t, []string{"ok", "snapshot", "me"}, order)
		me := meIs(s, "b", 101, 1000)
		require.EqualValues(t, 200, me.Total)
		require.Nil(t, me.Around)

		update(t, n, "b", "m150", 1000)
		meIs(s, "b", 102, 1000)
		update(t, n, "b", "m100", 20)
		meIs(s, "b", 101, 1020)
		n.Do("DELETE", "/v1/boards/b/members/m0", "")
		meIs(s, "b", 100, 1020)
		update(t, n, "b", "m100", 5000)
		meIs(s, "b", 1, 6020)
		n.Do("DELETE", "/v1/boards/b/members/m100", "")
		s.Until("b", "nowhere", func(b *hubtest.Board) bool { return b.Me.Rank == nil && b.Me.Score == nil })
		update(t, n, "b", "m100", 25)
		meIs(s, "b", 197, 25)

		// Subscribing again changes who is followed, and ends it.
		s.Send(`{"type":"subscribe","id":2,"board":"b","top":3,"me":"nobody"}`)
		s.Next("ok")
		s.Next("snapshot")
		require.Nil(t, s.Next("me").Rank)
		s.Send(`{"type":"subscribe","id":3,"board":"b","top":3}`)
		s.Next("ok")
		s.Next("snapshot")
		update(t, n, "b", "nobody", 7)
		update(t, n, "b", "m1", 1)
		for s.Boards["b"].Top[0].Score != 1991 {
			m, err := s.Read()
			require.NoError(t, err)
			require.NotEqual(t, "me", m.Type)
		}
	})
}

// No leader has a distance to the place above, also where several share the first rank, nor does a frame or an answer
// tell one.
func TestLeadersHaveNoPlaceAbove(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		for _, ties := range []definition.Ties{definition.Shared, definition.Dense} {
			n := servertest.Start(t, url, servertest.Config{Ranking: ranking.Config{Prefix: string(ties)}},
				definition.Board{Name: "b", Kind: "user", Ties: ties})
			for _, member := range []string{"a", "b", "c"} {
				update(t, n, "b", member, 30)
			}
			update(t, n, "b", "d", 20) // before e, so d is above it
			update(t, n, "b", "e", 20)
			zero, ten := int64(0), int64(10)
			for member, want := range map[string]*int64{"a": nil, "b": nil, "c": nil, "d": &ten, "e": &zero} {
				s := servertest.Dial(t, n.Addr)
				s.Send(`{"type":"subscribe","id":1,"board":"b","top":1,"me":%q,"around":1}`, member)
				s.Until("b", "the standing of "+member, func(b *hubtest.Board) bool { return b.Me != nil && b.Me.Around != nil })
				require.Equal(t, want, s.Boards["b"].Me.ToNext, "the frame of %s with ties %s", member, ties)
				var place hubtest.Message
				require.NoError(t, json.Unmarshal([]byte(n.Do("GET", "/v1/boards/b/members/"+member, "").Body), &place))
				require.Equal(t, want, place.ToNext, "the answer about %s with ties %s", member, ties)
				var boards struct{ Boards []hubtest.Message }
				require.NoError(t, json.Unmarshal([]byte(n.Do("GET", "/v1/members/user/"+member+"/boards", "").Body), &boards))
				require.Len(t, boards.Boards, 1)
				require.Equal(t, want, boards.Boards[0].ToNext, "the boards of %s with ties %s", member, ties)
			}
		}
	})
}

// Neighbours and the distance to the next place come with a follower's own, and
// are right after every change near it, be it in the first entries or far below.
func TestAround(t *testing.T) {
	servertest.With(servertest.Config{Hub: hub.Config{Interval: time.Millisecond, MeInterval: 2 * time.Millisecond}},
		definition.Board{Name: "b"}).OnEngines(t, func(t *testing.T, n *servertest.Node) {
		descending(t, n, "b", 200)
		s := servertest.Dial(t, n.Addr)
		near := func() {
			t.Helper()
			a := n.Do("GET", "/v1/boards/b/members/m100?around=2", "")
			var want hubtest.Message
			require.NoError(t, json.Unmarshal([]byte(a.Body), &want), a.Body)
			s.Until("b", a.Body, func(b *hubtest.Board) bool {
				return b.Me != nil && fmt.Sprint(b.Me.Around) == fmt.Sprint(want.Around) && *b.Me.Rank == *want.Rank &&
					fmt.Sprint(hubtest.Value(b.Me.ToNext)) == fmt.Sprint(hubtest.Value(want.ToNext))
			})
		}
		s.Send(`{"type":"subscribe","id":1,"board":"b","top":3,"me":"m100","around":2}`)
		near()
		update(t, n, "b", "m101", 3) // a neighbour's score
		near()
		update(t, n, "b", "m150", 502) // somebody comes between
		near()
		n.Do("DELETE", "/v1/boards/b/members/m99", "")
		near()
		update(t, n, "b", "m0", 5) // far above: only ranks
		update(t, n, "b", "m199", 2000)
		near()
		update(t, n, "b", "m100", 90_000) // to the top
		near()
		update(t, n, "b", "m7", 90_000)
		near()
		update(t, n, "b", "m100", -89_500)
		near()
		update(t, n, "b", "m100", -89_500) // to the end
		near()
		n.Do("DELETE", "/v1/boards/b/members/m100", "")
		s.Until("b", "nowhere", func(b *hubtest.Board) bool {
			return b.Me.Rank == nil && b.Me.ToNext == nil && b.Me.Around != nil && len(b.Me.Around) == 0
		})
	})
}

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
