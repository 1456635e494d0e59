package live

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"rankcast/ranking/redistest"
	"rankcast/server/access"

	"github.com/stretchr/testify/require"
)

// keptAlive are Sessions that ping after 25 s. stop waits until all of their clients have gone.
func keptAlive(t *testing.T) (s *Sessions, stop func()) {
	s = New(nil, nil, nil, Config{PingAfter: 25 * time.Second, Guard: access.NewOpenGuard()})
	ctx, cancel := context.WithCancel(t.Context())
	var keeping sync.WaitGroup
	keeping.Go(func() { s.KeepAlive(ctx) })
	return s, func() {
		cancel()
		redistest.Wait(t, "the end of keeping", keeping.Wait)
		redistest.Wait(t, "the end of s.running", s.running.Wait)
	}
}

// silentClient is a client whose session does nothing but read.
func silentClient(t *testing.T, s *Sessions) (so *socket, client net.Conn) {
	near, client := net.Pipe()
	so = newSocket(near, nil, time.Minute, &s.running, slotOf(t, access.New(access.Config{})), noMetrics())
	ss := &session{sessions: s, socket: so}
	ss.caller.Store(s.cfg.Guard.Anonymous())
	s.mu.Lock()
	s.clients[ss] = struct{}{}
	s.mu.Unlock()
	s.running.Go(func() {
		io.Copy(io.Discard, readerOf(so.Read))
		so.Close()
	})
	return so, client
}

type readerOf func([]byte) (int, error)

func (r readerOf) Read(b []byte) (int, error) { return r(b) }

// The node pings a client after 25 s of silence, and closes the connection 10 s later unless the client
// has sent anything.
func TestSilentClientsArePinged(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		s, stop := keptAlive(t)
		_, dead := silentClient(t, s)
		_, answers := silentClient(t, s)
		_, talks := silentClient(t, s)
		began := time.Now()

		var clients sync.WaitGroup
		clients.Go(func() {
			ping := make([]byte, 2)
			_, err := io.ReadFull(dead, ping)
			require.NoError(t, err)
			require.Equal(t, pingFrame, ping)
			require.Equal(t, 25*time.Second, time.Since(began))
			_, err = dead.Read(ping)
			require.ErrorIs(t, err, io.EOF)
			require.Equal(t, 35*time.Second, time.Since(began))
		})
		clients.Go(func() {
			for round := range 4 { // a pong is heard, so the next silence begins there
				_, err := io.ReadFull(answers, make([]byte, 2))
				require.NoError(t, err)
				require.Equal(t, time.Duration(round)*34*time.Second+25*time.Second, time.Since(began))
				time.Sleep(9 * time.Second)
				_, err = answers.Write([]byte{0x8a, 0x80, 0, 0, 0, 0})
				require.NoError(t, err)
			}
			answers.Close()
		})
		clients.Go(func() {
			for range 10 {
				time.Sleep(24 * time.Second)
				_, err := talks.Write([]byte{0x8a, 0x80, 0, 0, 0, 0}) // also nobody reads a ping here
				require.NoError(t, err)
			}
			talks.Close()
		})
		clients.Wait()
		stop()
	})
}

// A client that is accepting a large frame slowly is not taken for silent: the write timeout is for it.
func TestBusySocketIsNotPinged(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		s, stop := keptAlive(t)
		so, client := silentClient(t, s)
		so.mu.Lock() // a write is under way
		time.Sleep(10 * time.Minute)
		so.mu.Unlock()
		ping := make([]byte, 2)
		_, err := io.ReadFull(client, ping)
		require.NoError(t, err, "the connection is open")
		require.Equal(t, pingFrame, ping, "and pinged once it is free")
		client.Close()
		stop()
	})
}
