package hub

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"

	"rankcast/ranking"
	"rankcast/ranking/fair"
)

// Source is the store that a Hub reads; a ranking.Store implements it. Boards are named as
// clients name them, or by definition.Qualify. A read of a deleted board returns
// definition.ErrUnknownBoard, a read of a period that is not kept any more
// definition.ErrUnknownPeriod. With ranking.WithoutBuilds, a read of a board whose result has yet to
// be built returns definition.ErrNotBuilt at once.
type Source interface {
	// Page reads up to limit entries from a 1-based rank on, at once.
	Page(ctx context.Context, board string, fromRank int64, limit int) (ranking.Page, error)
	// Read reads a page too. A page of more than 100 entries waits for its turn among those of
	// ranking.WithCaller. With ErrUnavailable it has waited for too long.
	Read(ctx context.Context, board string, q ranking.Query) (ranking.Page, error)
	// Places looks up to ranking.MaxLookups members up.
	Places(ctx context.Context, board string, lookups []ranking.Lookup) (ranking.Places, error)
	// States reads the state and the kind of members of all boards at once, in the order of
	// the argument. A deleted board has the zero State, without an error.
	States(ctx context.Context, boards []string) []ranking.BoardState
	// Now estimates Redis's clock, without I/O; the zero time where that is not known.
	Now() time.Time
	ProfileSource
}

// Feed subscribes to the changes of a board's instance and to the items of a feed; a
// feed.Feed implements it. Its methods MUST NOT block. It confirms each call of Watch and
// Follow, and delivers until as many calls of Unwatch and Unfollow have come. It calls the
// Hub as its feed.Handler.
type Feed interface {
	Watch(instance string)
	Unwatch(instance string)
	Follow(name string)
	Unfollow(name string)
}

// Config configures a Hub. The zero value is the documented default.
type Config struct {
	// Interval is the time in which a board publishes once, at most, and a feed too. It publishes a change at once, unless it
	// has published in the interval under way; then it does when the next one begins. A board or a
	// feed has intervals that begin with those of what its first client watches already. Default 100 ms.
	Interval time.Duration
	// MeInterval is the time in which a follower gets one me frame at most, unless its own
	// score changed. Default 1 s.
	MeInterval time.Duration
	// CheckInterval is the time between two seq checks, which compare all views with Redis.
	// Of more than 5,000 boards a check takes longer. Default 1 s.
	CheckInterval time.Duration
	// VerifyInterval is the time between two verifications of a board. A verification compares the
	// entries of the view, and some followed members, with Redis. Default 30 s.
	VerifyInterval time.Duration
	// ProfileInterval is the time between two refreshes of the profiles that a board shows,
	// from the cache of the Source. A refresh repairs a lost profile message. Default 25 s.
	ProfileInterval time.Duration
	// FeedRate is the most items of a feed that a client gets in any second. Default 20.
	FeedRate int
	// MaxBoards is the most boards that clients watch at one time, by name. The clients of one
	// address get half of them at most: a board counts for the address of its first watcher.
	// Default: any number.
	MaxBoards int
	// Shards is the number of goroutines that send frames, 64 at most. Default GOMAXPROCS.
	Shards int
	// Log receives what an operator should know. Default slog.Default.
	Log *slog.Logger
	// Metrics gets the metrics of the hub. Default none.
	Metrics prometheus.Registerer
}

const (
	// maxFetches is the most reads of a hub at one time. A thousand boards that resync do not
	// arrive at Redis together.
	maxFetches = 16
	// fetchTimeout bounds one read. It is above the default timeout of a call to Redis, which is
	// 2 s.
	fetchTimeout = 3 * time.Second
	// maxVerifications is the most verifications that a hub begins in a second. With more than
	// 6,000 boards, the verifications of a board are more than 30 s apart.
	maxVerifications = 200
)

// maxShards is the number of bits that a stream has for shards.
const maxShards = 64

