package access

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/time/rate"
)

// filesLogInterval is the time between two lines of the log about a process that may open no more files.
const filesLogInterval = time.Minute

// Listener returns a listener that accepts connections within the limits of the node and of an address.
// It closes all others at once: a connection that is idle, or that has not sent a request yet, takes a file
// as any other does. A trusted proxy, and a program on this machine, has no limit for its address.
//
// log gets a line when the process may open no more files, once a minute at most. The caller calls Accept from one goroutine at a time.
func (l *Limits) Listener(inner net.Listener, addresses *Addresses, log *slog.Logger) net.Listener {
	return &listener{Listener: inner, limits: l, addresses: addresses, log: log, logFiles: rate.Sometimes{Interval: filesLogInterval}}
}

type listener struct {
	net.Listener
	limits    *Limits
	addresses *Addresses
	log       *slog.Logger

	logFiles rate.Sometimes
}

// Accept waits for a connection within the limits.
func (l *listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			// The HTTP server tries again after a pause, and does not report that to operators.
			if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
				l.logFiles.Do(func() {
					l.log.Warn("the node may open no more files, so new connections wait: raise the limit of open files, or lower --max-connections",
						"error", err)
				})
			}
			return nil, err
		}
		from := l.addresses.ofPeer(conn.RemoteAddr().String())
		if !l.admits(from) {
			conn.Close()
			continue
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			return &limitedTCP{TCPConn: tcp, place: place{limits: l.limits, from: from}}, nil
		}
		return &limitedConn{Conn: conn, place: place{limits: l.limits, from: from}}, nil
	}
}

// admits takes a place for a connection of an address if there is one.
func (l *listener) admits(from Address) bool {
	reached, most, ok := l.limits.connections.take(from)
	if !ok {
		l.limits.refused.add(reached, "address", from, "connections", most)
	}
	return ok
}

// ofPeer is the address of a peer for the limit of connections. A trusted proxy is exempt: it has the
// connections of all its clients.
func (a *Addresses) ofPeer(remote string) Address {
	peer, ok := parseNode(remote)
	if !ok || a.isTrusted(peer) {
		return Address{}
	}
	return newAddress(peer)
}

// atOnce is the time within which a read has not waited for its client.
const atOnce = 50 * time.Microsecond

// readPace lets other goroutines run between the reads of a connection that always has bytes ready. Its goroutine
// would otherwise run for 10 ms each time, and a hundred such connections would keep others waiting for a second.
// One goroutine at a time reads.
type readPace struct{ ready bool } // the last read found bytes at once

func (p *readPace) read(from io.Reader, b []byte) (int, error) {
	if p.ready {
		runtime.Gosched()
	}
	began := time.Now()
	n, err := from.Read(b)
	p.ready = time.Since(began) <= atOnce
	return n, err
}

// place is the place of a connection among those of its address, and of the node.
type place struct {
	limits   *Limits
	from     Address
	released atomic.Bool
}

// release gives the place back. HTTP servers close a connection more than once.
func (p *place) release() {
	if p.released.CompareAndSwap(false, true) {
		p.limits.connections.release(p.from)
	}
}

// limitedTCP keeps the methods of a TCP connection that others look for, such as SyscallConn.
type limitedTCP struct {
	*net.TCPConn
	place place
	pace  readPace
}

func (c *limitedTCP) Read(b []byte) (int, error) {
	return c.pace.read(c.TCPConn, b)
}

func (c *limitedTCP) Close() error {
	defer c.place.release() // the file is free by then
	return c.TCPConn.Close()
}

type limitedConn struct {
	net.Conn
	place place
	pace  readPace
}

func (c *limitedConn) Read(b []byte) (int, error) {
	return c.pace.read(c.Conn, b)
}

func (c *limitedConn) Close() error {
	defer c.place.release()
	return c.Conn.Close()
}
