package live

import (
	"bytes"
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"rankcast/hub"
	"rankcast/ranking"
	"rankcast/server/internal/request"
)

// drainSpread is over how long clients of a node that stops come back.
const drainSpread = 2 * time.Second

// Store is what sessions ask of the store. *ranking.Store is one.
type Store interface {
	// Board finds the board that a name stands for now.
	Board(ctx context.Context, name string) (ranking.Board, error)
	// CheckFeed refuses what is no event's feed.
	CheckFeed(ctx context.Context, feed string) error
	// Now is the store's clock.
	Now() time.Time
}

// Updater carries out updates and events that come over sockets, and gives the answer that
// HTTP would give.
type Updater interface {
	Update(ctx context.Context, board string, update request.Object) (answer any, err error)
	Event(ctx context.Context, event string, fields request.Object) (answer any, err error)
}

// Config is what sessions can be told. All fields but Origins and ReadOnly are needed.
type Config struct {
	// MaxTop is the most entries of a board that a client may watch at once.
	MaxTop int
	// WriteTimeout is how long a socket may accept nothing before it is closed.
	WriteTimeout time.Duration
	// ReadOnly refuses updates and events.
	ReadOnly bool
	// Origins are those of other sites whose pages may open sockets; "*" for all.
	Origins []string
}

// Sessions are the WebSockets of a node. All methods may be called concurrently.
type Sessions struct {
	store   Store
	updater Updater
	hub     *hub.Hub
	cfg     Config

	messages sync.Pool // *bytes.Buffer: what messages are read into; an idle socket has none
	stopping atomic.Bool
	running  sync.WaitGroup // sessions and what they started

	mu  sync.Mutex
	all map[*session]struct{}
}

// New makes sessions of a store, whose boards a hub watches.
func New(store Store, updater Updater, h *hub.Hub, cfg Config) *Sessions {
	s := &Sessions{store: store, updater: updater, hub: h, cfg: cfg, all: make(map[*session]struct{})}
	s.messages.New = func() any { return new(bytes.Buffer) }
	return s
}

// open starts a session, unless the sessions are stopping.
func (s *Sessions) open(ss *session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping.Load() {
		return false
	}
	s.all[ss] = struct{}{}
	s.running.Go(ss.run)
	return true
}

// Stop tells every client to come back elsewhere, each at a moment of
// its own, and waits until all have gone. Those that are stalled, or do not
// answer the close frame, are cut off when grace ends.
func (s *Sessions) Stop(grace context.Context) {
	s.mu.Lock()
	s.stopping.Store(true)
	all := slices.Collect(maps.Keys(s.all))
	s.mu.Unlock()
	for _, ss := range all {
		retry := strconv.FormatInt(rand.N(drainSpread).Milliseconds(), 10)
		bye := hub.NewFrame([]byte(`{"type":"bye","reason":"drain","retry_ms":` + retry + `}`))
		ss.socket.farewell(bye, closeGoingAway)
	}
	cut := context.AfterFunc(grace, func() {
		for _, ss := range all {
			ss.socket.Close()
		}
	})
	defer cut()
	s.running.Wait()
}
