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

// Handler hears what a Feed has to tell. Its methods are called from one
// goroutine at a time, in order, and MUST NOT block for long: what they hold up
// piles up in Redis.
type Handler interface {
	// FeedUp says that the subscription works: it has heard its own probe channel
	// confirmed, and that of profiles. Each change of these is told from now on; what was
	// before is unknown.
	FeedUp()
	// FeedDown says that nothing is heard any more and that the last sign of
	// life came at asOf. FeedUp follows, FeedSubscribed for each watched board and
	// FeedFollowed for each feed.
	FeedDown(asOf time.Time)
	// FeedSubscribed says that from now on each change of the board is told, as
	// long as the feed is up. What was before is unknown: read a Page.
	FeedSubscribed(board string)
	// FeedChanges tells what a batch changed. The handler owns c.
	FeedChanges(c *Changes)
	// FeedFollowed says that from now on the items of a feed are told, as long as
	// this Feed is up. What was before is lost: nobody can read it, or count it.
	FeedFollowed(feed string)
	// FeedItems tells what has happened, each item a JSON object. The handler owns
	// items.
	FeedItems(feed string, items [][]byte)
	// FeedProfile says that the profile of a member of a kind has changed.
	FeedProfile(kind, member string)
}

const (
	// probesMissed is how many probes in a row may go unheard: with Redis gone
	// silent (a half-open connection) nothing else would ever tell.
	probesMissed = 3
	// backoffFirst and backoffMost bound the pause before a new connection.
	backoffFirst = 50 * time.Millisecond
	backoffMost  = 2 * time.Second
	// subscribeChunk is the most channels in one SUBSCRIBE.
	subscribeChunk = 256
)

// Feed hears the changes of the boards it watches and the items of the feeds it
// follows, on one connection. Watch, Unwatch, Follow, Unfollow and Up may be
// called concurrently, also while Run runs, and do no I/O.
type Feed struct {
	rdb      redis.UniversalClient
	keys     keyspace.Keys
	interval time.Duration
	probe    string // this feed's own channel
	log      *slog.Logger

	up       atomic.Bool
	lastSeen atomic.Int64 // ns since 1970: the last thing heard

	mu     sync.Mutex
	wanted map[string]uint64 // channel to the number of the call that asked for it
	asked  uint64
	wake   chan struct{} // wanted has changed; holds one
}

// Config configures a Feed. The zero value is the documented default.
type Config struct {
	// Prefix starts every channel; it is that of the Store. Default "rc".
	Prefix string
	// ProbeInterval is how often the Feed publishes a probe to itself. The feed counts as
	// down when it has received nothing for three intervals. Default 2 s.
	ProbeInterval time.Duration
}

// New makes a Feed. Run starts it.
func New(rdb redis.UniversalClient, log *slog.Logger, cfg Config) *Feed {
	cfg.ProbeInterval = cmp.Or(cfg.ProbeInterval, 2*time.Second)
	k := keyspace.New(cmp.Or(cfg.Prefix, "rc"))
	return &Feed{
		rdb: rdb, keys: k, interval: cfg.ProbeInterval, probe: k.Probe(rand.Text()[:12]), log: log,
		wanted: make(map[string]uint64), wake: make(chan struct{}, 1),
	}
}

// Watch asks for the changes of a board; FeedSubscribed says from when on.
func (f *Feed) Watch(board string) { f.want(f.keys.Channel(board)) }

// Unwatch ends Watch. Changes under way may still be told.
func (f *Feed) Unwatch(board string) { f.leave(f.keys.Channel(board)) }

// Follow asks for the items of a feed; FeedFollowed says from when on.
func (f *Feed) Follow(feed string) { f.want(f.keys.Feed(feed)) }

// Unfollow ends Follow. Items under way may still be told.
func (f *Feed) Unfollow(feed string) { f.leave(f.keys.Feed(feed)) }

func (f *Feed) want(channel string) {
	f.mu.Lock()
	f.asked++
	f.wanted[channel] = f.asked
	f.mu.Unlock()
	f.poke()
}

func (f *Feed) leave(channel string) {
	f.mu.Lock()
	delete(f.wanted, channel)
	f.mu.Unlock()
	f.poke()
}

func (f *Feed) poke() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// Up reports whether changes are heard.
func (f *Feed) Up() bool { return f.up.Load() }

