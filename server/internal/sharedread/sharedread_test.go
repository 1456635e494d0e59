package sharedread

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"rankcast/ranking/redistest"
)

var errSilent = errors.New("the store is silent")

// source is what the reads of these tests read. Each read takes the value at its begin, and waits until the test
// ends it.
type source struct {
	reads Reads[string, int]
	value int
	begun int
	open  chan error // a value ends the read that is out
}

func newSource() *source {
	s := &source{open: make(chan error)}
	s.reads.Context = context.Background()
	return s
}

func (s *source) read(ctx context.Context) (int, error) {
	s.begun++
	value := s.value
	select {
	case err := <-s.open:
		return value, err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

type outcome struct {
	value int
	err   error
}

// do begins a read in the background, and returns its outcome to come.
func (s *source) do(ctx context.Context, key string) <-chan outcome {
	came := make(chan outcome, 1)
	go func() {
		value, err := s.reads.Do(ctx, key, s.read)
		came <- outcome{value, err}
	}()
	synctest.Wait()
	return came
}

// end ends the read that is out.
func (s *source) end(err error) {
	s.open <- err
	synctest.Wait()
}

// requireIdle requires that no key is kept.
func (s *source) requireIdle(t *testing.T) {
	t.Helper()
	synctest.Wait()
	s.reads.Wait()
	require.Empty(t, s.reads.waiting)
}

func TestCallersThatWaitShareOneReadMore(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		s := newSource()
		first := s.do(t.Context(), "a")
		s.value = 1
		var waiting []<-chan outcome
		for range 31 {
			waiting = append(waiting, s.do(t.Context(), "a"))
		}
		require.Equal(t, 1, s.begun)
		s.end(nil)
		require.Equal(t, outcome{0, nil}, <-first)
		require.Equal(t, 2, s.begun)
		s.value = 2
		late := s.do(t.Context(), "a") // the second read has begun without it
		s.end(nil)
		for _, w := range waiting {
			require.Equal(t, outcome{1, nil}, <-w)
		}
		s.end(nil)
		require.Equal(t, outcome{2, nil}, <-late)
		require.Equal(t, 3, s.begun)
		s.requireIdle(t)
	})
}

// A shared read whose callers have given up goes on, until its context ends.
func TestSharedReadOfNobodyEndsWithItsContext(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		s := newSource()
		var end context.CancelFunc
		s.reads.Context, end = context.WithCancel(t.Context())
		first := s.do(t.Context(), "a")
		ctx, giveUp := context.WithCancel(t.Context())
		second := s.do(ctx, "a")
		s.end(nil)
		require.Equal(t, outcome{0, nil}, <-first)
		giveUp()
		require.Equal(t, outcome{0, context.Canceled}, <-second)
		require.Equal(t, 2, s.begun)
		require.NotEmpty(t, s.reads.waiting, "the read goes on")
		end()
		s.requireIdle(t)
	})
}

// A caller alone reads at once, each time, in its own goroutine.
func TestCallerAloneDoesNotWait(t *testing.T) {
	t.Parallel()
	read := 0
	var reads Reads[string, int]
	readNext := func(ctx context.Context) (int, error) {
		require.Equal(t, t.Context(), ctx)
		read++
		return read, nil
	}
	for i := range 3 {
		value, err := reads.Do(t.Context(), "a", readNext)
		require.NoError(t, err)
		require.Equal(t, i+1, value)
		require.Empty(t, reads.waiting)
	}
}

func TestReadsOfOtherKeysDoNotWait(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		s := newSource()
		a, b := s.do(t.Context(), "a"), s.do(t.Context(), "b")
		require.Equal(t, 2, s.begun)
		s.end(nil)
		s.end(nil)
		<-a
		<-b
		s.requireIdle(t)
	})
}

