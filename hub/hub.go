package hub

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"rankcast/ranking"
)

// Source is where views are read from; a ranking.Store is one. Boards are named
// as clients name them, or by definition.Qualify. A board that has gone, and a period
// that is not kept any more, is ranking.ErrUnknownBoard or ErrUnknownPeriod.
type Source interface {
	// Page reads up to limit entries from a 1-based rank on.
	Page(ctx context.Context, board string, fromRank int64, limit int) (ranking.Page, error)
	// Places looks up to ranking.MaxLookups members up.
	Places(ctx context.Context, board string, lookups []ranking.Lookup) (ranking.Places, error)
	// States reads where boards are, and what their members are, all at once, in the
	// order asked. One that has gone is at the zero State, without an error.
	States(ctx context.Context, boards []string) []ranking.BoardState
	People
}

// Feed is asked for the changes of a board's instance and for the items of a
// feed; a feed.Feed is one. Its methods MUST NOT block, and it tells the Hub,
// as a feed.Handler.
type Feed interface {
	Watch(instance string)
	Unwatch(instance string)
	Follow(feed string)
	Unfollow(feed string)
}

// Config is what a Hub can be told. The zero value is the documented default.
type Config struct {
	// Interval is the least time between two frames of a board. Default 100 ms.
	Interval time.Duration
	// MeInterval is the least time between two frames that tell a follower its
	// rank, unless its own score changed. Default 1 s.
	MeInterval time.Duration
	// CheckInterval is how often the views' seq is compared with Redis's, in one
	// call. Default 1 s.
	CheckInterval time.Duration
	// AuditInterval is how often a view's entries are compared, and some of those
	// that are followed. Default 30 s.
	AuditInterval time.Duration
	// ProfileInterval is how often the profiles that a board shows are looked up again,
	// by what the Source has kept of them: a change that nobody heard shows so. Default
	// 25 s.
	ProfileInterval time.Duration
	// FeedRate is how many items of a feed are shown in a second, and at most at
	// once. Default 20.
	FeedRate int
	// Shards is how many goroutines send, 64 at most. Default GOMAXPROCS.
	Shards int
	// Log gets what an operator should know. Default slog.Default.
	Log *slog.Logger
}

// reads bounds what a hub reads from its source at one time, so that a thousand
// boards that resync do not arrive at Redis together.
const reads = 16

// maxShards is how many bits a stream has for them.
const maxShards = 64

// Hub keeps the views of the boards that are watched and sends their frames to
// clients. Its methods may be called concurrently.
type Hub struct {
	source  Source
	feed    Feed
	cfg     Config
	log     *slog.Logger
	shards  []*shard
	next    atomic.Uint64 // shard of the next client
	status  *stream       // every client is in it
	reading chan struct{} // a token for each read under way

	register register // of the members that boards show

	ctx    context.Context // of all boards
	cancel context.CancelFunc

	mu        sync.Mutex
	boards    map[string]*board    // as named
	instances map[string]*instance // that they are periods of
	feeds     map[string]*eventFeed
	up        bool         // the feed is
	outages   int          // times it went down
	stale     bool         // clients were told that what they show may be old
	asOf      time.Time    // since when
	behind    map[any]bool // boards that must be read anew, and feeds that must be heard, before stale ends
	closed    bool
	running   sync.WaitGroup
}

// New makes a Hub. Run starts it; the Feed it hears from must be given it as
// handler.
func New(source Source, from Feed, cfg Config) *Hub {
	cfg.Interval = cmp.Or(cfg.Interval, 100*time.Millisecond)
	cfg.MeInterval = cmp.Or(cfg.MeInterval, time.Second)
	cfg.CheckInterval = cmp.Or(cfg.CheckInterval, time.Second)
	cfg.AuditInterval = cmp.Or(cfg.AuditInterval, 30*time.Second)
	cfg.ProfileInterval = cmp.Or(cfg.ProfileInterval, 25*time.Second)
	cfg.FeedRate = cmp.Or(cfg.FeedRate, 20)
	cfg.Shards = min(cmp.Or(cfg.Shards, runtime.GOMAXPROCS(0)), maxShards)
	cfg.Log = cmp.Or(cfg.Log, slog.Default())
	h := &Hub{
		source: source, feed: from, cfg: cfg, log: cfg.Log, status: &stream{},
		reading: make(chan struct{}, reads),
		boards:  make(map[string]*board), instances: make(map[string]*instance),
		feeds: make(map[string]*eventFeed), behind: make(map[any]bool),
	}
	h.register.boards, h.register.kinds = make(map[member][]*board), make(map[string]bool)
	h.ctx, h.cancel = context.WithCancel(context.Background())
	h.status.shards.Store(^uint64(0))
	for i := range cfg.Shards {
		h.shards = append(h.shards, newShard(i))
	}
	h.fallStale(time.Time{}) // until the feed is up
	return h
}

// Run works until ctx ends and returns ctx's error when nothing it started is
// left. Close all connections first: they get nothing more.
func (h *Hub) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	for _, s := range h.shards {
		wg.Go(func() { s.run(ctx) })
	}
	wg.Go(func() { h.check(ctx) })
	<-ctx.Done()
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.cancel()
	h.running.Wait()
	wg.Wait()
	return ctx.Err()
}

// ErrClosed is returned by a hub that is shutting down.
var ErrClosed = errors.New("hub is closed")

// Join takes a connection in. Call Leave when it has gone.
func (h *Hub) Join(conn Conn) *Client {
	c := &Client{conn: conn, shard: h.shards[h.next.Add(1)%uint64(len(h.shards))]}
	status := &seat{client: c, stream: h.status}
	c.shard.do(func() {
		h.mu.Lock()
		if !h.stale {
			status.have = h.status.version.Load().number // nothing to tell
		}
		h.mu.Unlock()
		status.join()
	})
	return c
}

// Leave ends all of a client's subscriptions.
func (h *Hub) Leave(c *Client) {
	var seats []*seat
	c.shard.do(func() {
		c.left = true
		seats = append(seats, c.seats...)
		for _, s := range seats {
			s.leave()
		}
	})
	h.release(seats)
}

// Up reports whether changes are heard.
func (h *Hub) Up() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.up
}

// Watched is how many boards, as named, have a view.
func (h *Hub) Watched() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.boards)
}

// Followed is how many places of members somebody follows, each with so many
// neighbours on all boards together.
func (h *Hub) Followed() (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, b := range h.boards {
		n += len(b.members)
	}
	return n
}

func (h *Hub) watched() []*board {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Values(h.boards))
}

// announce tells all shards of new versions.
func (h *Hub) announce(streams ...*stream) {
	if len(streams) == 0 {
		return
	}
	for _, s := range h.shards {
		s.announce(streams)
	}
}

// sent returns a channel that is closed when all that was announced up to now has
// been handed to the connections that would take it.
func (h *Hub) sent() <-chan struct{} {
	sent := make(chan struct{})
	var left atomic.Int64
	left.Store(int64(len(h.shards)))
	for _, s := range h.shards {
		s.after(func() {
			if left.Add(-1) == 0 {
				close(sent)
			}
		})
	}
	return sent
}
