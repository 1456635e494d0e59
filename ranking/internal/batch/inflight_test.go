package batch

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// flight is one call that a test lets pass.
type flight struct {
	names []string
	sent  func()
	end   chan error
}

// flights is a Call whose batches a test passes on and ends by hand.
type flights struct {
	mu  sync.Mutex
	all []*flight
}

func newFlights() (*flights, *Queues[waiter]) {
	f := new(flights)
	return f, &Queues[waiter]{Call: f.call, Timeout: time.Minute, Second: 1}
}

func (f *flights) call(_ context.Context, _ string, batch []waiter, sent func()) error {
	one := &flight{sent: sent, end: make(chan error)}
	for _, i := range batch {
		one.names = append(one.names, i.name)
	}
	f.mu.Lock()
	f.all = append(f.all, one)
	f.mu.Unlock()
	return <-one.end
}

// batches returns the names of all calls so far.
func (f *flights) batches() (all [][]string) {
	synctest.Wait()
	for _, one := range f.all {
		all = append(all, one.names)
	}
	return all
}

func TestSecondBatchFollowsTheFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, q := newFlights()
		a := commitOne(t.Context(), q, "a")
		b, c := commitOne(t.Context(), q, "b"), commitOne(t.Context(), q, "c")
		require.Equal(t, [][]string{{"a"}}, f.batches(), "the first one has no place yet")
		f.all[0].sent()
		require.Equal(t, [][]string{{"a"}, {"b", "c"}}, f.batches())
		d := commitOne(t.Context(), q, "d")
		f.all[1].sent()
		require.Equal(t, [][]string{{"a"}, {"b", "c"}}, f.batches(), "two are in flight")
		require.Equal(t, 1, q.Waiting("b"))
		f.all[1].end <- nil
		allDone(t, b, c)
		require.Equal(t, [][]string{{"a"}, {"b", "c"}, {"d"}}, f.batches(), "the first one takes long")
		f.all[0].end <- nil
		require.NoError(t, <-a)
		e := commitOne(t.Context(), q, "e")
		require.Len(t, f.batches(), 3, "the latest one has no place yet")
		f.all[2].end <- nil
		require.NoError(t, <-d)
		require.Len(t, f.batches(), 4)
		f.all[3].sent()
		f.all[3].end <- nil
		require.NoError(t, <-e)
		q.Wait()
		require.Empty(t, q.queues)
	})
}

func TestInFlightBoundsTheBatches(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, q := newFlights()
		q.InFlight = 3
		var done []<-chan error
		for i := range 4 {
			done = append(done, commitOne(t.Context(), q, "one"))
			require.Len(t, f.batches(), min(i+1, 3))
			f.all[min(i, 2)].sent()
		}
		f.all[1].end <- nil
		require.Len(t, f.batches(), 4)
		for _, i := range []int{0, 2, 3} {
			f.all[i].end <- nil
		}
		allDone(t, done...)
	})
}

// A call may be sent again after its successor, so no group is in both.
func TestNoGroupIsInTwoBatchesInFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, q := newFlights()
		large := make([]string, MaxWeight+2)
		for i := range large {
			large[i] = "large"
		}
		first := commitOne(t.Context(), q, large...)
		other := commitOne(t.Context(), q, "other")
		f.all[0].sent()
		require.Len(t, f.batches(), 1, "the rest of the group waits")
		f.all[0].end <- nil
		require.Equal(t, []string{"large", "large", "other"}, f.batches()[1])
		f.all[1].sent()
		last := commitOne(t.Context(), q, "last")
		require.Equal(t, []string{"last"}, f.batches()[2])
		f.all[2].end <- nil
		require.NoError(t, <-last)
		f.all[1].end <- nil
		allDone(t, first, other)
	})
}

// A batch ends where a group begins that fits into the next batch only.
func TestGroupsAreNotDivided(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, q := newFlights()
		group := make([]string, MaxWeight*3/4)
		done := []<-chan error{commitOne(t.Context(), q, "first")}
		for range 2 {
			done = append(done, commitOne(t.Context(), q, group...))
		}
		f.all[0].sent()
		require.Len(t, f.batches()[1], len(group))
		f.all[1].sent()
		f.all[0].end <- nil
		require.Len(t, f.batches()[2], len(group), "both groups are in flight")
		for _, one := range f.all[1:] {
			one.end <- nil
		}
		allDone(t, done...)
	})
}

// By default a second batch waits until it is not small.
func TestSecondBatchIsNotSmall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, q := newFlights()
		q.Second = 0
		done := []<-chan error{commitOne(t.Context(), q, "first")}
		f.all[0].sent()
		for range defaultSecond {
			require.Len(t, f.batches(), 1)
			done = append(done, commitOne(t.Context(), q, "next"))
		}
		require.Len(t, f.batches()[1], defaultSecond)
		for _, one := range f.all {
			one.end <- nil
		}
		allDone(t, done...)
	})
}

// A batch that begins with a group too large for one batch is larger, and other batches are not.
func TestBatchesOfALargeGroup(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, q := newGate()
		q.MaxWeight, q.LargeWeight = 2, 3
		done := []<-chan error{commitOne(t.Context(), q, "first"), commitOne(t.Context(), q, "a", "b", "c", "d"),
			commitOne(t.Context(), q, "e"), commitOne(t.Context(), q, "f"), commitOne(t.Context(), q, "g")}
		for range 4 {
			g.open <- nil
		}
		allDone(t, done...)
		require.Equal(t, [][]string{{"first"}, {"a", "b", "c"}, {"d", "e"}, {"f", "g"}}, g.batches)
	})
}

// A batch that fails takes what waits along, and not the other batch in flight.
func TestFailureOfOneOfTwoBatches(t *testing.T) {
	t.Parallel()
	for fails := range 2 {
		synctest.Test(t, func(t *testing.T) {
			f, q := newFlights()
			both := []<-chan error{commitOne(t.Context(), q, "a")}
			f.all[0].sent()
			both = append(both, commitOne(t.Context(), q, "b"))
			f.all[1].sent()
			waits := commitOne(t.Context(), q, "c")
			broken := errors.New("broken")
			f.all[fails].end <- broken
			require.ErrorIs(t, <-both[fails], broken)
			require.ErrorIs(t, <-waits, broken)
			require.Len(t, f.batches(), 2)
			later := commitOne(t.Context(), q, "d")
			require.Equal(t, []string{"d"}, f.batches()[2])
			f.all[2].end <- nil
			require.NoError(t, <-later)
			f.all[1-fails].end <- nil
			require.NoError(t, <-both[1-fails])
		})
	}
}
