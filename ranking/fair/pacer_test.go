package fair_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/fair"
)

const maxRest = 100 * time.Millisecond

// Turns come one at a time, in their order, with a pause as long as each one took, up to a bound.
func TestPacerTakesTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const ms = time.Millisecond
		p := fair.NewPacer[string](maxRest)
		var began []string
		var callers sync.WaitGroup
		start := time.Now()
		for i, takes := range []time.Duration{10 * ms, 20 * ms, 2 * time.Second, ms, ms} {
			callers.Go(func() {
				end, err := p.Wait(t.Context(), "a")
				require.NoError(t, err)
				began = append(began, fmt.Sprint(i, " ", time.Since(start)))
				time.Sleep(takes)
				end()
			})
			synctest.Wait()
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*ms)
		defer cancel()
		_, err := p.Wait(ctx, "a")
		require.ErrorIs(t, err, context.DeadlineExceeded, "a caller that waits no longer")
		callers.Wait()
		require.Equal(t, []string{"0 0s", "1 20ms", "2 60ms", "3 2.16s", "4 2.162s"}, began)

		ctx, cancel = context.WithTimeout(t.Context(), 0)
		defer cancel()
		_, err = p.Wait(ctx, "a")
		require.ErrorIs(t, err, context.DeadlineExceeded, "it is its turn, but the pause is not over")
		time.Sleep(2 * ms)
		ended := time.Now()
		end, err := p.Wait(t.Context(), "a")
		require.NoError(t, err)
		end()
		require.Equal(t, ended, time.Now(), "after the pause nobody waits")
	})
}

// The turns of a key with many do not delay another key by more than one of them for each of its own. Callers that
// have left delay no other caller.
func TestPacerIsFairToCallers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := fair.NewPacer[string](maxRest)
		var began []string
		var callers sync.WaitGroup
		read := func(caller string) {
			callers.Go(func() {
				end, err := p.Wait(t.Context(), caller)
				require.NoError(t, err)
				began = append(began, caller)
				time.Sleep(time.Millisecond)
				end()
			})
			synctest.Wait()
		}
		for range 4 {
			read("many")
		}
		short, cancel := context.WithTimeout(t.Context(), time.Microsecond)
		defer cancel()
		_, err := p.Wait(short, "left")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		read("few")
		read("few")
		callers.Wait()
		require.Equal(t, []string{"many", "few", "many", "few", "many", "many"}, began)
	})
}
