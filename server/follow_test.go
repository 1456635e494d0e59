package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
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
func (n *node) descending(board string, members int) {
	n.t.Helper()
	for from := 0; from < members; from += 1000 {
		var updates []definition.Update
		for i := from; i < min(members, from+1000); i++ {
			updates = append(updates, definition.Update{Member: fmt.Sprint("m", i), Score: int64(10 * (members - i))})
		}
		_, err := n.store.Apply(context.Background(), board, updates)
		require.NoError(n.t, err)
	}
}

func (n *node) update(board, member string, score int64) {
	n.t.Helper()
	_, err := n.store.Apply(context.Background(), board, []definition.Update{{Member: member, Score: score}})
	require.NoError(n.t, err)
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
	redistest.Engines(t, func(t *testing.T, url string) {
		n := startNode(t, url, nodeConfig{hub: hub.Config{Interval: time.Millisecond, MeInterval: 2 * time.Millisecond}},
			definition.Board{Name: "b"})
		n.descending("b", 200)
		s := servertest.Dial(t, n.addr)
		s.Send(`{"type":"subscribe","id":1,"board":"b","top":3,"me":"m100"}`)
		var order []string
		for range 3 {
			order = append(order, s.Next("ok", "snapshot", "me").Type)
		}
		require.Equal(t, []string{"ok", "snapshot", "me"}, order)
		me := meIs(s, "b", 101, 1000)
		require.EqualValues(t, 200, me.Total)
		require.Nil(t, me.Around)

		n.update("b", "m150", 1000)
		meIs(s, "b", 102, 1000)
		n.update("b", "m100", 20)
		meIs(s, "b", 101, 1020)
		n.do("DELETE", "/v1/boards/b/members/m0", "")
		meIs(s, "b", 100, 1020)
		n.update("b", "m100", 5000)
		meIs(s, "b", 1, 6020)
		n.do("DELETE", "/v1/boards/b/members/m100", "")
		s.Until("b", "nowhere", func(b *hubtest.Board) bool { return b.Me.Rank == nil && b.Me.Score == nil })
		n.update("b", "m100", 25)
		meIs(s, "b", 197, 25)

		// Subscribing again changes who is followed, and ends it.
		s.Send(`{"type":"subscribe","id":2,"board":"b","top":3,"me":"nobody"}`)
		s.Next("ok")
		s.Next("snapshot")
		require.Nil(t, s.Next("me").Rank)
		s.Send(`{"type":"subscribe","id":3,"board":"b","top":3}`)
		s.Next("ok")
		s.Next("snapshot")
		n.update("b", "nobody", 7)
		n.update("b", "m1", 1)
		for s.Boards["b"].Top[0].Score != 1991 {
			m, err := s.Read()
			require.NoError(t, err)
			require.NotEqual(t, "me", m.Type)
		}
	})
}

// Neighbours and the distance to the next place come with a follower's own, and
// are right after every change near it, be it in the first entries or far below.
func TestAround(t *testing.T) {
	redistest.Engines(t, func(t *testing.T, url string) {
		n := startNode(t, url, nodeConfig{hub: hub.Config{Interval: time.Millisecond, MeInterval: 2 * time.Millisecond}},
			definition.Board{Name: "b"})
		n.descending("b", 200)
		s := servertest.Dial(t, n.addr)
		near := func() {
			t.Helper()
			a := n.do("GET", "/v1/boards/b/members/m100?around=2", "")
			var want hubtest.Message
			require.NoError(t, json.Unmarshal([]byte(a.Body), &want), a.Body)
			s.Until("b", a.Body, func(b *hubtest.Board) bool {
				return b.Me != nil && fmt.Sprint(b.Me.Around) == fmt.Sprint(want.Around) && *b.Me.Rank == *want.Rank &&
					fmt.Sprint(hubtest.Value(b.Me.ToNext)) == fmt.Sprint(hubtest.Value(want.ToNext))
			})
		}
		s.Send(`{"type":"subscribe","id":1,"board":"b","top":3,"me":"m100","around":2}`)
		near()
		n.update("b", "m101", 3) // a neighbour's score
		near()
		n.update("b", "m150", 502) // somebody comes between
		near()
		n.do("DELETE", "/v1/boards/b/members/m99", "")
		near()
		n.update("b", "m0", 5) // far above: only ranks
		n.update("b", "m199", 2000)
		near()
		n.update("b", "m100", 90_000) // to the top
		near()
		n.update("b", "m7", 90_000)
		near()
		n.update("b", "m100", -89_500)
		near()
		n.update("b", "m100", -89_500) // to the end
		near()
		n.do("DELETE", "/v1/boards/b/members/m100", "")
		s.Until("b", "nowhere", func(b *hubtest.Board) bool {
			return b.Me.Rank == nil && b.Me.ToNext == nil && b.Me.Around != nil && len(b.Me.Around) == 0
		})
	})
}

