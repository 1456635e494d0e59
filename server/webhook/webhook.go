package webhook

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"rankcast/ranking"
	"rankcast/server/internal/refusal"
)

// Source keeps the deliveries. *ranking.Store is one. All methods may be called concurrently.
type Source interface {
	// Deliveries claims up to most deliveries that are due, for ranking.DeliverWithin. It
	// may return claimed deliveries beside an error.
	Deliveries(ctx context.Context, most int) ([]ranking.Delivery, error)
	// Delivered removes a delivery: the receiver took it, or the node gave it up.
	Delivered(ctx context.Context, d ranking.Delivery) error
	// Deferred makes a delivery due again after a delay. failure is why the attempt has failed; nil: the node has ended it.
	Deferred(ctx context.Context, d ranking.Delivery, after time.Duration, failure error) error
}

// Config configures a Webhook. URL and Secret are required; the zero value of every other
// field means its default.
type Config struct {
	URL    string       // http or https
	Secret string       // whsec_ and base64, or any other text
	Log    *slog.Logger // default slog.Default
	// Metrics gets the metrics of the Webhook. Default none.
	Metrics prometheus.Registerer

	// Timeout bounds one attempt, from dialling to the end of the answer. Default 10 s. It
	// must be well below ranking.DeliverWithin.
	Timeout time.Duration
	// Concurrency is the maximum number of attempts at a time. Default 8.
	Concurrency int
	// PollInterval is how often the node asks the source for deliveries. Default 1 s.
	PollInterval time.Duration
	// MinBackoff and MaxBackoff bound the delay between two attempts at a message. The
	// delay grows with the message's age. Default 5 s and 1 h.
	MinBackoff, MaxBackoff time.Duration
	// GiveUpAge is the age at which a node gives a message up, once the node has run for
	// GiveUpUptime. The second condition gives messages a chance that waited while all nodes
	// were down. Default 24 h and 1 h.
	GiveUpAge, GiveUpUptime time.Duration
}

// storeTimeout bounds how long a node waits for the store to claim deliveries, or to record the outcome of an
// attempt, also while the node stops.
const storeTimeout = 5 * time.Second

// Webhook sends the messages of one receiver. New makes one, Run runs it.
type Webhook struct {
	source Source
	cfg    Config
	key    []byte
	client *http.Client

	failures refusal.Count // attempts that failed
	failing  atomic.Bool   // the last line of the log about the receiver tells of a failure

	attempts *prometheus.CounterVec
}

// The results of an attempt in metrics.
const (
	attemptDelivered = "delivered"
	attemptFailed    = "failed"
	attemptGivenUp   = "given_up" // it failed, and is the last one for its message
)

// New makes a Webhook. It returns an error for an invalid URL or secret.
func New(source Source, cfg Config) (*Webhook, error) {
	if err := CheckURL(cfg.URL); err != nil {
		return nil, fmt.Errorf("webhook URL: %w", err)
	}
	key, err := parseSecret(cfg.Secret)
	if err != nil {
		return nil, fmt.Errorf("webhook secret: %w", err)
	}
	cfg.Log = cmp.Or(cfg.Log, slog.Default())
	cfg.Timeout = cmp.Or(cfg.Timeout, 10*time.Second)
	cfg.Concurrency = cmp.Or(cfg.Concurrency, 8)
	cfg.PollInterval = cmp.Or(cfg.PollInterval, time.Second)
	cfg.MinBackoff = cmp.Or(cfg.MinBackoff, 5*time.Second)
	cfg.MaxBackoff = cmp.Or(cfg.MaxBackoff, time.Hour)
	cfg.GiveUpAge = cmp.Or(cfg.GiveUpAge, 24*time.Hour)
	cfg.GiveUpUptime = cmp.Or(cfg.GiveUpUptime, time.Hour)
	w := &Webhook{source: source, cfg: cfg, key: key, client: newClient()}
	w.attempts = promauto.With(cfg.Metrics).NewCounterVec(prometheus.CounterOpts{Name: "rankcast_webhooks_total",
		Help: "Attempts to send a message to the webhook receiver, by result."}, []string{"result"})
	for _, result := range []string{attemptDelivered, attemptFailed, attemptGivenUp} {
		w.attempts.WithLabelValues(result)
	}
	return w, nil
}

