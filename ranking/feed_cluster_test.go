package ranking_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/feed"
	"rankcast/ranking/redistest"
)

// boardsByMaster returns n boards of each master, by its index.
func boardsByMaster(c *redistest.Cluster, n int) [][]string {
	boards := make([][]string, len(c.Masters))
	for i := 0; slices.ContainsFunc(boards, func(of []string) bool { return len(of) < n }); i++ {
		board := fmt.Sprint("b:", i)
		if m := c.MasterOf(channel(board)); len(boards[m]) < n {
			boards[m] = append(boards[m], board)
		}
	}
	return boards
}

// watchAll watches boards, and waits until their changes arrive. On a busy machine a connection may fail meanwhile, and
// then the boards that were watched before arrive again.
func watchAll(t *testing.T, f *feed.Feed, heard recorder, boards ...string) {
	t.Helper()
	for _, b := range boards {
		f.Watch(b)
		for next[subscribed](t, heard) != subscribed(b) {
		}
	}
}

// arrives requires that a change of the board arrives. A master that comes back refuses commands at first.
func arrives(t *testing.T, s *ranking.Store, heard recorder, board string) {
	t.Helper()
	redistest.Eventually(t, "the update to count", func() error {
		return errorOf(s.Apply(t.Context(), board, []definition.Update{{Member: "m", Score: 1}}))
	})
	require.Equal(t, board, next[*feed.Changes](t, heard).Board)
}

// The master of a board alone has the changes of the board, of each kind, on one connection from each feed.
func TestFeedOnACluster(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	boards := boardsByMaster(cluster, 20)
	s := open(t, cluster.URL, definition.Board{Name: "b:{n}", Kind: "user"},
		definition.Board{Name: "u", Union: &definition.Union{Of: []string{boards[0][0], boards[1][0]}}})
	f, heard := follow(t, cluster.URL, 0)
	next[up](t, heard)
	for _, of := range boards {
		watchAll(t, f, heard, of...)
	}
	for m, of := range boards {
		for _, board := range of {
			arrives(t, s, heard, board)
			must(s.Remove(t.Context(), board, "m"))(t)
			require.Nil(t, next[*feed.Changes](t, heard).List[0].New)
			for i, master := range cluster.Masters {
				shard := must(master.Admin().PubSubShardNumSub(t.Context(), channel(board)).Result())(t)
				require.Equal(t, i == m, shard[channel(board)] == 1, shard)
				all := must(master.Admin().PubSubNumSub(t.Context(), channel(board)).Result())(t)
				require.Zero(t, all[channel(board)])
			}
		}
	}
	board := boards[2][0]
	arrives(t, s, heard, board)
	housekeeping, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.RunHousekeeping(housekeeping, slog.New(slog.DiscardHandler)) }()
	defer func() { stop(); redistest.Receive(t, "the run to end", ended) }()
	require.NoError(t, s.Hide(t.Context(), board, "m", ranking.Moderator{}))
	hidden := next[*feed.Changes](t, heard)
	require.Equal(t, board, hidden.Board)
	require.Nil(t, hidden.List[0].New)

	arrives(t, s, heard, boards[0][0])
	watchAll(t, f, heard, "u")
	_, err := s.Page(t.Context(), "u", 1, 10) // builds it
	require.NoError(t, err)
	require.Empty(t, next[*feed.Changes](t, heard).List, "the result of a build replaces the board")

	// A board that is left and watched again at once is not lost.
	for range 200 {
		f.Unwatch(board)
		f.Watch(board)
		if rand.IntN(3) == 0 {
			runtime.Gosched()
		}
	}
	applyOne(t, s, board, definition.Update{Member: "o", Score: 1})
	for seen := false; !seen; {
		switch e := next[any](t, heard).(type) {
		case unsubscribed:
			t.Fatalf("%s is lost", e)
		case *feed.Changes:
			seen = e.Board == board
		case subscribed: // what was sent before it may be lost
			applyOne(t, s, board, definition.Update{Member: "o", Score: 1})
		}
	}

	// Redis lists a connection without channels as a normal one.
	ofFeeds := regexp.MustCompile(` cmd=(ping|subscribe|ssubscribe|sunsubscribe) `)
	connections := func() (total int) {
		for _, master := range cluster.Masters {
			list := must(master.Admin().ClientList(t.Context()).Result())(t)
			total += len(ofFeeds.FindAllString(list, -1))
		}
		return total
	}
	require.Equal(t, 1+len(cluster.Masters), connections())
	for _, of := range append(boards, []string{"u"}) {
		for _, board := range of {
			f.Unwatch(board)
		}
	}
	redistest.UntilEqual(t, "the connections without boards to end", 1, connections)
	for len(heard) > 0 { // what the connections have left
		redistest.Receive(t, "a message of the feed", heard)
	}
	watchAll(t, f, heard, board)
	applyOne(t, s, board, definition.Update{Member: "n", Score: 1})
	require.Equal(t, "n", next[*feed.Changes](t, heard).List[0].Member)
}

