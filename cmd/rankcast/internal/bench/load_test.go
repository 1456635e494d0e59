package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/internal/remote"
	"rankcast/ranking/fair"
	"rankcast/ranking/redistest"
)

// Each update has one time, one member and one number among the updates of that member.
func TestSchedule(t *testing.T) {
	t.Parallel()
	start := time.Unix(1000, 0)
	s := newSchedule(start, 1000, 10, 4, 2*time.Second)
	require.Equal(t, 200, s.requests)
	require.Equal(t, start, s.due(9))
	require.Equal(t, start.Add(10*time.Millisecond), s.due(10))
	require.Equal(t, start.Add(1990*time.Millisecond), s.due(1999))
	seen := make(map[int]int)
	for update := range 2000 {
		place := s.place(update)
		require.Equal(t, update, s.nth(place, seen[place]))
		seen[place]++
	}
	require.Equal(t, []int{3, 7, 11}, s.appendShown(nil, 3, 0, 3))
	require.Equal(t, []int{11}, s.appendShown(nil, 3, 2, 3))
	require.Empty(t, s.appendShown(nil, 3, 3, 3))
	require.Equal(t, []int{1999}, s.appendShown(nil, 3, 499, 600), "no update after the last")
	require.Equal(t, 1, newSchedule(start, 1, 1, 1, time.Millisecond).requests)
}

// A round ends also on a server that never answers.
func TestClosedRoundWithoutAnswers(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		loop := &loopFlags{Callers: 2, Duration: time.Second}
		_, err := loop.closedRound(t.Context(), &target{name: "this"}, loop.Duration, func(ctx context.Context, _ int) call {
			return func(int) (outcome, error) {
				<-ctx.Done()
				return outcome{}, ctx.Err()
			}
		})
		require.ErrorContains(t, err, "this: nothing was done")
	})
}

// A closed loop counts what is sent and answered within the duration, after the warm-up. What is refused is not done,
// and has no latency.
func TestClosedLoop(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		began := time.Now()
		var marks []time.Duration
		slow := func(took time.Duration, o outcome, err error) call {
			return func(int) (outcome, error) {
				fair.Pause(t.Context(), took)
				return o, err
			}
		}
		all := runClosed(t.Context(), []call{
			slow(7*time.Millisecond, outcome{done: 1}, nil), slow(70*time.Millisecond, outcome{done: 3, refused: 2, why: "429"}, nil),
			slow(30*time.Millisecond, outcome{}, errors.New("reset")),
		}, 10*time.Second, func() { marks = append(marks, time.Since(began)) })
		require.Equal(t, []time.Duration{warmUp, warmUp + 10*time.Second}, marks)
		fast, some := int64(10_000/7), int64(10_000/70)
		require.InDelta(t, fast+3*some, all.done, 8)
		require.InDelta(t, fast, all.latencies.TotalCount(), 2)
		require.InDelta(t, 7000, all.latencies.Max(), 7)
		require.InDelta(t, 2*some, all.errors["429"], 4)
		require.InDelta(t, 10_000/(30+pause.Milliseconds()), all.errors[noAnswer], 2)
	})
}

// A closed loop whose requests all take longer than the duration lasts until the first answer to a request that was sent
// after the warm-up.
func TestClosedLoopWithLateAnswers(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		began := time.Now()
		var marks []time.Duration
		slow := func(int) (outcome, error) {
			fair.Pause(t.Context(), 800*time.Millisecond)
			return outcome{done: 1}, nil
		}
		all := runClosed(t.Context(), []call{slow}, 300*time.Millisecond, func() { marks = append(marks, time.Since(began)) })
		require.Equal(t, []time.Duration{60 * time.Millisecond, 1600 * time.Millisecond}, marks)
		require.EqualValues(t, 1, all.done)
		require.InDelta(t, 800_000, all.latencies.Max(), 800)
		require.Empty(t, all.errors)
	})
}

// A closed loop ends with its context, before the duration.
func TestClosedLoopThatIsInterrupted(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		began := time.Now()
		runClosed(ctx, []call{func(int) (outcome, error) { fair.Pause(ctx, time.Hour); return outcome{}, ctx.Err() }}, time.Minute, func() {})
		require.Equal(t, 3*time.Second, time.Since(began))
	})
}

