package feed

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/internal/keyspace"
)

// Handler receives what a Feed reads from Redis. The Feed calls its methods one at a time, in
// order. A method MUST NOT block for long: messages pile up in Redis while it runs.
type Handler interface {
	// FeedUp reports that the subscription works: Redis has confirmed the probe channel and
	// the channel of profiles. From now on the Feed reports each change of a profile; changes
	// before that are unknown.
	FeedUp()
	// FeedDown reports that the subscription no longer works. asOf is the time of this
	// machine's clock at which the Feed last received anything. When the subscription works
	// again, FeedUp follows, then FeedSubscribed for each watched board and FeedFollowed for
	// each followed feed.
	FeedDown(asOf time.Time)
	// FeedSubscribed reports that the Feed delivers each change of the board from now on, as
	// long as it is up. Changes before that are unknown: the handler reads a Page.
	FeedSubscribed(board string)
	// FeedChanges delivers the changes that one batch made. The handler owns c.
	FeedChanges(c *Changes)
	// FeedFollowed reports that the Feed delivers each item of the feed from now on, as long
	// as it is up. Items before that are lost: they cannot be read or counted.
	FeedFollowed(feed string)
	// FeedItems delivers items of a feed, each of them a JSON object. The handler owns items.
	FeedItems(feed string, items [][]byte)
	// FeedProfile reports that the profile of a member of a kind has changed.
	FeedProfile(kind, member string)
}

const (
	// probesMissed is the number of probes in a row that may be missed. When Redis falls
	// silent, as on a half-open connection, missing probes are the only sign of it.
	probesMissed = 3
	// backoffFirst and backoffMost bound the pause before a new connection; each failure
	// doubles it.
	backoffFirst = 50 * time.Millisecond
	backoffMost  = time.Second
	// subscribeChunk is the greatest number of channels in one SUBSCRIBE.
	subscribeChunk = 256
)

// Feed receives the changes of the boards it watches and the items of the feeds it follows, on
// one connection. Watch, Unwatch, Follow, Unfollow and Up do no I/O, and may be called
// concurrently, also while Run runs.
type Feed struct {
	rdb      redis.UniversalClient
	keys     keyspace.Keys
	interval time.Duration
	probe    string // channel on which this Feed publishes to itself
	log      *slog.Logger

	up       atomic.Bool
	made     time.Time
	lastSeen atomic.Int64 // when this Feed last received anything, ns since made by the monotonic clock
	warned   bool         // the log has a warning that the Feed is down; only Run's goroutine uses it

	mu       sync.Mutex
	channels map[string]channel
	calls    uint64        // number of the last call that asked for a channel
	queue    []string      // channels whose state differs from Redis's, oldest first, each once
	wake     chan struct{} // holds one signal: queue is not empty
}

// channel is the state of one channel.
type channel struct {
	refs       int    // calls that asked for it and have not been ended
	wanted     uint64 // number of the last of these calls
	subscribed uint64 // number of the call for which this connection subscribed to it; 0: it did not
	queued     bool   // queue holds the channel
}

// Config configures a Feed. The zero value is the documented default.
type Config struct {
	// Prefix starts the name of every channel. It must equal the prefix of the Store. Default
	// "rc".
	Prefix string
	// ProbeInterval is the interval at which the Feed publishes a probe to itself. The Feed is
	// down when it has received nothing for three intervals. Default 2 s.
	ProbeInterval time.Duration
}

// New makes a Feed. It starts nothing; Run does.
func New(rdb redis.UniversalClient, log *slog.Logger, cfg Config) *Feed {
	cfg.ProbeInterval = cmp.Or(cfg.ProbeInterval, 2*time.Second)
	k := keyspace.New(cmp.Or(cfg.Prefix, "rc"))
	return &Feed{
		rdb: rdb, keys: k, interval: cfg.ProbeInterval, probe: k.Probe(rand.Text()[:12]), log: log, made: time.Now(),
		channels: make(map[string]channel), wake: make(chan struct{}, 1),
	}
}