// A slot moves. Only its boards are lost, and the feed finds them at their new master without a check of all routes:
// there is none within an hour.
func TestFeedFollowsASlot(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	boards := boardsByMaster(cluster, 2)
	s := open(t, cluster.URL, definition.Board{Name: "b:{n}"})
	f, heard := follow(t, cluster.URL, time.Hour)
	next[up](t, heard)
	for _, of := range boards {
		watchAll(t, f, heard, of...)
	}
	moving, stays := boards[0][0], boards[0][1]
	arrives(t, s, heard, moving)
	for _, to := range []int{1, 2, 0} {
		cluster.MoveSlot(channel(moving), cluster.Masters[to])
		require.Equal(t, unsubscribed(moving), next[any](t, heard))
		require.Equal(t, subscribed(moving), next[any](t, heard), "nothing else is lost")
		arrives(t, s, heard, moving)
		arrives(t, s, heard, stays)
	}
	// The client leaves the board while its slot moves. The former master may answer, or push the end of the subscription.
	for i, to := range []int{1, 2, 0, 1} {
		from := cluster.Masters[cluster.MasterOf(channel(moving))]
		move := cluster.BeginMove(channel(moving), cluster.Masters[to])
		move.Keys()
		from.Suspend()
		ended := redistest.Go(move.End)
		f.Unwatch(moving)
		if i%2 == 0 {
			f.Watch(moving)
		}
		from.Resume()
		redistest.Receive(t, "the run to end", ended)
		if i%2 != 0 {
			f.Watch(moving)
		}
		for _, board := range []string{stays, moving} {
			redistest.Eventually(t, "changes of "+board, func() error { // what was sent before the subscription does not arrive
				if _, err := s.Apply(t.Context(), board, []definition.Update{{Member: "m", Score: 1}}); err != nil {
					return err
				}
				for {
					select {
					case e := <-heard:
						require.NotEqual(t, unsubscribed(stays), e)
						if c, ok := e.(*feed.Changes); ok && c.Board == board {
							return nil
						}
					default:
						return errors.New("none")
					}
				}
			})
		}
	}
}

