package feed

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	mathrand "math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"rankcast/ranking/fair"
	"rankcast/ranking/internal/keyspace"
	"rankcast/ranking/internal/pipeline"
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
	// FeedUnfollowed takes the place of FeedDown on a cluster, where boards have other connections. Until FeedUp the
	// Feed delivers no items and no changes of profiles. FeedFollowed follows for each followed feed.
	FeedUnfollowed(asOf time.Time)
	// FeedSubscribed reports that the Feed delivers each change of the board from now on, until
	// FeedDown or FeedUnsubscribed. Changes before that are unknown: the handler reads a Page. On a cluster,
	// FeedSubscribed may come before FeedUp.
	FeedSubscribed(board string)
	// FeedUnsubscribed reports, on a cluster, that the changes of a board do not arrive: its master is away, or another
	// Redis becomes the master. It may come before the first FeedSubscribed. asOf is the time until which the Feed
	// knew of no loss; a failover may be a second older. FeedSubscribed follows once the changes arrive.
	FeedUnsubscribed(board string, asOf time.Time)
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
	// backoffFirst and backoffMost bound the pause before a new connection; each failure
	// doubles it.
	backoffFirst = 50 * time.Millisecond
	backoffMost  = time.Second
)

// Feed receives the changes of the boards it watches and the items of the feeds it follows. Watch, Unwatch,
// Follow, Unfollow and Up do no I/O, and may be called concurrently, also while Run runs.
type Feed struct {
	rdb      redis.UniversalClient
	keys     keyspace.Keys
	interval time.Duration
	log      *slog.Logger
	up       atomic.Bool
	warned   bool // the log has a warning that the Feed is down; only Run's goroutine uses it

	main    *channels // of the main connection: feeds, and without a cluster boards too
	boards  *channels // boards; on a cluster masters has their connections
	masters *masters  // nil without a cluster

	handling sync.Mutex // held while a method of the Handler runs
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
	f := &Feed{
		rdb: rdb, keys: keyspace.New(cmp.Or(cfg.Prefix, "rc")), interval: cmp.Or(cfg.ProbeInterval, 2*time.Second), log: log,
		main: newChannels(),
	}
	f.boards = f.main
	if cluster := pipeline.ClusterOf(rdb); cluster != nil {
		f.boards = newChannels()
		f.masters = newMasters(f, cluster)
	}
	return f
}

// Watch asks for the changes of a board. FeedSubscribed reports when delivery begins, again
// for each call. Each Watch needs an Unwatch.
func (f *Feed) Watch(board string) { f.boards.want(f.keys.Channel(board)) }

// Unwatch ends Watch. The Feed may still deliver changes that are already on their way.
func (f *Feed) Unwatch(board string) { f.boards.leave(f.keys.Channel(board)) }

// Follow asks for the items of a feed. FeedFollowed reports when delivery begins, again for
// each call. Each Follow needs an Unfollow.
func (f *Feed) Follow(feed string) { f.main.want(f.keys.Feed(feed)) }

// Unfollow ends Follow. The Feed may still deliver items that are already on their way.
func (f *Feed) Unfollow(feed string) { f.main.leave(f.keys.Feed(feed)) }

// Up reports whether the subscription works.
func (f *Feed) Up() bool { return f.up.Load() }

// Run receives messages and calls h until ctx ends. It connects again when a connection
// fails. It returns the error of ctx once everything that it started has ended.
func (f *Feed) Run(ctx context.Context, h Handler) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	if f.masters != nil {
		wg.Go(func() { f.masters.run(ctx, h) })
	}
	backoff := backoffFirst
	for {
		asOf, err := f.runMain(ctx, h)
		wasUp := f.up.Swap(false)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if wasUp || !f.warned {
			f.log.Warn("the subscription to Redis has failed; the node connects again", "error", err)
			f.warned = true
		}
		if wasUp {
			backoff = backoffFirst
			f.call(func() {
				if f.masters == nil {
					h.FeedDown(asOf)
				} else {
					h.FeedUnfollowed(asOf)
				}
			})
		}
		// Half of the pause is random, so that the nodes do not connect at the same moment.
		if err := fair.Pause(ctx, backoff/2+mathrand.N(backoff/2)); err != nil {
			return err
		}
		backoff = min(2*backoff, backoffMost)
	}
}

