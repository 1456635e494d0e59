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

// pingFrame is a ping without data.
var pingFrame = []byte{finalBit | opPing, 0}

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
