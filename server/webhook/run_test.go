package webhook

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

// fakeSource is a Source in memory.
type fakeSource struct {
	mu        sync.Mutex
	err       error                // of Deliveries
	claimed   func()               // called when Deliveries has claimed some; nil: none
	due       map[string]time.Time // by id
	settled   map[string]time.Time
	most      []int
	deferred  []time.Duration
	delivered []string
}

func newFakeSource(ids ...string) *fakeSource {
	w := &fakeSource{due: make(map[string]time.Time), settled: make(map[string]time.Time)}
	for _, id := range ids {
		w.due[id], w.settled[id] = time.Now(), time.Now()
	}
	return w
}

func (w *fakeSource) Deliveries(ctx context.Context, most int) ([]ranking.Delivery, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.most = append(w.most, most)
	if w.err != nil {
		return nil, w.err
	}
	ids := slices.SortedFunc(maps.Keys(w.due), func(a, b string) int { return cmp.Or(w.due[a].Compare(w.due[b]), cmp.Compare(a, b)) })
	var list []ranking.Delivery
	for _, id := range ids {
		if len(list) < most && !time.Now().Before(w.due[id]) {
			list = append(list, ranking.Delivery{ID: id, Board: "b", Body: []byte(`{}`), Age: time.Since(w.settled[id]), Now: time.Now()})
			w.due[id] = time.Now().Add(ranking.DeliverWithin)
		}
	}
	if w.claimed != nil {
		w.claimed()
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return list, nil
}

func (w *fakeSource) Delivered(ctx context.Context, d ranking.Delivery) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	delete(w.due, d.ID)
	w.delivered = append(w.delivered, d.ID)
	return nil
}

func (w *fakeSource) Deferred(ctx context.Context, d ranking.Delivery, after time.Duration, _ error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if _, waits := w.due[d.ID]; waits {
		w.due[d.ID] = time.Now().Add(after)
	}
	w.deferred = append(w.deferred, after)
	return nil
}

// answers is a receiver without a network.
type answers func(*http.Request) (status int, err error)

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	status, err := a(r)
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader("so so")), Request: r}, nil
}

// startWebhook runs a Webhook; stop ends it.
func startWebhook(t *testing.T, source Source, receiver answers, cfg Config) (log *bytes.Buffer, stop func()) {
	log = new(bytes.Buffer)
	cfg.URL, cfg.Secret, cfg.Log = "https://receiver.example", "secret", slog.New(slog.NewTextHandler(log, nil))
	w, err := New(source, cfg)
	require.NoError(t, err)
	w.client.Transport = receiver
	ctx, cancel := context.WithCancel(t.Context())
	ended := redistest.Go(func() { w.Run(ctx) })
	return log, func() { cancel(); redistest.Receive(t, "the run to end", ended) }
}

// A receiver that hangs has so many tries at most, each of which begins when it is
// claimed and ends long before others may claim it.
func TestSlowReceiverDelaysNoOther(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		var ids []string
		for i := range 100 {
			ids = append(ids, fmt.Sprint("m", i))
		}
		source := newFakeSource(ids...)
		var mu sync.Mutex
		var under, most int
		began := make(map[string]time.Duration) // first try of each
		start := time.Now()
		_, stop := startWebhook(t, source, func(r *http.Request) (int, error) {
			mu.Lock()
			under++
			most = max(most, under)
			if id := r.Header.Get("webhook-id"); began[id] == 0 {
				began[id] = time.Since(start) + 1
			}
			source.mu.Lock()
			if held := time.Until(source.due[r.Header.Get("webhook-id")]); held != ranking.DeliverWithin {
				t.Errorf("tried %v after it was claimed", ranking.DeliverWithin-held)
			}
			source.mu.Unlock()
			mu.Unlock()
			<-r.Context().Done()
			mu.Lock()
			under--
			mu.Unlock()
			return 0, r.Context().Err()
		}, Config{Concurrency: 8})
		time.Sleep(125 * time.Second) // in the 13th round of 10 s
		source.mu.Lock()
		before := len(source.deferred)
		source.mu.Unlock()
		stop()
		require.Equal(t, 8, most)
		require.Len(t, began, 100, "all had a try")
		for id, at := range began {
			require.Less(t, at, 125*time.Second, id)
		}
		require.Equal(t, before+8, len(source.deferred))
		require.Equal(t, make([]time.Duration, 8), source.deferred[before:], "others may try at once what this node has not ended")
		require.Empty(t, source.delivered)
	})
}

// What a node has claimed when it stops is due at once for others.
func TestNodeStopsDuringClaim(t *testing.T) {
	t.Parallel()
	source := newFakeSource("m")
	ctx, stop := context.WithCancel(t.Context())
	source.claimed = stop
	w, err := New(source, Config{URL: "https://receiver.example", Secret: "secret"})
	require.NoError(t, err)
	w.client.Transport = answers(func(r *http.Request) (int, error) { return 0, r.Context().Err() })
	require.ErrorIs(t, w.Run(ctx), context.Canceled)
	require.Equal(t, []time.Duration{0}, source.deferred)
}

// While the store does not answer, nothing is sent; that is said once.
func TestUnavailableStore(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		source := newFakeSource("m")
		source.err = definition.ErrUnavailable
		log, stop := startWebhook(t, source, func(*http.Request) (int, error) { return 200, nil }, Config{})
		defer stop()
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, 1, strings.Count(log.String(), "\n"), log.String())
		source.mu.Lock()
		source.err = nil
		source.mu.Unlock()
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, []string{"m"}, source.delivered)
		require.Equal(t, 8, slices.Max(source.most))
	})
}

// The example that implementations of Standard Webhooks share.
func TestSignature(t *testing.T) {
	t.Parallel()
	key, err := parseSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	require.NoError(t, err)
	require.Equal(t, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
		sign(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(`{"test": 2432232314}`)))
	key, err = parseSecret("correct horse")
	require.NoError(t, err)
	require.Equal(t, []byte("correct horse"), key)
	for _, bad := range []string{"", "whsec_", "whsec_not base64"} {
		require.Error(t, CheckSecret(bad), "%q", bad)
	}
	for _, bad := range []string{"", "receiver.example", "ftp://receiver.example", "https://", "http://a b", "\x00"} {
		require.Error(t, CheckURL(bad), "%q", bad)
	}
	require.NoError(t, CheckURL("https://user:word@receiver.example:8443/hook?a=b"))
	_, err = New(nil, Config{URL: "https://receiver.example", Secret: "whsec_-"})
	require.ErrorContains(t, err, "secret")
	_, err = New(nil, Config{URL: "//receiver.example", Secret: "x"})
	require.ErrorContains(t, err, "URL")
}

// The log has it when the receiver begins to fail, how often it failed each minute, and
// when it takes again; a try that is taken at once is not told.
func TestReceiverHealthLog(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
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
	redistest.InBubble(t, func(t *testing.T) {
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

// A receiver that never takes a message is tried for a day, ever more seldom; the log
// has that it failed, and that it was given up.
func TestBackoff(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
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
	redistest.InBubble(t, func(t *testing.T) {
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
