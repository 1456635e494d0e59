package live

import (
	"context"
	"sync"
	"time"
)

const (
	// pongTimeout is how long a client that was pinged has to send anything.
	pongTimeout = 10 * time.Second
	// keepAliveInterval is the time between two looks for silent clients.
	keepAliveInterval = time.Second // also the precision at which rights end
)

// The first bytes of control frames (RFC 6455, sections 5.2 and 5.5), and the most bytes of their data.
const (
	pingHead, pongHead = 0x89, 0x8a
	maxControl         = 125
)

// pingFrame is a ping without data.
var pingFrame = []byte{pingHead, 0}

// controlFrame returns the data of the ping or pong with which the bytes of a client begin, and its size with the head; 0 where they
// begin with something else, or with a part of it. It unmasks the data in their place.
func controlFrame(b []byte) (ping bool, data []byte, size int) {
	const masked, mask = 0x80, 4
	if len(b) < 2 || b[0] != pingHead && b[0] != pongHead || b[1] < masked || b[1] > masked+maxControl {
		return false, nil, 0
	}
	if size = 2 + mask + int(b[1]-masked); len(b) < size {
		return false, nil, 0
	}
	data = b[2+mask : size : size]
	for i := range data {
		data[i] ^= b[2+i%mask]
	}
	return b[0] == pingHead, data, size
}

// KeepAlive pings silent clients and closes the connections of those that stay silent, until ctx ends.
// A connection whose other end has vanished is found in no other way. An event stream finds that by its own heartbeats
// (stream.go). KeepAlive also ends what clients have lost the right to, within about a second.
func (s *Sessions) KeepAlive(ctx context.Context) {
	var keeping sync.WaitGroup
	defer keeping.Wait()
	if !s.cfg.Guard.Open() {
		keeping.Go(func() { s.keepRights(ctx) }) // beside the pings: it may wait for the hub
	}
	tick := time.NewTicker(keepAliveInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			for _, c := range s.due(now) {
				c.check(now)
			}
		}
	}
}

// due returns the clients for which check has something to do.
func (s *Sessions) due(now time.Time) (list []client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.clients {
		if c.isDue(now) {
			list = append(list, c)
		}
	}
	return list
}

// silence is the time since the client last sent anything. A step of the machine's clock does not change
// it.
func (s *socket) silence(now time.Time) time.Duration {
	return now.Sub(s.made) - time.Duration(s.lastRead.Load())
}

// keepAlive pings a silent client, and closes the connection if the client stays silent after that. It
// does not wait for the client. A client that is busy accepting a frame is left to the write timeout.
func (s *socket) keepAlive(now time.Time) {
	since := now.Sub(s.made)
	if s.pingedAt > time.Duration(s.lastRead.Load()) {
		if since-s.pingedAt >= pongTimeout {
			s.Close()
		}
		return
	}
	if !s.mu.TryLock() {
		return
	}
	s.pingedAt = since
	if rest := s.tryWrite(pingFrame); len(rest) > 0 {
		s.running.Go(func() { s.write(rest); s.unlock() }) // it now holds mu
	} else {
		s.unlock()
	}
}
