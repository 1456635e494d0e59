package hub

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"rankcast/ranking"
)

// Source is where views are read from; a ranking.Store is one.
type Source interface {
	// Page reads up to limit entries from a 1-based rank on.
	Page(ctx context.Context, board string, fromRank int64, limit int) (ranking.Page, error)
	// Places looks up to ranking.MaxLookups members up.
	Places(ctx context.Context, board string, lookups []ranking.Lookup) (ranking.Places, error)
	// States reads where boards are, all at once, in the order asked.
	States(ctx context.Context, boards []string) []ranking.BoardState
}

// Feed is asked for the changes of a board; a ranking.Feed is one. Its methods
// MUST NOT block, and it tells the Hub, as a ranking.FeedHandler.
type Feed interface {
	Watch(board string)
	Unwatch(board string)
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

	ctx    context.Context // of all boards
	cancel context.CancelFunc

	mu      sync.Mutex
	boards  map[string]*board
	up      bool            // the feed is
	outages int             // times it went down
	stale   bool            // clients were told that what they show may be old
	asOf    time.Time       // since when
	behind  map[*board]bool // boards that must be read anew before stale ends
	closed  bool
	running sync.WaitGroup
}

// New makes a Hub. Run starts it; the feed it hears must be given it as handler.
func New(source Source, feed Feed, cfg Config) *Hub {
	cfg.Interval = cmp.Or(cfg.Interval, 100*time.Millisecond)
	cfg.MeInterval = cmp.Or(cfg.MeInterval, time.Second)
	cfg.CheckInterval = cmp.Or(cfg.CheckInterval, time.Second)
	cfg.AuditInterval = cmp.Or(cfg.AuditInterval, 30*time.Second)
	cfg.Shards = min(cmp.Or(cfg.Shards, runtime.GOMAXPROCS(0)), maxShards)
	cfg.Log = cmp.Or(cfg.Log, slog.Default())
	h := &Hub{
		source: source, feed: feed, cfg: cfg, log: cfg.Log, status: &stream{},
		reading: make(chan struct{}, reads),
		boards:  make(map[string]*board), behind: make(map[*board]bool),
	}
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

// Watch is what a client wants to see of a board.
type Watch struct {
	Top int // entries from the first on
	// Me is a member whose rank is told, wherever it is; "" for none. Around is how
	// many neighbours on each side are shown with it, 0 to MaxAround.
	Me     string
	Around int
	// Resume is the state at which the client has the first Top entries already,
	// if it has: then it is sent what differs, where that is known. None: zero.
	Resume ranking.State
}

// Subscribe shows a client what it wants to see of a board: the first entries at
// once or as soon as they are known, then the place of Me, then what changes. It
// takes the place of an earlier subscription of that client to the board, or
// nil: none of that one's frames follow on the new ones. accepted is called
// before the first frame; only for a client that has left can the call still
// fail then. The subscription ends with Unsubscribe or Leave. ErrClosed is
// returned by a hub that shuts down and for a client that has left.
func (h *Hub) Subscribe(c *Client, d ranking.Definition, w Watch, replaced *Subscription, accepted func()) (*Subscription, error) {
	sub, err := h.acquire(c, d, w)
	if err != nil {
		return nil, fmt.Errorf("subscribe to board %q: %w", d.Board, err)
	}
	if replaced != nil {
		// After acquire, so that the board's view is not given up in between.
		h.Unsubscribe(replaced)
	}
	accepted()
	joined := false
	c.shard.do(func() { joined = sub.join() })
	if !joined {
		h.release(sub.seats())
		return nil, fmt.Errorf("subscribe to board %q: %w", d.Board, ErrClosed)
	}
	return sub, nil
}

// Unsubscribe ends sub: no frame of it is sent after Unsubscribe has returned.
func (h *Hub) Unsubscribe(sub *Subscription) {
	var had []*seat
	sub.client.shard.do(func() { had = sub.leave() })
	h.release(had)
}

// acquire takes seats in the streams that a client wants to see, and starts the
// board if they are its first.
func (h *Hub) acquire(c *Client, d ranking.Definition, w Watch) (*Subscription, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, ErrClosed
	}
	b := h.boards[d.Board]
	if b == nil {
		b = newBoard(h, d)
		h.boards[d.Board] = b
		if h.stale {
			h.behind[b] = true
		}
		h.running.Go(b.run)
		h.feed.Watch(d.Board)
	}
	sub := &Subscription{client: c, top: &seat{client: c, stream: b.topStream(w.Top), resume: w.Resume}}
	if w.Me != "" {
		sub.me = &seat{client: c, stream: b.memberStream(w.Me, w.Around), before: sub.top}
		sub.top.after = sub.me
	}
	for _, s := range sub.seats() {
		s.stream.users++
		s.stream.shards.Or(c.shard.bit)
	}
	return sub, nil
}

