package live

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rankcast/hub"
	"rankcast/ranking"
	"rankcast/server/access"
	"rankcast/server/internal/origin"
	"rankcast/server/internal/request"
)

// drainSpread is the span over which the clients of a stopping node reconnect: each gets a
// random delay up to it.
const drainSpread = 2 * time.Second

// Store resolves the names in subscriptions. *ranking.Store is one. All methods may be called
// concurrently.
type Store interface {
	// Board finds the board that a name means.
	Board(ctx context.Context, name string) (ranking.Board, error)
	// About tells what a board is.
	About(ctx context.Context, board string) (ranking.About, error)
	// CheckFeed returns an error for the name of an unknown feed.
	CheckFeed(ctx context.Context, feed string) error
	// Now is the time by the clock of Redis.
	Now() time.Time
}

// Updater applies the updates and events that clients send over sockets. The client has the scope and the
// grant for the board or the event. caller decides what an event may hold. Each method returns the object that HTTP would
// answer. All methods may be called concurrently.
type Updater interface {
	Update(ctx context.Context, board string, update request.Object) (answer []byte, err error)
	Event(ctx context.Context, caller *access.Caller, event string, fields request.Object) (answer []byte, err error)
}

// Config configures Sessions. MaxTop, WriteTimeout, PingAfter, Origins, Guard and Limits are required.
type Config struct {
	// MaxTop is the maximum number of entries in a subscription.
	MaxTop int
	// WriteTimeout is how long a connection may take to accept 2 KiB, or the rest of a frame,
	// before the node closes it.
	WriteTimeout time.Duration
	// PingAfter is the silence of a client after which the node pings it. A stream gets a comment
	// after it.
	PingAfter time.Duration
	// ReadOnly makes sockets refuse updates and events.
	ReadOnly bool
	// Origins are the origins of other sites whose pages may open sockets.
	Origins *origin.List
	// Guard knows the rights of callers.
	Guard *access.Guard
	// Limits bounds the sockets, their subscriptions, their messages and what waits for them.
	Limits *access.Limits
	// Refused is called with each error that answers a client's message. It must not block. Nil: it is not called.
	Refused func(error)
	// Metrics gets the metrics of the Sessions; nil: none.
	Metrics prometheus.Registerer
}

// Sessions are the WebSockets and the event streams of a node. New makes them, Accept adds a WebSocket,
// Stream serves an event stream, Stop ends them all. All methods may be called concurrently.
type Sessions struct {
	store   Store
	updater Updater
	hub     *hub.Hub
	cfg     Config
	metrics *metrics

	calls    context.Context // parent of each call for a client's message; ends with the grace of Stop
	endCalls context.CancelFunc

	messages sync.Pool // *bytes.Buffer of smallMessage for reading messages; an idle socket holds none
	stopping atomic.Bool
	stopped  chan struct{}  // closed when stopping becomes true
	running  sync.WaitGroup // clients and the goroutines that they started

	mu      sync.Mutex
	clients map[client]struct{}
}

// client is a *session or a *stream. KeepAlive alone calls isDue and check. The other methods may be called concurrently. None
// waits for the client.
type client interface {
	// isDue reports whether check has something to do.
	isDue(now time.Time) bool
	// check ends what the client has lost the right to because of the time, and pings a silent one.
	check(now time.Time)
	// renew gives the client the present rights of its caller. It may wait for the hub.
	renew()
	// bye tells the client to reconnect to another node. It is called once.
	bye()
	// cut closes the connection.
	cut()
}

// New makes Sessions without any session. h delivers the frames.
func New(store Store, updater Updater, h *hub.Hub, cfg Config) *Sessions {
	s := &Sessions{store: store, updater: updater, hub: h, cfg: cfg, clients: make(map[client]struct{}),
		stopped: make(chan struct{})}
	s.calls, s.endCalls = context.WithCancel(context.Background())
	s.metrics = newMetrics(cfg.Metrics, s)
	s.messages.New = func() any { return bytes.NewBuffer(make([]byte, 0, smallMessage+bytes.MinRead)) }
	return s
}

// begin counts a client, which ends with end. c is nil for a socket that gets no session. begin reports false when the
// node is stopping.
func (s *Sessions) begin(c client) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping.Load() {
		return false
	}
	if c != nil {
		s.clients[c] = struct{}{}
	}
	s.running.Add(1)
	return true
}

// end forgets a client that has ended.
func (s *Sessions) end(c client) {
	s.mu.Lock()
	delete(s.clients, c)
	s.mu.Unlock()
	s.running.Done()
}

// all returns the present clients.
func (s *Sessions) all() []client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.clients))
}

// reconnectDelay is when a client of a stopping node is to reconnect.
func reconnectDelay() time.Duration { return rand.N(drainSpread) }

// byeMessage tells a client to reconnect to another node after a delay.
func byeMessage(delay time.Duration) []byte {
	return fmt.Appendf(nil, `{"type":"bye","reason":"drain","retry_ms":%d}`, delay.Milliseconds())
}

// Stop sends each client a bye with a random reconnect delay and a close frame, and returns once
// all sessions have ended. When grace ends, Stop closes the connections of clients that are stalled
// or do not answer the close frame, and gives up the calls that their messages wait for. So Stop
// returns soon after that, whatever the clients and the store do. Stop MUST be called once. Accept refuses new sessions from
// the moment Stop is called.
func (s *Sessions) Stop(grace context.Context) {
	s.mu.Lock()
	s.stopping.Store(true)
	close(s.stopped)
	s.mu.Unlock()
	all := s.all()
	for _, c := range all {
		c.bye()
	}
	cut := context.AfterFunc(grace, func() {
		s.endCalls()
		for _, c := range all {
			c.cut()
		}
	})
	defer cut()
	s.running.Wait()
}
