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

// Source is the store that a Hub reads; a ranking.Store implements it. Boards are named as
// clients name them, or by definition.Qualify. A read of a deleted board returns
// ranking.ErrUnknownBoard, a read of a period that is not kept any more
// ranking.ErrUnknownPeriod.
type Source interface {
	// Page reads up to limit entries from a 1-based rank on.
	Page(ctx context.Context, board string, fromRank int64, limit int) (ranking.Page, error)
	// Places looks up to ranking.MaxLookups members up.
	Places(ctx context.Context, board string, lookups []ranking.Lookup) (ranking.Places, error)
	// States reads the state and the kind of members of all boards at once, in the order of
	// the argument. A deleted board has the zero State, without an error.
	States(ctx context.Context, boards []string) []ranking.BoardState
	ProfileSource
}

// Feed subscribes to the changes of a board's instance and to the items of a feed; a
// feed.Feed implements it. Its methods MUST NOT block. It calls the Hub as its
// feed.Handler.
type Feed interface {
	Watch(instance string)
	Unwatch(instance string)
	Follow(name string)
	Unfollow(name string)
}

// Config configures a Hub. The zero value is the documented default.
type Config struct {
	// Interval is the least time between two frames of a board. Default 100 ms.
	Interval time.Duration
	// MeInterval is the least time between two me frames of a follower, unless its own
	// score changed. Default 1 s.
	MeInterval time.Duration
	// CheckInterval is the time between two seq checks. One call compares all views with
	// Redis. Default 1 s.
	CheckInterval time.Duration
	// VerifyInterval is the time between two verifications of a board. A verification compares the
	// entries of the view, and some followed members, with Redis. Default 30 s.
	VerifyInterval time.Duration
	// ProfileInterval is the time between two refreshes of the profiles that a board shows,
	// from the cache of the Source. A refresh repairs a lost profile message. Default 25 s.
	ProfileInterval time.Duration
	// FeedRate is the most items of a feed that a client gets in any second. Default 20.
	FeedRate int
	// Shards is the number of goroutines that send frames, 64 at most. Default GOMAXPROCS.
	Shards int
	// Log receives what an operator should know. Default slog.Default.
	Log *slog.Logger
}

// maxFetches is the most reads of a hub at one time. A thousand boards that resync do not
// arrive at Redis together.
const maxFetches = 16

// maxShards is the number of bits that a stream has for shards.
const maxShards = 64

// Hub keeps the views of the watched boards and sends their frames to clients. Its methods
// may be called concurrently.
type Hub struct {
	source     Source
	feed       Feed
	cfg        Config
	log        *slog.Logger
	shards     []*shard
	nextShard  atomic.Uint64 // selects the shard of the next client
	status     *stream       // each client has a delivery of it
	fetchSlots chan struct{} // holds a token for each read under way

	profiles profileIndex // of the members that boards show

	ctx    context.Context // parent of each board's and each feed's context
	cancel context.CancelFunc

	mu         sync.Mutex
	boards     map[string]*board    // by name
	instances  map[string]*instance // by the instance of their boards
	feeds      map[string]*eventFeed
	feedUp     bool         // whether the feed is connected
	outages    int          // how often the feed went down
	stale      bool         // clients have been told that their boards may be old
	staleSince time.Time    // the boards are as of this time
	unsynced   map[any]bool // boards to read, and feeds to subscribe to, before stale ends
	closed     bool
	running    sync.WaitGroup
}

// New returns a Hub. Run starts it. The caller makes the Hub the handler of the Feed.
func New(source Source, from Feed, cfg Config) *Hub {
	cfg.Interval = cmp.Or(cfg.Interval, 100*time.Millisecond)
	cfg.MeInterval = cmp.Or(cfg.MeInterval, time.Second)
	cfg.CheckInterval = cmp.Or(cfg.CheckInterval, time.Second)
	cfg.VerifyInterval = cmp.Or(cfg.VerifyInterval, 30*time.Second)
	cfg.ProfileInterval = cmp.Or(cfg.ProfileInterval, 25*time.Second)
	cfg.FeedRate = cmp.Or(cfg.FeedRate, 20)
	cfg.Shards = min(cmp.Or(cfg.Shards, runtime.GOMAXPROCS(0)), maxShards)
	cfg.Log = cmp.Or(cfg.Log, slog.Default())
	h := &Hub{
		source: source, feed: from, cfg: cfg, log: cfg.Log, status: &stream{},
		fetchSlots: make(chan struct{}, maxFetches),
		boards:     make(map[string]*board), instances: make(map[string]*instance),
		feeds: make(map[string]*eventFeed), unsynced: make(map[any]bool),
	}
	h.profiles.boards, h.profiles.kinds = make(map[profileKey][]*board), make(map[string]bool)
	h.ctx, h.cancel = context.WithCancel(context.Background())
	h.status.shards.Store(^uint64(0))
	for i := range cfg.Shards {
		h.shards = append(h.shards, newShard(i))
	}
	h.markStale(time.Time{}) // until the feed is up
	return h
}

// Run works until ctx ends. It returns ctx's error once every goroutine of the Hub has
// ended. Close all connections first: Run sends them nothing more.
func (h *Hub) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	for _, s := range h.shards {
		wg.Go(func() { s.run(ctx) })
	}
	wg.Go(func() { h.runSeqChecks(ctx) })
	<-ctx.Done()
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.cancel()
	h.running.Wait()
	wg.Wait()
	return ctx.Err()
}

// ErrClosed is the error of a hub that shuts down.
var ErrClosed = errors.New("hub is closed")

// Join adds a connection. The caller calls Leave when the connection ends.
func (h *Hub) Join(conn Conn) *Client {
	c := &Client{conn: conn, shard: h.shards[h.nextShard.Add(1)%uint64(len(h.shards))]}
	status := &delivery{client: c, stream: h.status}
	c.shard.do(func() {
		h.mu.Lock()
		if !h.stale {
			status.version = h.status.version.Load().number // the client need not be told
		}
		h.mu.Unlock()
		status.attach()
	})
	return c
}

// Leave ends all subscriptions of a client.
func (h *Hub) Leave(c *Client) {
	var list []*delivery
	c.shard.do(func() {
		c.left = true
		list = append(list, c.deliveries...)
		for _, s := range list {
			s.detach()
		}
	})
	h.release(list)
}

// Up reports whether the feed is connected.
func (h *Hub) Up() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.feedUp
}

// Watched is the number of watched boards, by name.
func (h *Hub) Watched() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.boards)
}

// Followed is the number of followed members: of all boards, each member once for each
// number of neighbours.
func (h *Hub) Followed() (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, b := range h.boards {
		n += len(b.members)
	}
	return n
}

func (h *Hub) boardList() []*board {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Values(h.boards))
}

// announce passes streams with new versions to all shards.
func (h *Hub) announce(streams ...*stream) {
	if len(streams) == 0 {
		return
	}
	for _, s := range h.shards {
		s.announce(streams)
	}
}

// flushed returns a channel. It is closed once the shards have offered all versions
// announced so far to the connections.
func (h *Hub) flushed() <-chan struct{} {
	sent := make(chan struct{})
	var left atomic.Int64
	left.Store(int64(len(h.shards)))
	for _, s := range h.shards {
		s.afterFlush(func() {
			if left.Add(-1) == 0 {
				close(sent)
			}
		})
	}
	return sent
}
