package webhook

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
)

// The log has it when the receiver begins to fail, how often it failed each minute, and
// when it takes again; a try that is taken at once is not told.
func TestReceiverHealthLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := newFakeSource()
		down := atomic.Bool{}
		down.Store(true)
		log, stop := startWebhook(t, source, func(r *http.Request) (int, error) {
			if down.Load() {
				return 0, errors.New("connection refused")
			}
			return 204, nil
		}, Config{})
		defer stop()
		add := func(id string) {
			source.mu.Lock()
			defer source.mu.Unlock()
			source.due[id], source.settled[id] = time.Now(), time.Now()
		}
		told := func() string {
			synctest.Wait()
			defer log.Reset()
			return log.String()
		}
		// Each of them fails here and arrives from another node.
		for i := range 1200 {
			id := fmt.Sprint("m", i)
			add(id)
			time.Sleep(2 * time.Second)
			source.Delivered(t.Context(), ranking.Delivery{ID: id})
		}
		down.Store(false)
		add("works")
		time.Sleep(5 * time.Second)
		all := told()
		warnings := strings.Count(all, `level=WARN msg="the webhook receiver does not accept messages; the node tries again"`)
		require.InDelta(t, 40, warnings, 2, all) // minutes
		require.Equal(t, warnings+1, strings.Count(all, "\n"), all)
		require.Contains(t, all, "failed=1 error=\"connection refused\"")
		require.Regexp(t, `failed=(29|30|31) error=`, all)
		require.Contains(t, all, `level=INFO msg="the webhook receiver accepts messages again" id=works`)
		require.NotContains(t, all, "receiver.example")

		add("works too")
		time.Sleep(2 * time.Minute)
		require.Empty(t, told())

		// It fails again, and that is told although all the others were long ago.
		down.Store(true)
		add("fails")
		time.Sleep(30 * time.Second)
		all = told()
		require.Equal(t, 1, strings.Count(all, "\n"), all)
		require.Contains(t, all, "id=fails")
		down.Store(false)
		time.Sleep(2 * time.Minute)
		require.Contains(t, told(), `msg="the webhook receiver accepts messages again" id=fails`)
	})
}

// One message that is never taken among others that are makes no flood in the log.
func TestReceiverHealthLogWithPartialFailures(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := newFakeSource()
		log, stop := startWebhook(t, source, func(r *http.Request) (int, error) {
			if strings.HasPrefix(r.Header.Get("webhook-id"), "odd") {
				return 400, nil
			}
			return 204, nil
		}, Config{})
		defer stop()
		for i := range 600 {
			source.mu.Lock()
			id := fmt.Sprint([]string{"even", "odd"}[i%2], i)
			source.due[id], source.settled[id] = time.Now(), time.Now()
			source.mu.Unlock()
			time.Sleep(time.Second)
		}
		synctest.Wait()
		require.LessOrEqual(t, strings.Count(log.String(), "\n"), 21, log.String()) // in ten minutes
		require.GreaterOrEqual(t, strings.Count(log.String(), "\n"), 18, log.String())
	})
}
