package pipeline

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// node is one Redis node and the connection to it.
type node struct {
	client *Client // has the hooks

	mu      sync.Mutex
	rdb     *redis.Client // gives the options
	conn    *conn         // nil, or the latest one, which may have failed
	dialing *dialing      // nil while nobody dials
	closed  bool
}

// dialing is one attempt to connect. All callers that need the connection wait for it.
type dialing struct {
	done chan struct{}
	conn *conn // conn and err are set before done is closed
	err  error
}

// use sets the client whose options the next connection gets.
func (n *node) use(rdb *redis.Client) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.rdb = rdb
}

// maxDials bounds the attempts of one call to get a connection that takes its commands. More
// than one attempt fails only when the server closes each new connection.
const maxDials = 3

// enqueue gives the call its place on a connection, and writes its commands unless another
// caller is writing. An error means that nothing was sent.
func (n *node) enqueue(ctx context.Context, call *call) (*conn, error) {
	err := errClosedEarly
	for range maxDials {
		var c *conn
		if c, err = n.connection(ctx); err != nil {
			return nil, err
		}
		if err = c.enqueue(ctx, call); err == nil {
			return c, nil
		}
		if !errors.Is(err, errClosedEarly) {
			return nil, err
		}
	}
	return nil, err
}

// connection returns the open connection, or dials.
func (n *node) connection(ctx context.Context) (*conn, error) {
	n.mu.Lock()
	if n.closed {
		n.mu.Unlock()
		return nil, redis.ErrClosed
	}
	if n.conn != nil && n.conn.takes() {
		defer n.mu.Unlock()
		return n.conn, nil
	}
	d, mine := n.dialing, false
	if d == nil {
		d, mine = &dialing{done: make(chan struct{})}, true
		n.dialing = d
	}
	rdb := n.rdb
	n.mu.Unlock()
	if !mine {
		select {
		case <-d.done:
			return d.conn, d.err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	// Other callers wait for the connection too, so the end of this one does not end the dialling.
	detached, cancel := context.WithoutCancel(ctx), context.CancelFunc(func() {})
	if at, ok := ctx.Deadline(); ok {
		detached, cancel = context.WithDeadline(detached, at)
	}
	d.conn, d.err = dial(detached, rdb, n.client.allHooks())
	cancel()
	n.mu.Lock()
	if d.err == nil && n.closed {
		d.conn.fail(redis.ErrClosed)
	}
	n.conn, n.dialing = d.conn, nil
	n.mu.Unlock()
	close(d.done)
	return d.conn, d.err
}

func (n *node) closeIdle() {
	n.mu.Lock()
	c := n.conn
	n.mu.Unlock()
	if c != nil {
		c.closeIdle()
	}
}

func (n *node) close() {
	n.mu.Lock()
	n.closed = true
	c := n.conn
	n.mu.Unlock()
	if c != nil {
		c.fail(redis.ErrClosed)
	}
}

// dial opens and initialises a connection with the options of rdb as they are now, and with hooks. A second
// client, with one connection, does that. It keeps the connection in use, so that it neither
// reads from the socket nor writes to it later.
func dial(ctx context.Context, rdb *redis.Client, hooks []redis.Hook) (*conn, error) {
	o := *rdb.Options()
	c := newConn(o.ReadTimeout, o.WriteTimeout)
	o.Protocol = 2
	o.PoolSize, o.PipelinePoolSize, o.MinIdleConns, o.MaxIdleConns, o.MaxActiveConns = 1, -1, 0, 0, 0
	o.ConnMaxIdleTime, o.ConnMaxLifetime = -1, 0
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	o.ClientSideCache, o.ClientSideCacheConfig = nil, nil
	// The client has turned "none" into 0, which is the default of a new client.
	o.MaxRetries = -1
	for _, timeout := range []*time.Duration{&o.ReadTimeout, &o.WriteTimeout} {
		if *timeout == 0 {
			*timeout = -1
		}
	}
	dialer, onConnect, ready := redis.DialHook(o.Dialer), o.OnConnect, false
	for _, h := range slices.Backward(hooks) {
		if wrapped := h.DialHook(dialer); wrapped != nil {
			dialer = wrapped
		}
	}
	var socket net.Conn
	o.Dialer = func(ctx context.Context, network, address string) (net.Conn, error) {
		s, err := dialer(ctx, network, address)
		socket = s
		return s, err
	}
	o.OnConnect = func(ctx context.Context, cn *redis.Conn) error {
		if onConnect != nil {
			if err := onConnect(ctx, cn); err != nil {
				return err
			}
		}
		ready = true
		return nil
	}
	owner := redis.NewClient(&o)
	// The first command of a Conn dials. Redis may refuse PING itself, which does no harm.
	err := owner.Conn().Ping(ctx).Err()
	var refused redis.Error
	if err != nil && (!ready || !errors.As(err, &refused)) {
		owner.Close()
		return nil, err
	}
	if err := c.open(socket, owner); err != nil {
		owner.Close()
		return nil, err
	}
	return c, nil
}