// Who comes back is sent one delta from what it has, if the server knows what
// changed since, and a snapshot otherwise.
func TestResume(t *testing.T) {
	redistest.Engines(t, func(t *testing.T, url string) {
		n := startNode(t, url, nodeConfig{hub: hub.Config{Interval: time.Millisecond, MeInterval: time.Millisecond}}, definition.Board{Name: "b"})
		n.descending("b", 50)
		stays, first := servertest.Dial(t, n.addr), servertest.Dial(t, n.addr)
		stays.Subscribe("b", 10)
		first.Subscribe("b", 10)
		held := *first.Boards["b"]
		rank := int64(31) // of m30
		resume := func(epoch string, seq int64) (*servertest.Socket, hubtest.Message) {
			s := servertest.Dial(t, n.addr)
			before := held
			s.Boards["b"] = &before
			s.Send(`{"type":"subscribe","id":1,"board":"b","top":10,"me":"m30","resume":{"epoch":%q,"seq":%d}}`, epoch, seq)
			s.Next("ok")
			m := s.Next("snapshot", "delta")
			meIs(s, "b", rank, 200)
			return s, m
		}
		_, m := resume(held.Epoch, held.Seq)
		require.Equal(t, "delta", m.Type, "nothing has changed, and it is told so")
		require.Empty(t, m.Rows)
		require.Equal(t, held.Seq, m.From)
		require.Equal(t, held.Seq, m.Seq)

		first.WS.CloseNow()
		n.update("b", "m5", 7)
		n.update("b", "m49", 450) // in between
		rank = 32
		want, total := n.top("b", 10)
		stays.Until("b", "the change", func(b *hubtest.Board) bool { return fmt.Sprint(b.Top) == fmt.Sprint(want) })
		s, m := resume(held.Epoch, held.Seq)
		require.Equal(t, "delta", m.Type)
		require.Equal(t, held.Seq, m.From)
		require.Len(t, m.Rows, 5)
		require.Equal(t, want, s.Boards["b"].Top)
		require.Equal(t, total, s.Boards["b"].Total)
		n.update("b", "m1", 1000) // and from there on by deltas, like everybody
		want, _ = n.top("b", 10)
		stays.Until("b", "m1", func(b *hubtest.Board) bool { return fmt.Sprint(b.Top) == fmt.Sprint(want) })
		s.Until("b", "m1", func(b *hubtest.Board) bool { return fmt.Sprint(b.Top) == fmt.Sprint(want) })

		for name, state := range map[string]ranking.State{
			"another life":    {Epoch: "another", Seq: held.Seq},
			"before any life": {Epoch: "", Seq: 0},
			"before the view": {Epoch: held.Epoch, Seq: held.Seq - 1},
			"ahead":           {Epoch: held.Epoch, Seq: held.Seq + 1000},
		} {
			s, m := resume(state.Epoch, state.Seq)
			require.Equal(t, "snapshot", m.Type, name)
			require.Equal(t, stays.Boards["b"].Top, s.Boards["b"].Top)
		}
		n.descending("b", 10) // all places change: a snapshot is smaller
		want, _ = n.top("b", 10)
		stays.Until("b", "new scores", func(b *hubtest.Board) bool { return fmt.Sprint(b.Top) == fmt.Sprint(want) })
		_, m = resume(held.Epoch, held.Seq)
		require.Equal(t, "snapshot", m.Type)
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
func TestFollowersOfALargeBoard(t *testing.T) {
	const members, followers, rounds, updates = 20_000, 500, 5, 400
	r := redistest.Start(t)
	d := definition.Board{Name: "b"}
	// Neither audit nor seq check may fall into the count.
	cfg := nodeConfig{hub: hub.Config{Interval: 5 * time.Millisecond, MeInterval: 20 * time.Millisecond, CheckInterval: time.Hour, AuditInterval: time.Hour}}
	nodes := []*node{startNode(t, r.URL(), cfg, d), startNode(t, r.URL(), cfg, d)}
	nodes[0].descending("b", members)
	recount := make(map[string]int64, members)
	for i := range members {
		recount[fmt.Sprint("m", i)] = int64(10 * (members - i))
	}
	before := calls(t, r.Admin())
	nodes[0].update("b", "m0", 5)
	nodes[0].update("b", "m0", -5)
	alone := forBoards(since(calls(t, r.Admin()), before)) // what one update costs
	for name := range alone {
		alone[name] /= 2
	}
	require.EqualValues(t, 1, alone["evalsha"])
	var sockets []*servertest.Socket
	for i := range followers {
		s := servertest.Dial(t, nodes[i%2].addr)
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
			_, err := nodes[random.IntN(2)].store.Apply(t.Context(), "b", []definition.Update{{Member: m, Score: score, Op: definition.Last}})
			require.NoError(t, err)
			recount[m] = score
		}
		right()
	}
	for name, n := range forBoards(since(calls(t, r.Admin()), before)) {
		// The test's own, the feed's probes, and what a connection that the pool adds begins with.
		if verb, _, _ := strings.Cut(name, "|"); !slices.Contains([]string{"info", "publish", "hello", "client"}, verb) {
			require.EqualValues(t, rounds*updates*alone[name], n, "%s: %d calls for an update that nobody watches", name, alone[name])
		}
	}
}

// forBoards leaves away what nodes look at once a second, whatever is watched: the
// definitions, two HGET each time, and the agenda, one ZRANGEBYSCORE.
func forBoards(counts map[string]int64) map[string]int64 {
	looks := counts["hget"]/2 + counts["zrangebyscore"]
	delete(counts, "hget")
	delete(counts, "zrangebyscore")
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

// What nobody follows costs nothing, and the last who leaves frees the view, the
// subscription and every goroutine.
func TestLastWhoLeavesFreesAll(t *testing.T) {
	r := redistest.Start(t)
	n := startNode(t, r.URL(), nodeConfig{}, definition.Board{Name: "b"})
	n.descending("b", 2000)
	heard := func(want int64) {
		t.Helper()
		redistest.Eventually(t, "the subscriptions in Redis to be as they should", func() error {
			subscribers, err := r.Admin().PubSubNumSub(t.Context(), "rc:{b}:c").Result()
			if got := subscribers["rc:{b}:c"]; err != nil || got != want {
				return fmt.Errorf("%d subscribers of %d (%v)", got, want, err)
			}
			return nil
		})
	}
	heard(0)
	before := runtime.NumGoroutine()
	for range 3 {
		var sockets []*servertest.Socket
		for i := range 40 {
			s := servertest.Dial(t, n.addr)
			s.Send(`{"type":"subscribe","id":1,"board":"b","me":"m%d","around":%d}`, 50*i, i%3)
			meIs(s, "b", int64(50*i+1), int64(10*(2000-50*i)))
			sockets = append(sockets, s)
		}
		require.Equal(t, 1, n.hub.Watched())
		require.Equal(t, 40, n.hub.Followed())
		heard(1)
		for i, s := range sockets {
			if i%2 == 0 {
				s.Send(`{"type":"subscribe","id":2,"board":"b","top":5}`) // follows nobody from now on
				s.Next("snapshot")
			}
		}
		redistest.Eventually(t, "half of them to follow nobody", func() error {
			if followed := n.hub.Followed(); followed != 20 {
				return fmt.Errorf("%d followed", followed)
			}
			return nil
		})
		for i, s := range sockets {
			if i%4 < 2 {
				s.Send(`{"type":"unsubscribe","id":3,"board":"b"}`)
				s.Next("ok")
			}
			s.WS.CloseNow()
		}
		redistest.Eventually(t, "all to be freed", func() error {
			if w, f := n.hub.Watched(), n.hub.Followed(); w > 0 || f > 0 {
				return fmt.Errorf("%d boards and %d members watched", w, f)
			}
			return nil
		})
		heard(0)
	}
	redistest.Eventually(t, "all goroutines to end", func() error {
		if now := runtime.NumGoroutine(); now > before {
			return fmt.Errorf("%d before, %d after", before, now)
		}
		return nil
	})
}