// Watch asks for the changes of a board. FeedSubscribed reports when delivery begins, again
// for each call. Each Watch needs an Unwatch.
func (f *Feed) Watch(board string) { f.want(f.keys.Channel(board)) }

// Unwatch ends Watch. The Feed may still deliver changes that are already on their way.
func (f *Feed) Unwatch(board string) { f.leave(f.keys.Channel(board)) }

// Follow asks for the items of a feed. FeedFollowed reports when delivery begins, again for
// each call. Each Follow needs an Unfollow.
func (f *Feed) Follow(feed string) { f.want(f.keys.Feed(feed)) }

// Unfollow ends Follow. The Feed may still deliver items that are already on their way.
func (f *Feed) Unfollow(feed string) { f.leave(f.keys.Feed(feed)) }

func (f *Feed) want(name string) {
	f.mu.Lock()
	f.calls++
	c := f.channels[name]
	c.refs++
	c.wanted = f.calls
	f.enqueue(name, c)
	f.mu.Unlock()
	f.signal()
}

func (f *Feed) leave(name string) {
	f.mu.Lock()
	if c, ok := f.channels[name]; ok {
		c.refs--
		f.enqueue(name, c)
	}
	f.mu.Unlock()
	f.signal()
}

// enqueue stores a channel that has changed, and queues it. The caller holds mu.
func (f *Feed) enqueue(name string, c channel) {
	if !c.queued {
		c.queued = true
		f.queue = append(f.queue, name)
	}
	f.channels[name] = c
}

// signal wakes maintainSubscriptions after a change of queue.
func (f *Feed) signal() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// Up reports whether the subscription works.
func (f *Feed) Up() bool { return f.up.Load() }

// Run receives messages and calls h until ctx ends. It connects again when the connection
// fails. It returns the error of ctx once everything that it started has ended.
func (f *Feed) Run(ctx context.Context, h Handler) error {
	backoff := backoffFirst
	for {
		err := f.session(ctx, h)
		wasUp := f.up.Swap(false)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if wasUp || !f.warned {
			f.log.Warn("feed is down, connecting again", "error", err)
			f.warned = true
		}
		if wasUp {
			backoff = backoffFirst
			h.FeedDown(time.Now().Add(-f.silence()))
		}
		// Half of the pause is random, so that the nodes do not connect at the same moment.
		select {
		case <-time.After(backoff/2 + mathrand.N(backoff/2)):
		case <-ctx.Done():
			return ctx.Err()
		}
		backoff = min(2*backoff, backoffMost)
	}
}

// markReceived records that the Feed has received something.
func (f *Feed) markReceived() { f.lastSeen.Store(int64(time.Since(f.made))) }

// silence is the time since the Feed last received anything. A step of the machine's clock does not
// change it.
func (f *Feed) silence() time.Duration { return time.Since(f.made) - time.Duration(f.lastSeen.Load()) }

var errNotProfile = errors.New("not a profile message")

var errSilent = errors.New("received nothing for three probe intervals")

// session opens one connection and serves it until it fails or ctx ends.
func (f *Feed) session(ctx context.Context, h Handler) error {
	ctx, cancel := context.WithCancelCause(ctx)
	ps := f.rdb.Subscribe(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		cancel(f.maintainSubscriptions(ctx, ps))
		ps.Close() // ends Receive
	})
	started := time.Now()
	f.markReceived()
	wg.Go(func() { f.publishProbes(ctx) })
	// The probe channel is the first: in a cluster the first channel decides which master the
	// connection goes to, and probe channels spread the nodes over the masters.
	err := ps.Subscribe(ctx, f.probe, f.keys.Profiles())
	for err == nil {
		var msg any
		// No deadline: after one, go-redis would lose its place within a message.
		if msg, err = ps.Receive(ctx); err == nil {
			f.markReceived()
			f.handleMessage(h, msg)
		}
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	cancel(err)
	wg.Wait()
	return fmt.Errorf("after %s: %w", time.Since(started).Round(time.Millisecond), err)
}