// release gives seats up, and stops a board after its last.
func (h *Hub) release(seats []*seat) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range seats {
		b := h.boards[s.stream.board]
		if b == nil || s.stream == h.status {
			continue
		}
		if s.stream.users--; s.stream.users > 0 {
			continue
		}
		if b.drop(s.stream) {
			continue // others still watch it
		}
		delete(h.boards, b.name)
		h.feed.Unwatch(b.name)
		b.cancel()
		delete(h.behind, b)
		h.settle()
	}
}

// Up reports whether changes are heard.
func (h *Hub) Up() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.up
}

// Watched is how many boards have a view.
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

// FeedChanges passes changes on to the board's goroutine. One that is too far
// behind misses them; the gap in seq makes it read the board anew.
func (h *Hub) FeedChanges(c *ranking.Changes) {
	h.mu.Lock()
	b := h.boards[c.Board]
	h.mu.Unlock()
	if b == nil {
		return
	}
	select {
	case b.changes <- c:
	default:
	}
}

// FeedSubscribed has the board read: what changes from now on will be heard.
func (h *Hub) FeedSubscribed(name string) {
	h.mu.Lock()
	b, outages := h.boards[name], h.outages
	h.mu.Unlock()
	if b != nil {
		b.tell(subscribed{outages})
	}
}

// FeedUp is the first half of coming back; the second is to read all boards.
func (h *Hub) FeedUp() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.up = true
	h.settle()
}

// FeedDown tells the clients. The views stay as they are until they are read anew.
func (h *Hub) FeedDown(asOf time.Time) {
	h.mu.Lock()
	h.up = false
	h.outages++
	for _, b := range h.boards {
		h.behind[b] = true
	}
	h.fallStale(asOf)
	h.mu.Unlock()
	for _, b := range h.watched() {
		b.tell(unheard{})
	}
}

// fellBehind notes that a board could not be read.
func (h *Hub) fellBehind(b *board) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.boards[b.name] != b {
		return
	}
	h.behind[b] = true
	h.fallStale(time.Now())
}

// caughtUp notes that a board was read and shown.
func (h *Hub) caughtUp(b *board) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if b.outages == h.outages { // else the feed has gone down again since
		delete(h.behind, b)
		h.settle()
	}
}

// fallStale tells clients, once, that what they show is as of a time. The caller
// holds mu.
func (h *Hub) fallStale(asOf time.Time) {
	if !h.stale {
		h.stale, h.asOf = true, asOf
		h.tellStatus()
	}
}

// settle ends stale when everything is heard and read. The caller holds mu.
func (h *Hub) settle() {
	if h.stale && h.up && len(h.behind) == 0 {
		h.stale = false
		h.tellStatus()
	}
}

// tellStatus gives the status stream a new version. The caller holds mu.
func (h *Hub) tellStatus() {
	frame := statusFrame(h.stale, h.asOf)
	h.status.put(&version{whole: func() *Frame { return frame }})
	h.announce(h.status)
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

// check compares, once a tick, where all views are with where Redis is: a last
// message that was lost shows in no other way.
func (h *Hub) check(ctx context.Context) {
	tick := time.NewTicker(h.cfg.CheckInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		boards := h.watched()
		if len(boards) == 0 {
			continue
		}
		names, before := make([]string, len(boards)), make([]ranking.State, len(boards))
		for i, b := range boards {
			names[i], before[i] = b.name, *b.at.Load()
		}
		states := h.source.States(ctx, names)
		for i, b := range boards {
			b.tell(checked{redis: states[i], before: before[i]})
		}
	}
}
