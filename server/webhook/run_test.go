package webhook

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
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

func (w *fakeSource) Deferred(ctx context.Context, d ranking.Delivery, after time.Duration) error {
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
	done := make(chan struct{})
	go func() { w.Run(ctx); close(done) }()
	return log, func() { cancel(); redistest.Receive(t, "the run to end", done) }
}

// A receiver that hangs has so many tries at most, each of which begins when it is
// claimed and ends long before others may claim it.
func TestSlowReceiverDelaysNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
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
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := newFakeSource("m")
		source.err = ranking.ErrUnavailable
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