// handleMessage handles one message from Redis.
func (f *Feed) handleMessage(h Handler, msg any) {
	switch m := msg.(type) {
	case *redis.Subscription:
		if m.Kind != "subscribe" {
			return
		}
		if m.Channel == f.keys.Profiles() { // Redis confirms it after the probe channel
			f.up.Store(true)
			if f.warned {
				f.log.Info("feed is up")
			}
			h.FeedUp()
			f.signal()
		} else if board, ok := f.keys.BoardOf(m.Channel); ok {
			h.FeedSubscribed(board)
		} else if feed, ok := f.keys.FeedOf(m.Channel); ok {
			h.FeedFollowed(feed)
		}
	case *redis.Message:
		if m.Channel == f.probe {
			return
		}
		if err := f.deliver(h, m); err != nil {
			// A change message that is ignored leaves a gap in seq, so the handler reads the
			// board again.
			f.log.Error("ignoring a message that is not valid", "channel", m.Channel, "error", err)
		}
	}
}

// deliver calls the method of h that a message is for.
func (f *Feed) deliver(h Handler, m *redis.Message) error {
	if feed, ok := f.keys.FeedOf(m.Channel); ok {
		items, err := parseItems(m.Payload)
		if err == nil && len(items) > 0 {
			h.FeedItems(feed, items)
		}
		return err
	}
	if m.Channel == f.keys.Profiles() {
		kind, member, ok := strings.Cut(m.Payload, keyspace.FieldSep)
		if !ok {
			return errNotProfile
		}
		h.FeedProfile(kind, member)
		return nil
	}
	c, err := ParseChanges(m.Payload)
	if err == nil {
		h.FeedChanges(c)
	}
	return err
}

// maintainSubscriptions subscribes to the channels that are wanted and leaves the others, as they change. It
// returns an error, which ends the session, when the Feed has received nothing for probesMissed
// intervals.
func (f *Feed) maintainSubscriptions(ctx context.Context, ps *redis.PubSub) error {
	f.requeue()
	watchdog := time.NewTicker(f.interval)
	defer watchdog.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-watchdog.C:
			if f.silence() > probesMissed*f.interval {
				return errSilent
			}
		case <-f.wake:
			if !f.up.Load() {
				continue // handleMessage signals again once Redis has confirmed the channel of profiles
			}
			add, drop := f.takeQueued()
			if len(add) > 0 {
				if err := ps.Subscribe(ctx, add...); err != nil {
					return fmt.Errorf("subscribe: %w", err)
				}
			}
			if len(drop) > 0 {
				if err := ps.Unsubscribe(ctx, drop...); err != nil {
					return fmt.Errorf("unsubscribe: %w", err)
				}
			}
		}
	}
}

// requeue queues all channels: a new connection is subscribed to none.
func (f *Feed) requeue() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, c := range f.channels {
		c.subscribed = 0
		f.enqueue(name, c)
	}
}

// takeQueued takes up to subscribeChunk channels from the queue. It returns those to subscribe to and those to
// leave. If more are queued, it signals.
func (f *Feed) takeQueued() (add, drop []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := min(len(f.queue), subscribeChunk)
	for _, name := range f.queue[:n] {
		c := f.channels[name]
		c.queued = false
		switch {
		case c.refs == 0:
			if c.subscribed != 0 {
				drop = append(drop, name)
			}
			delete(f.channels, name)
			continue
		case c.wanted != c.subscribed: // also if it was left meanwhile: each call needs a confirmation
			c.subscribed = c.wanted
			add = append(add, name)
		}
		f.channels[name] = c
	}
	if f.queue = f.queue[n:]; len(f.queue) > 0 {
		f.signal()
	} else {
		f.queue = nil // frees the array
	}
	return add, drop
}

// publishProbes publishes a probe at each interval, for this Feed's own subscription. It
// ignores the error of a publish, because the Feed then misses the probe.
func (f *Feed) publishProbes(ctx context.Context) {
	tick := time.NewTicker(f.interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			call, cancel := context.WithTimeout(ctx, f.interval)
			f.rdb.Publish(call, f.probe, "")
			cancel()
		}
	}
}
