package webhook

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
)

// A receiver that never takes a message is tried for a day, ever more seldom; the log
// has that it failed, and that it was given up.
func TestBackoff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source, began, registry := newFakeSource("m"), time.Now(), prometheus.NewRegistry()
		var tries []time.Duration
		log, stop := startWebhook(t, source, func(*http.Request) (int, error) {
			tries = append(tries, time.Since(began))
			return 500, nil
		}, Config{Metrics: registry})
		defer stop()
		time.Sleep(30 * time.Hour)
		synctest.Wait()
		require.Equal(t, []string{"m"}, source.delivered)
		require.Less(t, tries[0], 2*time.Second)
		require.Less(t, tries[1], 10*time.Second)
		for i := range tries[1:] {
			pause, age := tries[i+1]-tries[i], tries[i]
			require.Greater(t, pause, min(max(age, 5*time.Second), time.Hour)/2)
			require.Less(t, pause, min(max(age*3/2, 8*time.Second), time.Hour)+2*time.Second)
		}
		require.Greater(t, len(tries), 30)
		require.Less(t, len(tries), 80)
		require.Greater(t, tries[len(tries)-1], 24*time.Hour)
		require.Less(t, tries[len(tries)-1], 25*time.Hour+2*time.Second)
		require.Contains(t, log.String(),
			`level=WARN msg="the webhook receiver does not accept messages; the node tries again" id=m board=b period="" age=0s `+
				`failed=1 error="the receiver answers 500 \"so so\""`)
		require.Equal(t, 1, strings.Count(log.String(), "level=ERROR"), log.String())
		require.Contains(t, log.String(), "gives the message up")
		require.NotContains(t, log.String(), "secret")
		require.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(fmt.Sprintf(
			`# HELP rankcast_webhooks_total Attempts to send a message to the webhook receiver, by result.
# TYPE rankcast_webhooks_total counter
rankcast_webhooks_total{result="delivered"} 0
rankcast_webhooks_total{result="failed"} %d
rankcast_webhooks_total{result="given_up"} 1
`, len(tries)-1))))
	})
}

// All nodes were down for days: what waited is tried as if it were new.
func TestOldMessagesAreTriedAfterRestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := newFakeSource("m")
		time.Sleep(72 * time.Hour)
		began := time.Now()
		var tries []time.Duration
		_, stop := startWebhook(t, source, func(*http.Request) (int, error) {
			tries = append(tries, time.Since(began))
			return 500, nil
		}, Config{})
		defer stop()
		time.Sleep(5 * time.Hour)
		synctest.Wait()
		require.Greater(t, len(tries), 5)
		require.Less(t, tries[1], 10*time.Second)
		require.Greater(t, tries[len(tries)-1], time.Hour)
		require.Equal(t, []string{"m"}, source.delivered, "given up at last")
	})
}