// A master hangs or is away. The feed reports that its boards are lost, also those that are watched only then, and not
// those of other masters. When the master is back, the feed reports that their changes arrive.
func TestFeedLosesAMaster(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	boards := boardsByMaster(cluster, 3)
	s := open(t, cluster.URL, definition.Board{Name: "b:{n}"})
	f, heard := follow(t, cluster.URL, 500*time.Millisecond)
	next[up](t, heard)
	for _, of := range boards {
		watchAll(t, f, heard, of[:2]...)
	}
	calls := regexp.MustCompile(`cmdstat_ping:calls=(\d+)`)
	since := 0 // probes at the last event
	redistest.Eventually(t, "ten probes on quiet connections, of which none fails", func() error {
		stats, err := cluster.Masters[0].Admin().Info(t.Context(), "commandstats").Result()
		if err != nil {
			return err
		}
		probes := 0
		if found := calls.FindStringSubmatch(stats); found != nil {
			probes, _ = strconv.Atoi(found[1])
		}
		for len(heard) > 0 { // as on a busy machine
			<-heard
			since = probes
		}
		if probes < since+10 {
			return fmt.Errorf("%d", probes-since)
		}
		return nil
	})
	// lose has the second master hang or go away and come back. It reports whether the other masters kept their boards:
	// on a busy machine one of them may not answer three probes in time either.
	lose := func(begin, end func(*redistest.Redis)) (othersStay bool) {
		master := cluster.Masters[1]
		begin(master)
		again := boards[1][2]
		isUp, lost, back := true, make(map[string]bool), make(map[string]bool)
		others := make(map[string]bool) // boards of other masters that are lost
		take := func() {
			switch e := next[any](t, heard).(type) {
			case unsubscribed:
				if !slices.Contains(boards[1], string(e)) {
					others[string(e)], othersStay = true, false
					return
				}
				require.True(t, !lost[string(e)] || string(e) == again, "once for each call of Watch at most")
				lost[string(e)] = true
			case subscribed:
				if others[string(e)] {
					delete(others, string(e))
					return
				}
				require.Contains(t, boards[1], string(e))
				back[string(e)] = true
			case unfollowed: // the main connection went to that master
				isUp = false
			case up:
				isUp = true
			}
		}
		othersStay = true
		f.Watch(again)
		for len(lost) < 3 {
			take()
		}
		redistest.Eventually(t, "a report to the next clients of a board that its clients have left", func() error {
			delete(lost, again)
			f.Unwatch(again)
			runtime.Gosched() // the feed takes both calls together at times
			f.Watch(again)
			for len(heard) > 0 {
				take()
			}
			if !lost[again] {
				return errors.New("none")
			}
			return nil
		})
		require.Empty(t, back)
		end(master)
		for !isUp || len(back) < 3 || len(others) > 0 {
			take()
		}
		f.Unwatch(again)
		for _, of := range boards {
			arrives(t, s, heard, of[0])
		}
		return othersStay
	}
	for _, fault := range []struct{ begin, end func(*redistest.Redis) }{
		{(*redistest.Redis).Suspend, (*redistest.Redis).Resume},
		{(*redistest.Redis).Kill, (*redistest.Redis).Start},
	} {
		tries := 1
		for !lose(fault.begin, fault.end) {
			require.Less(t, tries, 5, "each time the boards of other masters were lost, too")
			tries++
		}
	}
}

// A former master that is cut off from the other nodes answers each probe, and does not know that it was replaced. The
// feed finds by the masters that the client knows that its boards have another one.
func TestFeedLeavesAFormerMaster(t *testing.T) {
	t.Parallel()
	var masters []*redistest.Redis // each takes itself for the only node of its cluster
	for range 2 {
		node, _ := redistest.StartNode(t)
		require.NoError(t, node.Admin().Do(t.Context(), "CLUSTER", "ADDSLOTSRANGE", 0, 16383).Err())
		redistest.Eventually(t, "the cluster to form", func() error {
			info, err := node.Admin().ClusterInfo(t.Context()).Result()
			if err == nil && !strings.Contains(info, "cluster_state:ok") {
				err = errors.New(info)
			}
			return err
		})
		masters = append(masters, node)
	}
	var current atomic.Int32
	rdb := redis.NewClusterClient(&redis.ClusterOptions{
		Protocol: 2, ClusterStateReloadInterval: time.Millisecond,
		ClusterSlots: func(context.Context) ([]redis.ClusterSlot, error) {
			address := strings.TrimPrefix(masters[current.Load()].URL(), "redis://")
			return []redis.ClusterSlot{{Start: 0, End: 16383, Nodes: []redis.ClusterNode{{Addr: strings.TrimSuffix(address, "/0")}}}}, nil
		},
	})
	f, heard := followBy(t, rdb, 200*time.Millisecond)
	next[up](t, heard)
	watchAll(t, f, heard, "a", "b")
	arrives := func(board string) {
		t.Helper()
		message := board + "\x1f\x1fE\x1f1\x1f1763900000123456\x1em\x1f\x1f-3.5\x1f1"
		require.NoError(t, masters[current.Load()].Admin().SPublish(t.Context(), channel(board), message).Err())
		require.Equal(t, board, next[*feed.Changes](t, heard).Board)
	}
	for _, to := range []int32{1, 0} {
		arrives("a")
		arrives("b")
		current.Store(to)
		lost := []unsubscribed{next[unsubscribed](t, heard), next[unsubscribed](t, heard)}
		require.ElementsMatch(t, []unsubscribed{"a", "b"}, lost)
		back := []subscribed{next[subscribed](t, heard), next[subscribed](t, heard)}
		require.ElementsMatch(t, []subscribed{"a", "b"}, back)
		redistest.Eventually(t, "the subscriptions at the former master to end", func() error {
			held, err := masters[1-to].Admin().PubSubShardChannels(t.Context(), "*").Result()
			if err == nil && len(held) > 0 {
				err = errors.New(strings.Join(held, " "))
			}
			return err
		})
	}
	arrives("a")
	arrives("b")
}