// Run hears and tells until ctx ends; it connects again whenever it must. It
// returns when nothing it started is left, with ctx's error.
func (f *Feed) Run(ctx context.Context, h Handler) error {
	backoff, logged := backoffFirst, false
	for {
		err := f.session(ctx, h)
		wasUp := f.up.Swap(false)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if wasUp || !logged {
			f.log.Warn("feed is down, trying again", "error", err)
			logged = true
		}
		if wasUp {
			backoff = backoffFirst
			h.FeedDown(time.Unix(0, f.lastSeen.Load()))
		}
		// Half of the pause at random, so that nodes don't come back as one.
		select {
		case <-time.After(backoff/2 + mathrand.N(backoff/2)):
		case <-ctx.Done():
			return ctx.Err()
		}
		backoff = min(2*backoff, backoffMost)
	}
}

func (f *Feed) heard() { f.lastSeen.Store(time.Now().UnixNano()) }

var errNotProfile = errors.New("not a message of a profile")

var errSilent = errors.New("silent for three probes")

// session is the life of one connection.
func (f *Feed) session(ctx context.Context, h Handler) error {
	ctx, cancel := context.WithCancelCause(ctx)
	ps := f.rdb.Subscribe(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		cancel(f.tend(ctx, ps))
		ps.Close() // ends Receive
	})
	started := time.Now()
	f.heard()
	wg.Go(func() { f.publishProbes(ctx) })
	// The probe's first: where the connection goes on a cluster follows from it, and is
	// spread by that.
	err := f.subscribe(ctx, ps, []string{f.probe, f.keys.Profiles()})
	for err == nil {
		var msg any
		// No deadline: go-redis would lose its place in a message cut in two by one.
		if msg, err = ps.Receive(ctx); err == nil {
			f.heard()
			f.tell(h, msg)
		}
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	cancel(err)
	wg.Wait()
	return fmt.Errorf("after %s: %w", time.Since(started).Round(time.Millisecond), err)
}

func (f *Feed) tell(h Handler, msg any) {
	switch m := msg.(type) {
	case *redis.Subscription:
		if m.Kind != "subscribe" {
			return
		}
		if m.Channel == f.keys.Profiles() { // which is confirmed after the probe's
			f.up.Store(true)
			f.log.Info("feed is up")
			h.FeedUp()
			f.poke()
		} else if board, ok := f.keys.BoardOf(m.Channel); ok {
			h.FeedSubscribed(board)
		} else if feed, ok := f.keys.FeedOf(m.Channel); ok {
			h.FeedFollowed(feed)
		}
	case *redis.Message:
		if m.Channel == f.probe {
			return
		}
		if err := f.pass(h, m); err != nil {
			// The gap in seq that changes leave makes everyone read the board anew.
			f.log.Error("message not understood", "channel", m.Channel, "error", err)
		}
	}
}

// pass tells what a message says.
func (f *Feed) pass(h Handler, m *redis.Message) error {
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

// tend keeps the subscriptions as they are wished and ends the session when it
// has gone silent.
func (f *Feed) tend(ctx context.Context, ps *redis.PubSub) error {
	subscribed := make(map[string]uint64)
	watchdog := time.NewTicker(f.interval)
	defer watchdog.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-watchdog.C:
			if time.Since(time.Unix(0, f.lastSeen.Load())) > probesMissed*f.interval {
				return errSilent
			}
		case <-f.wake:
			if !f.up.Load() {
				continue // poked again once the probe's channel is confirmed
			}
			add, drop := f.difference(subscribed)
			if err := f.subscribe(ctx, ps, add); err != nil {
				return err
			}
			if len(drop) > 0 {
				if err := ps.Unsubscribe(ctx, drop...); err != nil {
					return fmt.Errorf("unsubscribe: %w", err)
				}
			}
		}
	}
}

// difference lists the channels to subscribe to and to leave, and notes them as done.
func (f *Feed) difference(subscribed map[string]uint64) (add, drop []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for channel, n := range f.wanted {
		// One that was left and wanted again meanwhile awaits a confirmation of its own.
		if subscribed[channel] != n {
			subscribed[channel] = n
			add = append(add, channel)
		}
	}
	for channel := range subscribed {
		if _, ok := f.wanted[channel]; !ok {
			delete(subscribed, channel)
			drop = append(drop, channel)
		}
	}
	return add, drop
}

func (f *Feed) subscribe(ctx context.Context, ps *redis.PubSub, channels []string) error {
	for len(channels) > 0 {
		n := min(len(channels), subscribeChunk)
		if err := ps.Subscribe(ctx, channels[:n]...); err != nil {
			return fmt.Errorf("subscribe: %w", err)
		}
		channels = channels[n:]
	}
	return nil
}

// publishProbes makes a sign of life for the subscription to hear. A publish
// that fails needs no word of its own: what it should have said is missed.
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
