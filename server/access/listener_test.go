package access

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

// scriptedListener accepts connections of peers that a test names. Each value of peers is the address of one,
// or an error.
type scriptedListener struct {
	net.Listener
	peers chan any
	ends  chan net.Conn // the clients' ends
}

type peerConn struct {
	net.Conn
	peer string
}

func (c peerConn) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(c.peer))
}

func (l *scriptedListener) Accept() (net.Conn, error) {
	switch peer := (<-l.peers).(type) {
	case error:
		return nil, peer
	case string:
		near, far := net.Pipe()
		l.ends <- far
		return peerConn{near, peer}, nil
	}
	return nil, net.ErrClosed
}

// accepting is a listener of l on a script. 10.0.0.1 is a trusted proxy. accept and refuse are what a peer must
// meet; accept returns the node's end.
func accepting(t *testing.T, l *Limits, log io.Writer) (inner *scriptedListener, accept func(peer string) net.Conn,
	refuse func(peer string)) {
	inner = &scriptedListener{peers: make(chan any, 1), ends: make(chan net.Conn, 1)}
	proxies, err := ParseProxies([]string{"10.0.0.1"})
	require.NoError(t, err)
	outer := l.Listener(inner, NewAddresses(proxies, slog.New(slog.DiscardHandler)), slog.New(slog.NewTextHandler(log, nil)))
	accepted := make(chan net.Conn)
	go func() {
		defer close(accepted)
		for {
			conn, err := outer.Accept()
			switch {
			case err == nil:
				accepted <- conn
			case err == net.ErrClosed:
				return
			}
		}
	}()
	t.Cleanup(func() {
		close(inner.peers)
		_, open := <-accepted
		require.False(t, open)
	})
	accept = func(peer string) net.Conn {
		t.Helper()
		inner.peers <- peer
		end := <-inner.ends
		t.Cleanup(func() { end.Close() })
		closed := make(chan struct{})
		go func() {
			end.Read(make([]byte, 1))
			close(closed)
		}()
		select {
		case conn := <-accepted:
			return conn
		case <-closed:
			require.Fail(t, "the node closes the connection of "+peer)
			return nil
		}
	}
	refuse = func(peer string) {
		t.Helper()
		inner.peers <- peer
		closed := make(chan error, 1)
		end := <-inner.ends
		go func() {
			_, err := end.Read(make([]byte, 1))
			closed <- err
		}()
		select {
		case err := <-closed:
			require.ErrorIs(t, err, io.EOF)
		case <-accepted:
			require.Fail(t, "the node takes a connection of "+peer)
		}
	}
	return inner, accept, refuse
}

// One address gets half of the connections of a node. A connection beyond a limit is closed at once, and
// one that has ended makes room. A proxy and a program on this machine have no limit for their address.
func TestConnectionsAreLimited(t *testing.T) {
	t.Parallel()
	l := New(Config{Connections: 6})
	_, accept, refuse := accepting(t, l, io.Discard)
	first := accept("203.0.113.9:1")
	accept("203.0.113.9:2")
	accept("203.0.113.9:3")
	refuse("203.0.113.9:4")
	require.NoError(t, first.Close())
	first.Close() // counts once
	accept("203.0.113.9:5")
	refuse("203.0.113.9:6")
	accept("[2001:db8::1]:1")
	proxy := accept("10.0.0.1:1")
	accept("127.0.0.1:1")
	refuse("10.0.0.1:2")
	refuse("127.0.0.1:2")
	refuse("[2001:db8::2]:1")
	require.NoError(t, proxy.Close())
	accept("[2001:db8::2]:1")
	require.Equal(t, map[string]uint64{"address_connections": 2, "connections": 3}, counted(l))

	_, accept, _ = accepting(t, New(Config{Connections: 6}), io.Discard)
	for _, peer := range []string{"10.0.0.1:1", "10.0.0.1:2", "10.0.0.1:3", "10.0.0.1:4"} {
		accept(peer)
	}
	accept("127.0.0.1:1")
	accept("127.0.0.1:2")
}

// The log says once a minute that, and why, the node takes no connections.
func TestRefusedConnectionsAreLogged(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		log := new(bytes.Buffer)
		inner, accept, refuse := accepting(t, New(Config{Connections: 2, Log: slog.New(slog.NewTextHandler(log, nil))}), log)
		require.Empty(t, log.String())
		accept("203.0.113.9:1")
		outOfFiles := &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
		for range 3 {
			refuse("203.0.113.9:2")
			inner.peers <- outOfFiles
		}
		accept("127.0.0.1:1")
		for range 3 {
			refuse("127.0.0.1:2")
		}
		said := func(times int) {
			t.Helper()
			lines := log.String()
			for _, text := range []string{"limit=address_connections", "limit=connections", "too many open files"} {
				require.Equal(t, times, strings.Count(lines, text), lines)
			}
			require.Equal(t, 3*times, strings.Count(lines, "--max-connections"), lines)
			require.Equal(t, 3*times, strings.Count(lines, "level=WARN"), lines)
			require.Equal(t, times, strings.Count(lines, "address=203.0.113.9"), lines)
		}
		said(1)
		time.Sleep(time.Minute)
		refuse("203.0.113.9:2")
		inner.peers <- outOfFiles
		refuse("127.0.0.1:2")
		said(2)
	})
}
