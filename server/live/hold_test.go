package live

import (
	"context"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/server/access"
)

// A client that the node holds back is not silent meanwhile: its messages, and its pongs, wait to be read.
func TestHeldClientIsNotSilent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := New(nil, nil, nil, Config{})
		near, client := net.Pipe()
		defer client.Close()
		ss := &session{sessions: s, socket: newSocket(near, nil, time.Minute, &s.running, slotOf(t, access.New(access.Config{})), noMetrics())}
		time.Sleep(24 * time.Second)
		ss.socket.hold(5 * time.Second)
		time.Sleep(time.Second)
		require.Equal(t, time.Second, ss.socket.silence(time.Now()))
	})
}

// A node that stops waits for nobody that it holds back.
func TestStopEndsHold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := New(nil, nil, nil, Config{})
		near, client := net.Pipe()
		defer client.Close()
		ss := &session{sessions: s, socket: newSocket(near, nil, time.Minute, &s.running, slotOf(t, access.New(access.Config{})), noMetrics())}
		ss.socket.stopped = s.stopped
		began := time.Now()
		var holding sync.WaitGroup
		holding.Go(func() { ss.socket.hold(5 * time.Second) })
		time.Sleep(time.Second)
		s.Stop(context.Background())
		holding.Wait()
		require.Equal(t, time.Second, time.Since(began))
	})
}