// call runs do, which calls the Handler, while no other call of the Handler runs.
func (f *Feed) call(do func()) {
	f.handling.Lock()
	defer f.handling.Unlock()
	do()
}

// runMain serves the main connection until it fails or ctx ends. It returns the time at which the connection
// last received anything.
func (f *Feed) runMain(ctx context.Context, h Handler) (asOf time.Time, err error) {
	ps := f.rdb.Subscribe(ctx)
	s := newSession(ps, f.main, f.interval)
	f.main.restartAll()
	// On a cluster the first channel decides which master the connection goes to. With another
	// channel each time, the nodes spread over the masters, and none stays with a master that is away.
	probe := f.keys.Probe(rand.Text()[:12])
	s.subscribe, s.unsubscribe = ps.Subscribe, ps.Unsubscribe
	s.probe = func(ctx context.Context) error {
		f.rdb.Publish(ctx, probe, "") // after an error the probe is missing
		return nil
	}
	s.refused = func(err redis.Error) error { return err }
	s.handle = func(msg any) error {
		switch m := msg.(type) {
		case *redis.Subscription:
			switch {
			case m.Kind != "subscribe":
			case m.Channel == f.keys.Profiles(): // Redis confirms it after the probe channel
				f.comeUp(h)
				s.start()
			default:
				f.call(func() { f.confirm(h, m.Channel) })
			}
		case *redis.Message:
			if m.Channel != probe {
				f.deliver(h, m)
			}
		}
		return nil
	}
	err = s.run(ctx, func(ctx context.Context) error { return ps.Subscribe(ctx, probe, f.keys.Profiles()) })
	return s.asOf(), err
}

// comeUp reports that the main connection works.
func (f *Feed) comeUp(h Handler) {
	f.up.Store(true)
	if f.warned {
		f.log.Info("the subscription to Redis works again")
	}
	f.call(h.FeedUp)
}

// confirm reports that the Feed delivers the messages of a channel from now on. The caller is within call.
func (f *Feed) confirm(h Handler, channel string) {
	if board, ok := f.keys.BoardOf(channel); ok {
		h.FeedSubscribed(board)
	} else if feed, ok := f.keys.FeedOf(channel); ok {
		h.FeedFollowed(feed)
	}
}

// deliver passes a message on.
func (f *Feed) deliver(h Handler, m *redis.Message) {
	if err := f.parse(h, m); err != nil {
		// A change message that is ignored leaves a gap in seq, so the handler reads the
		// board again.
		f.log.Error("ignoring a message that is not valid", "channel", m.Channel, "error", err)
	}
}

var errNotProfile = errors.New("not a profile message")

// started is about when the node started, see Changes.Received.
var started = time.Now()

// parse parses a message, and calls the method of h that it is for.
func (f *Feed) parse(h Handler, m *redis.Message) error {
	if feed, ok := f.keys.FeedOf(m.Channel); ok {
		items, err := parseItems(m.Payload)
		if err == nil && len(items) > 0 {
			f.call(func() { h.FeedItems(feed, items) })
		}
		return err
	}
	if m.Channel == f.keys.Profiles() {
		kind, member, ok := strings.Cut(m.Payload, keyspace.FieldSep)
		if !ok {
			return errNotProfile
		}
		f.call(func() { h.FeedProfile(kind, member) })
		return nil
	}
	c, err := ParseChanges(m.Payload)
	if err == nil {
		c.Received = time.Since(started)
		f.call(func() { h.FeedChanges(c) })
	}
	return err
}
