package redistest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// patience bounds each wait of a test. It is far longer than a slow machine needs.
const patience = time.Minute

// Eventually calls check, as Poll does, until it returns nil. It fails the test after a minute. what
// completes the sentence "waiting for …".
func Eventually(t testing.TB, what string, check func() error) {
	t.Helper()
	if err := Poll(context.Background(), check); err != nil {
		t.Fatalf("gave up waiting for %s: %v", what, err)
	}
}

// Until is Eventually for a condition.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	Eventually(t, what, func() error {
		if !holds() {
			return errors.New("not yet")
		}
		return nil
	})
}

// UntilEqual is Eventually for a value: until get returns want.
func UntilEqual[T comparable](t testing.TB, what string, want T, get func() T) {
	t.Helper()
	Eventually(t, what, func() error { return Differs(want, get()) })
}

// Differs returns an error unless a value is the one that a test wants.
func Differs[T comparable](want, is T) error {
	if is != want {
		return fmt.Errorf("is %v; want %v", is, want)
	}
	return nil
}

// Poll calls check until it returns nil: every 5 ms at first, and less often the longer it has waited, every 50 ms at last.
// After a minute, or when ctx ends, Poll returns the last error of check.
func Poll(ctx context.Context, check func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for began := time.Now(); ; {
		err := check()
		if err == nil {
			return nil
		}
		// A wait is longer than it needs to be by a twentieth at most, and one of many seconds takes little CPU.
		select {
		case <-time.After(min(max(time.Since(began)/20, 5*time.Millisecond), 50*time.Millisecond)):
		case <-ctx.Done():
			return err
		}
	}
}

// Receive receives from a channel. It fails the test after a minute, and prints all goroutines. what completes the
// sentence "waiting for …". From a closed channel it returns a zero value. Only the goroutine of the test may call
// it, and not within a bubble of synctest, which ends a test that waits for ever.
func Receive[T any](t testing.TB, what string, from <-chan T) T {
	t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case v := <-from:
		return v
	case <-late.C:
		stacks := make([]byte, 1<<20)
		t.Fatalf("gave up waiting for %s; the goroutines:\n%s", what, stacks[:runtime.Stack(stacks, true)])
		panic("not reached")
	}
}

// InBubble runs a test in parallel with others, by a clock of its own (synctest).
func InBubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, test)
}

// Go calls run in a goroutine. The channel is closed at its end.
func Go(run func()) (ended <-chan struct{}) {
	end := make(chan struct{})
	go func() {
		defer close(end)
		run()
	}()
	return end
}

// Wait calls wait, such as the Wait of a group of goroutines, as Receive receives.
func Wait(t testing.TB, what string, wait func()) {
	t.Helper()
	Receive(t, what, Go(wait))
}

// Must returns the result of a call that the test needs to succeed: Must(s.Page(…))(t). The message of a failure is as of
// [require.NoError].
func Must[T any](result T, err error) func(t require.TestingT, msgAndArgs ...any) T {
	return func(t require.TestingT, msgAndArgs ...any) T {
		if h, ok := t.(interface{ Helper() }); ok {
			h.Helper()
		}
		require.NoError(t, err, msgAndArgs...)
		return result
	}
}

// ErrorOf is the error of a call whose result the test does not look at.
func ErrorOf[T any](_ T, err error) error { return err }
