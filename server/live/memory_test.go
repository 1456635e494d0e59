package live

import (
	"bytes"
	"io"
	"maps"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub"
	"rankcast/server/access"
)

// When too much waits on the node, the socket that has waited longest is closed at once, and the others go
// on: also the one whose frame is one too many.
func TestLongestWaitIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limits := access.New(access.Config{WaitingBytes: 250_000})
		var running sync.WaitGroup
		var clients []net.Conn
		var sockets []*socket
		f := hub.NewFrame(bytes.Repeat([]byte("x"), 100_000))
		began := time.Now()
		for range 3 {
			near, client := net.Pipe()
			s := newSocket(near, nil, time.Minute, &running, slotOf(t, limits), noMetrics())
			require.True(t, s.Send(f, time.Time{}))
			clients, sockets = append(clients, client), append(sockets, s)
			time.Sleep(time.Second)
			io.ReadFull(client, make([]byte, 5000)) // the write has begun
			synctest.Wait()
		}
		_, err := clients[0].Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
		require.True(t, sockets[0].Free(), "a broken connection drops frames")
		require.Equal(t, 3*time.Second, time.Since(began))
		require.EqualValues(t, 2*f.Size(), limits.Waiting())
		for _, client := range clients[1:] {
			got := make([]byte, f.Size()-5000)
			_, err := io.ReadFull(client, got)
			require.NoError(t, err)
			require.Equal(t, wire(f)[5000:], got)
			client.Close()
		}
		running.Wait()
		require.Zero(t, limits.Waiting(), "what was sent or dropped does not wait")
		require.EqualValues(t, 1, maps.Collect(limits.Counts())["waiting_bytes"])
	})
}

// A frame that is larger than all that may wait ends the socket that waits for it.
func TestFrameLargerThanTheLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limits := access.New(access.Config{WaitingBytes: 1000})
		near, client := net.Pipe()
		var running sync.WaitGroup
		s := newSocket(near, nil, time.Minute, &running, slotOf(t, limits), noMetrics())
		began := time.Now()
		require.True(t, s.Send(hub.NewFrame(make([]byte, 2000)), time.Time{}))
		running.Wait()
		require.Zero(t, time.Since(began))
		_, err := client.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
		require.Zero(t, limits.Waiting())
	})
}

// writeHook is a connection that calls hook after each write.
type writeHook struct {
	net.Conn
	hook func()
}

func (c writeHook) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.hook()
	return n, err
}

// A socket that the node gives up is closed, even if its client accepts the rest of the frame at that moment.
func TestGivenUpWhileTheLastByteGoes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limits := access.New(access.Config{WaitingBytes: 1000})
		near, client := net.Pipe()
		conn := writeHook{near, func() {
			slotOf(t, limits).Hold(access.Memory{Own: 1000}, func() { t.Error("the newer one is given up") })
		}}
		var running sync.WaitGroup
		s := newSocket(conn, nil, time.Minute, &running, slotOf(t, limits), noMetrics())
		f := hub.NewFrame([]byte("short"))
		require.True(t, s.Send(f, time.Time{}))
		all, err := io.ReadAll(client)
		require.NoError(t, err, "the connection ends")
		require.Equal(t, wire(f), all)
		running.Wait()
	})
}
