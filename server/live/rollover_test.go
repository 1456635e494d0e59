package live_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub/hubtest"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server/servertest"
)

// quick is a board whose periods pass while a test waits.
var quick = definition.Board{Name: "quick", Period: "3s", Base: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}

// A rollover while many sockets on two nodes watch a board without further updates: each socket gets
// the final state of the old period, and right after it the first state of the next.
func TestRolloverReachesEverySocket(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	nodes := []*servertest.Node{servertest.Start(t, r.URL(), servertest.Config{}, quick),
		servertest.Start(t, r.URL(), servertest.Config{}, quick)}
	type turn struct{ last, first hubtest.Message }
	var turns [rolloverSockets]turn
	var ready, wg sync.WaitGroup
	ready.Add(rolloverSockets)
	for i := range rolloverSockets {
		s := servertest.Dial(t, nodes[i%2].Addr)
		s.Send(`{"type":"subscribe","id":1,"board":"quick","top":5,"me":"m%d"}`, i%20)
		s.Next("snapshot")
		wg.Go(func() {
			ready.Done()
			for !turns[i].last.Final || *turns[i].last.Period == "" || turns[i].last.Total == 0 {
				m, err := s.Read()
				if err != nil {
					return
				}
				if m.Type == "snapshot" {
					turns[i].last = m
				}
			}
			for turns[i].first.Type != "snapshot" && turns[i].first.Type != "delta" {
				m, err := s.Read()
				if err != nil {
					return
				}
				turns[i].first = m
			}
		})
	}
	redistest.Wait(t, "the end of ready", ready.Wait)
	// All of it in one period: what was written is the only board that is not empty.
	var updates []definition.Update
	for i := range 20 {
		updates = append(updates, definition.Update{Member: fmt.Sprint("m", i), Score: int64(i)})
	}
	outcomes, err := nodes[0].Store.Apply(t.Context(), "quick", updates)
	require.NoError(t, err)
	period := outcomes[0].Result.Period
	redistest.Wait(t, "the callers of the test", wg.Wait)
	final, total := nodes[1].Top("quick@"+period, 5)
	for i, turn := range turns {
		require.True(t, turn.last.Final, "socket %d", i)
		require.Equal(t, period, *turn.last.Period)
		require.Equal(t, total, turn.last.Total)
		require.Equal(t, final, turn.last.Top)
		require.Equal(t, "snapshot", turn.first.Type, "socket %d", i)
		var was, is int
		fmt.Sscan(*turn.last.Period, &was)
		fmt.Sscan(*turn.first.Period, &is)
		require.Equal(t, was+1, is)
		require.Zero(t, turn.first.Total)
		require.False(t, turn.first.Final)
	}
}

// A period of which nothing is kept is shown as it ended all the same.
func TestRolloverOfPeriodWithoutRetention(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		unkept := quick
		unkept.Period, unkept.Keep = "1s", new(0)
		n := servertest.Start(t, url, servertest.Config{}, unkept)
		s := servertest.Dial(t, n.Addr)
		s.Send(`{"type":"subscribe","id":1,"board":"quick","top":5}`)
		s.Next("snapshot")
		outcomes, err := n.Store.Apply(t.Context(), "quick", []definition.Update{{Member: "a", Score: 3}, {Member: "b", Score: 4}})
		require.NoError(t, err)
		period := outcomes[0].Result.Period
		var last hubtest.Message
		for !last.Final || *last.Period != period {
			last = s.Next("snapshot")
		}
		require.EqualValues(t, 2, last.Total)
		require.Equal(t, []hubtest.Entry{{Rank: 1, Member: "b", Score: 4}, {Rank: 2, Member: "a", Score: 3}}, last.Top)
		first := s.Next("snapshot")
		require.False(t, first.Final)
		require.Zero(t, first.Total)
	})
}