// Run sends the deliveries that are due until ctx ends. It returns ctx's error once the last
// attempt has ended. Run it once on each node: the nodes share the work.
func (w *Webhook) Run(ctx context.Context) error {
	started := time.Now()
	// Each attempt holds one token, and the node claims only as many deliveries as it has
	// tokens. So the node sends each claimed delivery at once, however slow the receiver is.
	free := make(chan struct{}, w.cfg.Concurrency)
	for range w.cfg.Concurrency {
		free <- struct{}{}
	}
	var attempts sync.WaitGroup
	defer attempts.Wait()
	poll := time.NewTicker(w.cfg.PollInterval)
	defer poll.Stop()
	unavailable := false
	for {
		select {
		case <-free:
		case <-ctx.Done():
			return ctx.Err()
		}
		room := 1
		for ; len(free) > 0; room++ { // only this goroutine takes tokens
			<-free
		}
		due, err := w.claim(ctx, room)
		if ctx.Err() == nil && err != nil && !unavailable {
			w.cfg.Log.Warn("the node cannot read webhook deliveries and tries again", "error", err)
		}
		unavailable = err != nil
		for range room - len(due) {
			free <- struct{}{}
		}
		for _, d := range due {
			attempts.Go(func() {
				w.deliver(ctx, d, time.Since(started))
				free <- struct{}{}
			})
		}
		if len(due) == room {
			continue // there may be more
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// claim claims deliveries. It goes on when ctx ends: what a stopping node has claimed and does not know of would
// wait for ranking.DeliverWithin.
func (w *Webhook) claim(ctx context.Context, most int) ([]ranking.Delivery, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	return w.source.Deliveries(ctx, most)
}

// deliver makes one attempt and records its outcome. uptime is how long this node has run.
func (w *Webhook) deliver(ctx context.Context, d ranking.Delivery, uptime time.Duration) {
	began := time.Now()
	err := w.send(ctx, d)
	age := d.Age + time.Since(began)
	log := w.cfg.Log.With("id", d.ID, "board", d.Board, "period", d.Period, "age", age.Round(time.Second))
	record, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	var recordErr error
	switch {
	case err == nil:
		w.attempts.WithLabelValues(attemptDelivered).Inc()
		if w.failing.Swap(false) {
			log.Info("the webhook receiver accepts messages again")
		}
		recordErr = w.source.Delivered(record, d)
	case ctx.Err() != nil: // this node stops; another node may try at once
		recordErr = w.source.Deferred(record, d, 0, nil)
	case age >= w.cfg.GiveUpAge && uptime >= w.cfg.GiveUpUptime:
		w.attempts.WithLabelValues(attemptGivenUp).Inc()
		log.Error("the webhook receiver does not accept a message; the node gives the message up", "error", err)
		recordErr = w.source.Delivered(record, d)
	default:
		w.attempts.WithLabelValues(attemptFailed).Inc()
		w.failures.Add(func(failed uint64) {
			w.failing.Store(true)
			log.Warn("the webhook receiver does not accept messages; the node tries again", "failed", failed, "error", err)
		})
		recordErr = w.source.Deferred(record, d, w.backoff(min(age, uptime)), err)
	}
	if recordErr != nil {
		// The delivery becomes due again, and goes out under the same id.
		log.Debug("the store did not record the outcome of a webhook attempt", "error", recordErr)
	}
}

// backoff is the delay before the next attempt at a message of some age: the age itself, plus
// or minus up to a half, within MinBackoff and MaxBackoff.
func (w *Webhook) backoff(age time.Duration) time.Duration {
	base := min(max(age, w.cfg.MinBackoff), w.cfg.MaxBackoff)
	return min(base/2+rand.N(base), w.cfg.MaxBackoff)
}
