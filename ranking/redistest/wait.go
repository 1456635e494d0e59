package redistest

import (
	"context"
	"runtime"
	"testing"
	"time"
)

// patience bounds each wait of a test. It is far longer than a slow machine needs.
const patience = time.Minute

// Eventually calls check every 5 ms until it returns nil. It fails the test after a minute. what
// completes the sentence "waiting for …".
func Eventually(t testing.TB, what string, check func() error) {
	t.Helper()
	if err := Poll(context.Background(), check); err != nil {
		t.Fatalf("gave up waiting for %s: %v", what, err)
	}
}

// Poll calls check every 5 ms until it returns nil. After a minute, or when ctx ends, Poll returns
// the last error of check.
func Poll(ctx context.Context, check func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	poll := time.NewTicker(5 * time.Millisecond)
	defer poll.Stop()
	for {
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-poll.C:
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

// Wait calls wait, such as the Wait of a group of goroutines, as Receive receives.
func Wait(t testing.TB, what string, wait func()) {
	t.Helper()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		wait()
	}()
	Receive(t, what, ended)
}
