package live

import (
	"bytes"
	"crypto/tls"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub"
	"rankcast/ranking/redistest"
	"rankcast/server/access"
	"rankcast/server/certificate/certificatetest"
)

// tlsOver is a TLS connection over the two ends of another.
func tlsOver(t *testing.T, server, client net.Conn) (*tls.Conn, *tls.Conn) {
	own := certificatetest.Valid(t)
	pair, err := tls.X509KeyPair(own.Cert, own.Key)
	require.NoError(t, err)
	trust := certificatetest.Trust(own)
	trust.ServerName = "localhost"
	there, here := tls.Server(server, &tls.Config{Certificates: []tls.Certificate{pair}, SessionTicketsDisabled: true}),
		tls.Client(client, trust)
	var shaking sync.WaitGroup
	shaking.Go(func() { there.Handshake() })
	require.NoError(t, here.Handshake())
	redistest.Wait(t, "the end of shaking", shaking.Wait)
	return there, here
}

// After a write that has timed out, a TLS connection is broken. The socket closes it at once, and does not wait
// until a client that accepts nothing takes the last message of TLS.
func TestStalledTLSConnectionClosesAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, client := net.Pipe() // holds nothing
		defer client.Close()
		conn, _ := tlsOver(t, server, client)
		const timeout = 3 * time.Second
		running := new(sync.WaitGroup)
		s := newSocket(conn, nil, timeout, running, slotOf(t, access.New(access.Config{})), noMetrics())
		began := time.Now()
		require.True(t, s.Send(hub.NewFrame([]byte(`{"type":"pong"}`)), time.Time{}))
		running.Wait()
		require.Equal(t, timeout, time.Since(began))
		_, err := server.Write([]byte{1})
		require.Error(t, err, "want a closed connection")
	})
}

// A silent client whose connection is full does not hold up the goroutine that closes it.
func TestFullTLSConnectionClosesAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, client := net.Pipe()
		defer client.Close()
		conn, _ := tlsOver(t, server, client)
		s := newSocket(conn, nil, time.Minute, new(sync.WaitGroup), slotOf(t, access.New(access.Config{})), noMetrics())
		began := time.Now()
		s.Close()
		require.Zero(t, time.Since(began))
	})
}

// Frames of a TLS connection are encrypted, and whole. The options of the system reach the connection below.
func TestFramesOverTLS(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	defer client.Close()
	server, err := l.Accept()
	require.NoError(t, err)
	conn, over := tlsOver(t, server, client)
	require.NotNil(t, rawConn(ConnContext(t.Context(), conn)))

	running := new(sync.WaitGroup)
	s := newSocket(conn, nil, time.Minute, running, slotOf(t, access.New(access.Config{})), noMetrics())
	defer running.Wait()
	defer s.Close()
	require.Nil(t, s.raw)
	f := hub.NewFrame(bytes.Repeat([]byte("x"), 5*writeChunk))
	want := wire(f)
	require.True(t, s.Send(f, time.Time{}))
	got := make([]byte, len(want))
	require.NoError(t, over.SetReadDeadline(time.Now().Add(time.Minute)))
	for n := 0; n < len(got); {
		read, err := over.Read(got[n:])
		require.NoError(t, err)
		n += read
	}
	require.Equal(t, want, got)
	redistest.Eventually(t, "room for the next frame", func() error {
		if !s.Free() {
			return net.ErrClosed
		}
		return nil
	})
}
