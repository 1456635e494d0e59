package redisconn

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"

	"github.com/redis/go-redis/v9"
)

// masterSwitch closes the connections to the former master when Sentinel has promoted another Redis. A
// master that is cut off from the Sentinels does not know of that, and would go on accepting writes and
// showing an old state. It is a hook of a Sentinel client, also for the connections of package pipeline.
//
// The Sentinel client itself closes the idle connections of its pool at a switch. The next dial then
// tells masterSwitch the new address. A node sends commands at least once a Config.ProbeInterval, so that
// is soon.
type masterSwitch struct {
	mu      sync.Mutex
	dials   uint64                     // that have begun
	address string                     // of the master
	since   uint64                     // number of the dial that found this master
	conns   map[*sentinelConn]struct{} // that are open
}

// DialHook is part of redis.Hook.
func (s *masterSwitch) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		number := s.begin()
		conn, err := next(ctx, network, address)
		if err != nil {
			return nil, err
		}
		c := &sentinelConn{Conn: conn, of: s}
		if !s.add(c, number) {
			conn.Close()
			return nil, errFormerMaster
		}
		return withSocketOf(conn, c), nil
	}
}

// withSocketOf gives a wrapper of a connection the socket of the connection, for the pool, which looks at it. The pool does
// not look below TLS.
func withSocketOf(conn, wrapper net.Conn) net.Conn {
	type socket = syscall.Conn // a name beside that of net.Conn
	if raw, ok := conn.(socket); ok {
		return struct {
			net.Conn
			socket
		}{wrapper, raw}
	}
	return wrapper
}

// dialByName wraps dial: the remote address of each connection is the address that was dialled, as Sentinel names it. A
// host may have several addresses. Another address of the same host is no other master.
func dialByName(dial func(ctx context.Context, network, address string) (net.Conn, error)) func(
	ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return withSocketOf(conn, namedConn{conn, dialledAddress{network, address}}), nil
	}
}

// namedConn is a connection whose remote address is the one that was dialled.
type namedConn struct {
	net.Conn
	remote net.Addr
}

// NetConn returns the connection without the name.
func (c namedConn) NetConn() net.Conn { return c.Conn }

// RemoteAddr returns the address that was dialled.
func (c namedConn) RemoteAddr() net.Addr { return c.remote }

// dialledAddress is an address that was dialled.
type dialledAddress struct{ network, address string }

func (a dialledAddress) Network() string { return a.network }

func (a dialledAddress) String() string { return a.address }

// errFormerMaster reports a dial that was under way when another Redis became the master.
var errFormerMaster = errors.New("another Redis has become the master meanwhile")

// begin returns the number of a dial that begins.
func (s *masterSwitch) begin() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dials++
	return s.dials
}

// add adds a connection, and closes those to other addresses. It reports false for a connection to a former master: a dial
// that began later has found another one.
func (s *masterSwitch) add(c *sentinelConn, number uint64) bool {
	address := c.RemoteAddr().String()
	var old []*sentinelConn
	s.mu.Lock()
	switched := s.address != "" && s.address != address
	if switched && number < s.since {
		s.mu.Unlock()
		return false
	}
	if s.address != address {
		s.address, s.since = address, number
	}
	if s.conns == nil {
		s.conns = make(map[*sentinelConn]struct{})
	}
	s.conns[c] = struct{}{}
	for other := range s.conns {
		if switched && other.RemoteAddr().String() != address {
			old = append(old, other)
		}
	}
	s.mu.Unlock()
	for _, other := range old {
		other.Close()
	}
	return true
}

// ProcessHook is part of redis.Hook.
func (s *masterSwitch) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

// ProcessPipelineHook is part of redis.Hook.
func (s *masterSwitch) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// sentinelConn is a connection that masterSwitch knows until it is closed.
type sentinelConn struct {
	net.Conn
	of *masterSwitch
}

// NetConn returns the connection that masterSwitch has wrapped.
func (c *sentinelConn) NetConn() net.Conn { return c.Conn }

// Close closes the connection.
func (c *sentinelConn) Close() error {
	c.of.mu.Lock()
	delete(c.of.conns, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}