// When a caller gives up, both the read that waits and the one that others share go on.
func TestCallerThatGivesUpEndsNoOther(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		s := newSource()
		first := s.do(t.Context(), "a")
		early, giveUpEarly := context.WithCancel(t.Context())
		late, giveUpLate := context.WithCancel(t.Context())
		gone := s.do(early, "a") // its read is the one that the group makes
		goneLater, stays := s.do(late, "a"), s.do(t.Context(), "a")
		giveUpEarly()
		require.Equal(t, outcome{0, context.Canceled}, <-gone)
		s.end(nil)
		<-first
		giveUpLate()
		require.Equal(t, outcome{0, context.Canceled}, <-goneLater)
		s.value = 1 // after the begin of the second read
		s.end(nil)
		require.Equal(t, outcome{0, nil}, <-stays)
		s.requireIdle(t)
	})
}

// The read of a caller alone ends with it, and those that wait read then.
func TestCallerAloneThatGivesUpEndsItsRead(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		s := newSource()
		s.reads.FailsWaiting = func(error) bool { return true }
		ctx, giveUp := context.WithCancel(t.Context())
		first, second := s.do(ctx, "a"), s.do(t.Context(), "a")
		giveUp()
		require.Equal(t, outcome{0, context.Canceled}, <-first)
		s.end(nil)
		require.Equal(t, outcome{0, nil}, <-second)
		s.requireIdle(t)
	})
}

// A caller may join a group whose other callers have all given up.
func TestGroupThatAllHaveLeftTakesCallers(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		s := newSource()
		first := s.do(t.Context(), "a")
		ctx, giveUp := context.WithCancel(t.Context())
		s.do(ctx, "a")
		giveUp()
		synctest.Wait()
		late := s.do(t.Context(), "a")
		s.end(nil)
		<-first
		s.end(nil)
		require.Equal(t, outcome{0, nil}, <-late)
		s.requireIdle(t)
	})
}

// Those that share a read share its error. Those that wait for its end share only an error that holds for them.
func TestErrors(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		s := newSource()
		s.reads.FailsWaiting = func(err error) bool { return errors.Is(err, errSilent) }
		wrong := errors.New("no such board")
		first, second, third := s.do(t.Context(), "a"), s.do(t.Context(), "a"), s.do(t.Context(), "a")
		s.end(wrong)
		require.Equal(t, wrong, (<-first).err)
		fourth := s.do(t.Context(), "a")
		s.end(errSilent)
		require.Equal(t, errSilent, (<-second).err)
		require.Equal(t, errSilent, (<-third).err)
		require.Equal(t, errSilent, (<-fourth).err)
		require.Equal(t, 2, s.begun)
		s.requireIdle(t)

		alone, behind := s.do(t.Context(), "a"), s.do(t.Context(), "a")
		s.end(errSilent)
		require.Equal(t, errSilent, (<-alone).err)
		require.Equal(t, errSilent, (<-behind).err)
		s.requireIdle(t)
	})
}

// A panic is the caller's own in its goroutine, and an error to those that share the read. It stops no further read.
func TestPanicHangsNobody(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		open := make(chan bool)
		var reads Reads[string, int]
		read := func(context.Context) (int, error) {
			if <-open {
				panic("boom")
			}
			return 0, nil
		}
		do := func() <-chan error {
			came := make(chan error, 1)
			go func() {
				defer func() {
					if p := recover(); p != nil {
						came <- errors.New(p.(string))
					}
				}()
				_, err := reads.Do(t.Context(), "a", read)
				came <- err
			}()
			synctest.Wait()
			return came
		}
		first, second, third := do(), do(), do()
		open <- true
		synctest.Wait()
		require.EqualError(t, <-first, "boom")
		fourth := do()
		open <- true
		for _, shares := range []<-chan error{second, third} {
			err := <-shares
			require.ErrorIs(t, err, ErrPanicked)
			require.ErrorContains(t, err, "boom")
		}
		open <- false
		require.NoError(t, <-fourth)
		synctest.Wait()
		require.Empty(t, reads.waiting)
	})
}

// The test is not parallel: AllocsPerRun counts the allocations of all goroutines.
func TestCallerAloneAllocatesNothing(t *testing.T) {
	var reads Reads[string, int]
	read := func(context.Context) (int, error) { return 0, nil }
	require.Zero(t, testing.AllocsPerRun(100, func() { reads.Do(t.Context(), "a", read) }))
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
