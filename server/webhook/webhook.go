// Package webhook tells a receiver of periods that have closed, as Standard Webhooks
// has it: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
//
// Each closed period is one message. It is sent until the receiver answers 2xx, at
// least once and always under the same webhook-id, by whatever node.
package webhook

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"rankcast/ranking"
)

// Source is where deliveries wait. *ranking.Store is one.
type Source interface {
	// Deliveries takes up to most that are due, for ranking.DeliverWithin. With an
	// error come those that could be taken.
	Deliveries(ctx context.Context, most int) ([]ranking.Delivery, error)
	// Delivered notes that one has arrived, or is given up.
	Delivered(ctx context.Context, d ranking.Delivery) error
	// Deferred has one tried again after a time.
	Deferred(ctx context.Context, d ranking.Delivery, after time.Duration) error
}

// Config is what a Webhook needs to know. The zero value of each field but URL and
// Secret means its default.
type Config struct {
	URL    string // http or https
	Secret string // whsec_ and base64, or any text
	Log    *slog.Logger

	// Timeout bounds one try, from dialling to the end of the answer. Default 10 s. It
	// must be well below ranking.DeliverWithin.
	Timeout time.Duration
	// Concurrency is how many tries are under way at most. Default 8.
	Concurrency int
	// PollInterval is how often to look what is due. Default 1 s.
	PollInterval time.Duration
	// MinBackoff and Most are the shortest and the longest pause between two tries of a
	// message, which grow with its age. Default 5 s and 1 h.
	MinBackoff, MaxBackoff time.Duration
	// GiveUpAge is the age at which a message is given up, by a node that has run for
	// AtLeast: those that all nodes were down for have their chance too. Default 24 h
	// and 1 h.
	GiveUpAge, GiveUpUptime time.Duration
}

// recordTimeout bounds how long is waited for the store to note what came of a try, also
// while the node stops.
const recordTimeout = 5 * time.Second

// Webhook sends messages. New makes one, Run runs it.
type Webhook struct {
	source Source
	cfg    Config
	key    []byte
	client *http.Client
	health receiverHealth
}

// New makes a Webhook, or says what is wrong with the URL or the secret.
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
	return &Webhook{source: source, cfg: cfg, key: key, client: newClient()}, nil
}

// Run sends what is due until ctx ends. It returns when no try is under way any more,
// with ctx's error. Run it on each node: they share the work.
func (w *Webhook) Run(ctx context.Context) error {
	started := time.Now()
	// One is taken off for each try under way, and for no longer: what is claimed is
	// tried at once, however slow the receiver.
	free := make(chan struct{}, w.cfg.Concurrency)
	for range w.cfg.Concurrency {
		free <- struct{}{}
	}
	var tries sync.WaitGroup
	defer tries.Wait()
	poll := time.NewTicker(w.cfg.PollInterval)
	defer poll.Stop()
	away := false
	for {
		select {
		case <-free:
		case <-ctx.Done():
			return ctx.Err()
		}
		room := 1
		for ; len(free) > 0; room++ { // only this goroutine takes any off
			<-free
		}
		due, err := w.source.Deliveries(ctx, room)
		if ctx.Err() == nil && err != nil && !away {
			w.cfg.Log.Warn("cannot read what the webhook is to be sent, trying again", "error", err)
		}
		away = err != nil
		for range room - len(due) {
			free <- struct{}{}
		}
		for _, d := range due {
			tries.Go(func() {
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

// deliver sends a message once and notes what came of it. up is how long this node has run.
func (w *Webhook) deliver(ctx context.Context, d ranking.Delivery, up time.Duration) {
	began := time.Now()
	err := w.send(ctx, d)
	age := d.Age + time.Since(began)
	log := w.cfg.Log.With("id", d.ID, "board", d.Board, "period", d.Period, "age", age.Round(time.Second))
	note, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	var noted error
	switch {
	case err == nil:
		if w.health.recordSuccess() {
			log.Info("webhook takes closed periods again")
		}
		noted = w.source.Delivered(note, d)
	case ctx.Err() != nil: // this node stops; another may try at once
		noted = w.source.Deferred(note, d, 0)
	case age >= w.cfg.GiveUpAge && up >= w.cfg.GiveUpUptime:
		log.Error("webhook does not take a closed period, given up", "error", err)
		noted = w.source.Delivered(note, d)
	default:
		if tell, failed := w.health.recordFailure(); tell {
			log.Warn("webhook does not take closed periods, trying again", "failed", failed, "error", err)
		}
		noted = w.source.Deferred(note, d, w.backoff(min(age, up)))
	}
	if noted != nil {
		// It is due again soon all the same, and goes under the same id.
		log.Debug("what came of a webhook could not be noted", "error", noted)
	}
}

// backoff is how long to wait before the next try of a message of an age: about as long
// again as it has waited already, give or take half.
func (w *Webhook) backoff(age time.Duration) time.Duration {
	about := min(max(age, w.cfg.MinBackoff), w.cfg.MaxBackoff)
	return min(about/2+rand.N(about), w.cfg.MaxBackoff)
}