// A server that stalls delays no scheduled time: the requests that were due meanwhile are late, and counted as late.
func TestOpenLoop(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		sch := newSchedule(time.Now(), 100, 1, 1, time.Second)
		stalled := func(request int) (outcome, error) {
			if request == 10 {
				fair.Pause(t.Context(), 500*time.Millisecond)
			}
			fair.Pause(t.Context(), time.Millisecond)
			return outcome{done: 1}, nil
		}
		late := newTally()
		all := runOpen(t.Context(), []call{stalled}, sch, late)
		require.EqualValues(t, 100, all.done)
		latencies := late.latencies
		require.EqualValues(t, 100, latencies.TotalCount())
		require.InDelta(t, 491_000, latencies.Max(), 1000, "the request after the stalled one")
		require.InDelta(t, 1, latencies.Min(), 1)
		late = newTally()
		all = runOpen(t.Context(), []call{stalled, stalled}, newSchedule(time.Now(), 100, 1, 1, time.Second), late)
		require.EqualValues(t, 100, all.done)
		require.Less(t, late.latencies.Max(), int64(2000), "another caller is free")
	})
}

// Latencies from the scheduled times reach the figures, from many sockets at once.
func TestTally(t *testing.T) {
	t.Parallel()
	start := time.Unix(1000, 0)
	all := newTally()
	sch := newSchedule(start, 1000, 1, 1, time.Second)
	var sockets sync.WaitGroup
	for number := range 40 {
		sockets.Go(func() { all.countShown([]int{number, number + 1}, sch, start.Add(100*time.Millisecond)) })
	}
	all.fail("lost")
	all.fail("lost")
	sockets.Wait()
	require.EqualValues(t, 80, all.latencies.TotalCount())
	require.InDelta(t, 100_000, all.latencies.Max(), 100)
	require.InDelta(t, 60_000, all.latencies.Min(), 60)
	require.Equal(t, map[string]int64{"lost": 2}, all.errors)
	require.Zero(t, all.done)
}

// countingContext counts the functions that wait for its end.
type countingContext struct {
	context.Context
	waiting atomic.Int64
}

// Value hides the context below, past which AfterFunc would not be called.
func (c *countingContext) Value(any) any { return nil }

func (c *countingContext) AfterFunc(f func()) (stop func() bool) {
	c.waiting.Add(1)
	forget := context.AfterFunc(c.Context, f)
	return func() bool {
		c.waiting.Add(-1)
		return forget()
	}
}

// A caller whose connections fail keeps nothing of them until the end of the round.
func TestConnectionsThatFailLeaveNothing(t *testing.T) {
	t.Parallel()
	closing, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var accepted sync.WaitGroup
	accepted.Go(func() {
		for conn, err := closing.Accept(); err == nil; conn, err = closing.Accept() {
			conn.Close()
		}
	})
	defer accepted.Wait()
	defer closing.Close()
	ctx := &countingContext{Context: t.Context()}
	at := &target{remote: remote.Server{URL: "http://" + closing.Addr().String()}}
	send := at.newCall(ctx, "GET", "/", 1, nil)
	for n := range 10 {
		_, err := send(n)
		require.Error(t, err)
		require.Zero(t, ctx.waiting.Load())
	}
}

// Each request of a call has its own body.
func TestCallsSendTheirBodies(t *testing.T) {
	t.Parallel()
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		kind, key := r.Header.Get("Content-Type"), r.Header.Get("Authorization")
		got = append(got, fmt.Sprintf("%s %s %s %s %s %v", r.Method, r.URL, kind, key, body, err))
	}))
	defer server.Close()
	at, err := newTarget("this", remote.Server{URL: server.URL}, "k")
	require.NoError(t, err)
	defer at.client.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	post := at.newBatches(ctx, "/b", "updates", 2, func(to []byte, item int) []byte { return fmt.Append(to, item) })
	for n, send := range []call{post, post, at.newCall(ctx, "GET", "/top?limit=10", 1, nil)} {
		o, err := send(n)
		require.NoError(t, err)
		require.Equal(t, int64(2-n/2), o.done)
	}
	require.Equal(t, []string{
		`POST /b application/json Bearer k {"updates":[0,1]} <nil>`, `POST /b application/json Bearer k {"updates":[2,3]} <nil>`,
		"GET /top?limit=10  Bearer k  <nil>",
	}, got)
}
