package batch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rankcast/ranking/definition"

	"github.com/stretchr/testify/require"
)

// waiter is what waits in these tests.
type waiter struct {
	name string
	err  *error
}

func (i waiter) Weight() int { return 1 }

func (i waiter) Bytes() int { return len(i.name) }

func (i waiter) Fail(err error) { *i.err = err }

// gate is an apply that waits to be let through.
type gate struct {
	batches [][]string // names, by call
	open    chan error
}

func (g *gate) apply(ctx context.Context, _ string, batch []waiter, _ func()) error {
	var names []string
	for _, i := range batch {
		names = append(names, i.name)
	}
	g.batches = append(g.batches, names)
	select {
	case err := <-g.open:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func newGate() (*gate, *Queues[waiter]) {
	g := &gate{open: make(chan error)}
	return g, &Queues[waiter]{Call: g.apply, Timeout: 2 * time.Second}
}

// commitOne commits items in the background and returns the error to come.
func commitOne(ctx context.Context, q *Queues[waiter], members ...string) <-chan error {
	batch := make([]waiter, len(members))
	for i, m := range members {
		batch[i] = waiter{m, new(error)}
	}
	done := make(chan error, 1)
	go func() { done <- q.Commit(ctx, "b", batch) }()
	synctest.Wait()
	return done
}

// allDone waits for the ends of commits that succeed.
func allDone(t *testing.T, done ...<-chan error) {
	t.Helper()
	for _, d := range done {
		require.NoError(t, <-d)
	}
}

func TestWhatWaitsGoesTogetherInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, q := newGate()
		var done []<-chan error
		var want []string
		for i := range 300 {
			done = append(done, commitOne(t.Context(), q, fmt.Sprint("m", i)))
			want = append(want, fmt.Sprint("m", i))
		}
		for range 4 {
			g.open <- nil
			synctest.Wait()
		}
		allDone(t, done...)
		require.Equal(t, [][]string{want[:1], want[1:129], want[129:257], want[257:]}, g.batches)
		q.running.Wait()
		require.Empty(t, q.queues, "nothing is kept of a board that is done")
	})
}

func TestBatchesAreBoundedInBytes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, q := newGate()
		var members []string
		for i := range 1000 {
			members = append(members, fmt.Sprintf("%0600d", i)) // longer than any real one
		}
		done := commitOne(t.Context(), q, members...)
		for len(done) == 0 {
			g.open <- nil
			synctest.Wait()
		}
		for _, b := range g.batches {
			require.LessOrEqual(t, len(b)*600, MaxBytes+600)
		}
	})
}

// A call that fails, or does not end, fails what waits behind it at once, and
// not one timeout after the other.
func TestFailureIsToldToAllThatWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, q := newGate()
		start := time.Now()
		var done []<-chan error
		for i := range 1000 {
			done = append(done, commitOne(t.Context(), q, fmt.Sprint("m", i)))
		}
		for _, d := range done {
			require.ErrorIs(t, <-d, context.DeadlineExceeded)
		}
		require.Equal(t, 2*time.Second, time.Since(start))
		require.Len(t, g.batches, 1)

		after := commitOne(t.Context(), q, "after")
		g.open <- nil
		require.NoError(t, <-after)
	})
}

// A call may have an unknown outcome. Each caller learns that whose items the call had, all or some of
// them. Every other caller learns that his items were not sent.
func TestWhatWaitsHasAKnownOutcome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, q := newGate()
		q.MaxWeight = 2
		called := commitOne(t.Context(), q, "first")
		divided := commitOne(t.Context(), q, "a", "b", "c")
		waits := commitOne(t.Context(), q, "last")
		g.open <- nil
		require.NoError(t, <-called)
		g.open <- fmt.Errorf("%w: %w", definition.ErrUnavailable, definition.ErrOutcomeUnknown)
		require.ErrorIs(t, <-divided, definition.ErrOutcomeUnknown)
		err := <-waits
		require.ErrorIs(t, err, definition.ErrUnavailable)
		require.NotErrorIs(t, err, definition.ErrOutcomeUnknown)
		require.Equal(t, [][]string{{"first"}, {"a", "b"}}, g.batches)
	})
}

// Of a caller whose updates went out in several calls, those that came through
// have their outcomes, and the rest are unknown.
func TestPartlyAppliedCallSaysWhich(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, q := newGate()
		errs := make([]error, 130)
		batch := make([]waiter, len(errs))
		for i := range batch {
			batch[i] = waiter{"m", &errs[i]}
		}
		done := make(chan error)
		go func() { done <- q.Commit(t.Context(), "b", batch) }()
		g.open <- nil
		broken := errors.New("broken")
		g.open <- broken
		require.NoError(t, <-done)
		require.NoError(t, errs[127])
		require.ErrorIs(t, errs[128], broken)
	})
}

func TestFullQueueRefusesAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, q := newGate()
		first := commitOne(t.Context(), q, "first")
		most := make([]string, MaxWaiting)
		for i := range most {
			most[i] = "m"
		}
		full := commitOne(t.Context(), q, most...)
		require.ErrorIs(t, <-commitOne(t.Context(), q, "one more"), definition.ErrOverloaded)
		for len(full) == 0 {
			g.open <- nil
			synctest.Wait()
		}
		allDone(t, first, full)
	})
}

// A caller that gives up takes nobody else's update along.
func TestCallerThatGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, q := newGate()
		ctx, cancel := context.WithCancel(t.Context())
		first := commitOne(t.Context(), q, "first")
		impatient, patient := commitOne(ctx, q, "impatient"), commitOne(t.Context(), q, "patient")
		cancel()
		require.ErrorIs(t, <-impatient, definition.ErrUnavailable)
		g.open <- nil
		g.open <- nil
		allDone(t, first, patient)
		require.Equal(t, [][]string{{"first"}, {"impatient", "patient"}}, g.batches)
	})
}

func TestBoardsDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		boards := make(map[string]chan struct{})
		q := &Queues[waiter]{Timeout: time.Minute}
		q.Call = func(_ context.Context, board string, _ []waiter, _ func()) error {
			mu.Lock()
			hold := boards[board]
			mu.Unlock()
			if hold != nil {
				<-hold
			}
			return nil
		}
		boards["slow"] = make(chan struct{})
		slow := make(chan error, 1)
		go func() {
			slow <- q.Commit(t.Context(), "slow", []waiter{{err: new(error)}})
		}()
		synctest.Wait()
		require.NoError(t, q.Commit(t.Context(), "quick", []waiter{{err: new(error)}}))
		close(boards["slow"])
		require.NoError(t, <-slow)
	})
}

// A lone caller of a read makes its call itself, within its own context. The end of that context, or a panic, is no answer to those
// that wait: the next call answers them.
func TestLoneCallerOfARead(t *testing.T) {
	for name, end := range map[string]func(giveUp func(), entered chan<- struct{}){
		"gives up": func(giveUp func(), _ chan<- struct{}) { giveUp() },
		"panics":   func(_ func(), panics chan<- struct{}) { close(panics) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				entered, panics := make(chan struct{}, 1), make(chan struct{})
				q := &Queues[waiter]{Reads: true, Timeout: time.Hour, InFlight: 1}
				var calls atomic.Int64
				q.Call = func(ctx context.Context, _ string, _ []waiter, sent func()) error {
					sent()
					if calls.Add(1) > 1 {
						return nil
					}
					entered <- struct{}{}
					select {
					case <-ctx.Done():
						return fmt.Errorf("%w: %w", definition.ErrUnavailable, ctx.Err())
					case <-panics:
						panic("by the test")
					}
				}
				ctx, giveUp := context.WithCancel(t.Context())
				lone := make(chan error, 1)
				go func() {
					defer func() {
						if p := recover(); p != nil {
							lone <- fmt.Errorf("%w: %v", errPanicked, p)
						}
					}()
					lone <- q.Commit(ctx, "b", []waiter{{"lone", new(error)}})
				}()
				<-entered
				waits := commitOne(t.Context(), q, "waits")
				require.Equal(t, 1, q.Waiting("b"))
				end(giveUp, panics)
				require.ErrorIs(t, <-lone, definition.ErrUnavailable)
				require.NoError(t, <-waits)
				require.EqualValues(t, 2, calls.Load())
				q.Wait()
				require.ErrorIs(t, q.Commit(ctx, "c", []waiter{{"late", new(error)}}), ctx.Err(), "it makes no call any more")
			})
		})
	}
}

// Where a call for reads fails at once, the next call answers the reads that wait. Where a call has timed out, the reads that wait fail
// with it: each of them would wait for a further timeout.
func TestReadsBehindAFailure(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		fails bool
	}{"broken connection": {io.EOF, false}, "timeout": {os.ErrDeadlineExceeded, true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				entered, open := make(chan struct{}, 1), make(chan struct{})
				q := &Queues[waiter]{Reads: true, Timeout: time.Hour, InFlight: 1}
				var calls atomic.Int64
				q.Call = func(context.Context, string, []waiter, func()) error {
					if calls.Add(1) > 1 {
						return nil
					}
					entered <- struct{}{}
					<-open
					return c.err
				}
				first := commitOne(t.Context(), q, "first")
				<-entered
				waits := commitOne(t.Context(), q, "waits")
				require.Equal(t, 1, q.Waiting("b"))
				close(open)
				require.ErrorIs(t, <-first, c.err)
				err := <-waits
				require.Equal(t, c.fails, err != nil, "%v", err)
				q.Wait()
			})
		})
	}
}