// Hub keeps the views of the watched boards and sends their frames to clients. Its methods
// may be called concurrently. No lock is held while another one is waited for.
type Hub struct {
	source        Source
	feed          Feed
	cfg           Config
	log           *slog.Logger
	metrics       *metrics
	shards        []*shard
	joined        atomic.Uint64 // how many clients have joined so far
	status        status
	followed      atomic.Int64         // streams of members
	turns         pool                 // of boards
	entering      chan struct{}        // holds a token for each client that subscribes right now
	fetches       pool                 // reads of the Source
	largeReads    *fair.Semaphore[any] // of pages of many entries; an address, or a client without one, has one at a time
	verifications *rate.Limiter        // the budget of all boards
	resyncs       atomic.Int64         // after a seq check, since the last line of resyncLog
	resyncLog     rate.Sometimes

	profiles *profileIndex // of the members that boards show

	ctx    context.Context // of reads and of feeds
	cancel context.CancelFunc

	mu       sync.Mutex
	boards   map[string]*board   // by name
	order    []*board            // of the seq check
	channels map[string]*channel // by the name by which the feed knows them
	lost     int                 // how many of them the feed has lost
	started  map[any]int         // by caller: how many boards count for it
	feeds    map[string]*eventFeed
	closed   bool
	running  sync.WaitGroup
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
		source: source, feed: from, cfg: cfg, log: cfg.Log,
		verifications: rate.NewLimiter(maxVerifications, maxVerifications),
		boards:        make(map[string]*board), channels: make(map[string]*channel),
		started: make(map[any]int), feeds: make(map[string]*eventFeed),
	}
	h.resyncLog.Interval = time.Minute
	h.entering = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))
	h.turns = pool{limit: runtime.GOMAXPROCS(0), running: &h.running}
	h.fetches = pool{limit: maxFetches, running: &h.running}
	h.largeReads = fair.NewSemaphore(maxLargeReads, func(any) int { return 1 })
	h.profiles = newProfileIndex()
	h.ctx, h.cancel = context.WithCancel(context.Background())
	h.metrics = newMetrics(cfg.Metrics, h)
	for i := range cfg.Shards {
		h.shards = append(h.shards, newShard(i, h.metrics.skipped))
	}
	h.status.hub = h
	h.status.stream.shards.Store(^uint64(0))
	h.status.change(func() {}) // stale until the feed is up
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
	wg.Go(func() { h.runProfileChanges(ctx) })
	<-ctx.Done()
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.cancel()
	h.turns.close()
	h.fetches.close()
	h.running.Wait()
	wg.Wait()
	return ctx.Err()
}

// ErrClosed is the error of a hub that shuts down.
var ErrClosed = errors.New("hub is closed")

// Join adds a connection. The caller calls Leave when the connection ends. address is a
// comparable value: clients with the same address share what one of them may take of the hub.
// A client whose address is nil may take any share.
func (h *Hub) Join(conn Conn, address any) *Client {
	number := h.joined.Add(1)
	c := &Client{conn: conn, address: address, caller: cmp.Or(address, any(number)), shard: h.shards[number%uint64(len(h.shards))]}
	c.status = delivery{client: c, stream: &h.status.stream}
	c.shard.do(func() { h.status.join(&c.status) })
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
func (h *Hub) Up() bool { return h.status.isUp() }

// ReceivesAll reports whether the feed is connected, and has lost no watched board.
func (h *Hub) ReceivesAll() bool {
	if !h.Up() {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lost == 0
}

// Watched is the number of watched boards, by name.
func (h *Hub) Watched() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.boards)
}

// Followed is the number of followed members: of all boards, each member once for each
// number of neighbours.
func (h *Hub) Followed() int { return int(h.followed.Load()) }

// boardList copies the list of all boards.
func (h *Hub) boardList() []*board {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.order)
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

// afterFlush calls do once the shards have offered all versions announced so far to the
// connections.
func (h *Hub) afterFlush(do func()) {
	var left atomic.Int64
	left.Store(int64(len(h.shards)))
	for _, s := range h.shards {
		s.afterFlush(func() {
			if left.Add(-1) == 0 {
				do()
			}
		})
	}
}
