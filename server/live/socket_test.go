package live

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"rankcast/hub"
	"rankcast/ranking"
	"rankcast/ranking/redistest"
	"rankcast/server/access"
	"rankcast/server/certificate/certificatetest"
)

// connect opens a connection of TCP, and returns both ends.
func connect(t testing.TB) (server, client net.Conn) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	client, err = net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	server, err = l.Accept()
	require.NoError(t, err)
	return server, client
}

// pair is a socket and the client's end of its connection.
func pair(t testing.TB) (s *socket, client net.Conn, running *sync.WaitGroup) {
	conn, client := connect(t)
	running = new(sync.WaitGroup)
	s = newSocket(conn, nil, time.Minute, running, slotOf(t, access.New(access.Config{})), noMetrics())
	t.Cleanup(func() { s.Close(); client.Close(); redistest.Wait(t, "the end of running", running.Wait) })
	return s, client, running
}

// noMetrics counts what no test reads.
func noMetrics() *metrics { return newMetrics(nil, &Sessions{}) }

// slotOf is the place of a socket of this machine.
func slotOf(t testing.TB, limits *access.Limits) *access.SocketSlot {
	slot, err := limits.AcquireSocket(access.Address{})
	require.NoError(t, err)
	return slot
}

// wire is a frame as the client reads it.
func wire(f *hub.Frame) []byte {
	pieces := f.WebSocket()
	return slices.Concat(pieces[:]...)
}

// sendNow sends a frame, as the hub does to a client for whom nothing else is due.
func sendNow(s *socket, f *hub.Frame) bool {
	taken := s.Send(f, time.Time{})
	s.Flush()
	return taken
}

// isFree reports whether a socket takes frames.
func isFree(s *socket) bool {
	defer s.Flush()
	return s.Free()
}

// A frame that fits costs no allocation: it is the same bytes for everyone, and
// the write has nothing of its own.
// It is not parallel: AllocsPerRun counts the allocations of all goroutines.
func TestDeliveryAllocatesNothing(t *testing.T) {
	s, client, _ := pair(t)
	drained := make(chan struct{})
	go func() { io.Copy(io.Discard, client); close(drained) }()
	f := hub.NewFrame(bytes.Repeat([]byte("x"), 600))
	require.Zero(t, testing.AllocsPerRun(500, func() {
		for !sendNow(s, f) {
		}
	}))
	s.Close()
	redistest.Receive(t, "the run to end", drained)
}

// What is turned away or cut in two by a full connection never mixes with
// anything else: the client reads whole frames, in order.
func TestFramesAreNeverCut(t *testing.T) {
	t.Parallel()
	s, client, running := pair(t)
	large := hub.NewFrame(bytes.Repeat([]byte("L"), 300_000))
	taken := 0
	for range 1000 { // the client reads nothing yet, so the connection fills up
		if !sendNow(s, large) {
			break
		}
		taken++
	}
	require.Less(t, taken, 1000)
	require.False(t, isFree(s), "full is full")
	require.False(t, sendNow(s, large))

	small := hub.NewFrame([]byte("small"))
	var replied sync.WaitGroup
	replied.Go(func() { s.reply(small) })                       // the session's way
	replied.Go(func() { s.writeControl([]byte{0x8a, 1, 'p'}) }) // a pong
	want := append(bytes.Repeat(wire(large), taken), 0)
	got := make([]byte, len(want)-1+len(wire(small))+3)
	_, err := io.ReadFull(client, got)
	require.NoError(t, err)
	redistest.Wait(t, "the end of replied", replied.Wait)
	redistest.Wait(t, "the end of running", running.Wait)
	head, tail := got[:len(want)-1], string(got[len(want)-1:])
	require.True(t, bytes.Equal(want[:len(want)-1], head))
	pong := "\x8a\x01p"
	require.Contains(t, []string{string(wire(small)) + pong, pong + string(wire(small))}, tail)
	require.True(t, isFree(s))
	require.True(t, sendNow(s, small))
}

// A frame that is pushed to a client that accepts nothing waits, counts while it waits, and comes whole.
func TestPushDoesNotWait(t *testing.T) {
	t.Parallel()
	s, client, running := pair(t)
	limits := access.New(access.Config{})
	s.slot = slotOf(t, limits)
	large := hub.NewFrame(bytes.Repeat([]byte("L"), 300_000))
	taken := 0
	for sendNow(s, large) {
		taken++
	}
	before, pushed := limits.Waiting(), wire(hub.NewFrame([]byte("lost")))
	s.push(pushed)
	s.push(pushed)
	require.Equal(t, before+2*len(pushed), limits.Waiting())
	got := make([]byte, taken*len(wire(large))+2*len(pushed))
	_, err := io.ReadFull(client, got)
	require.NoError(t, err)
	require.Equal(t, append(pushed, pushed...), got[len(got)-2*len(pushed):])
	redistest.Wait(t, "the end of running", running.Wait)
	require.True(t, isFree(s))
	s.push(pushed)
	_, err = io.ReadFull(client, got[:len(pushed)])
	require.NoError(t, err)
	require.Equal(t, pushed, got[:len(pushed)])
}

// The metrics count what the kernel has as a whole: not what a broken connection drops.
func TestFramesOfABrokenConnectionDoNotCount(t *testing.T) {
	t.Parallel()
	s, _, _ := pair(t)
	f := hub.NewFrame([]byte("frame"))
	require.True(t, sendNow(s, f))
	require.EqualValues(t, f.Size(), testutil.ToFloat64(s.metrics.bytes))
	s.mu.Lock()
	s.fail()
	s.mu.Unlock()
	require.True(t, sendNow(s, f))
	s.reply(f)
	require.EqualValues(t, f.Size(), testutil.ToFloat64(s.metrics.bytes))
	require.EqualValues(t, 1, testutil.ToFloat64(s.metrics.frames[answerKind]))
}

// Nothing follows a close frame, whoever sent it.
func TestNothingFollowsCloseFrame(t *testing.T) {
	t.Parallel()
	for _, end := range []func(s *socket){
		func(s *socket) { s.closeWith(hub.NewFrame([]byte("bye")), 1001) },
		func(s *socket) { s.writeClose([]byte{0x88, 2, 3, 0xe8}) },
	} {
		s, client, _ := pair(t)
		f := hub.NewFrame([]byte("late"))
		end(s)
		require.True(t, sendNow(s, f), "it is taken, and dropped")
		s.reply(f)
		s.writeControl([]byte{0x8a, 1, 'p'})
		s.Close()
		got, err := io.ReadAll(client)
		require.NoError(t, err)
		require.NotContains(t, string(got), "late")
		require.False(t, strings.HasSuffix(string(got), "p"))
	}
}

// A client that accepts a little all the time gets even a large frame; one that
// accepts nothing is given up after the write timeout.
func TestSlowClientKeepsConnection(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		near, client := net.Pipe()
		defer client.Close()
		var running sync.WaitGroup
		s := newSocket(near, nil, 10*time.Second, &running, slotOf(t, access.New(access.Config{})), noMetrics())
		f := hub.NewFrame(bytes.Repeat([]byte("x"), 100_000))
		require.True(t, sendNow(s, f))
		require.False(t, sendNow(s, f), "while one is on its way no other is taken")
		got := make([]byte, len(wire(f)))
		for n := 0; n < len(got); {
			time.Sleep(3 * time.Second) // of simulated time
			k, err := client.Read(got[n:min(n+1000, len(got))])
			require.NoError(t, err)
			n += k
		}
		require.Equal(t, wire(f), got)

		running.Wait()
		require.True(t, sendNow(s, f))
		start := time.Now()
		running.Wait() // nobody reads
		require.Equal(t, 10*time.Second, time.Since(start))
		_, err := client.Read(got)
		require.Error(t, err)
	})
}

// noBoards is a hub's source and feed without any boards.
type noBoards struct{}

func (noBoards) Page(context.Context, string, int64, int) (ranking.Page, error) {
	return ranking.Page{}, nil
}
func (noBoards) Read(context.Context, string, ranking.Query) (ranking.Page, error) {
	return ranking.Page{}, nil
}
func (noBoards) Places(context.Context, string, []ranking.Lookup) (ranking.Places, error) {
	return ranking.Places{}, nil
}
func (noBoards) States(context.Context, []string) []ranking.BoardState { return nil }
func (noBoards) Now() time.Time                                        { return time.Time{} }
func (noBoards) Profiled(string) bool                                  { return false }
func (noBoards) KnownProfile(string, string) (ranking.Profile, bool)   { return ranking.Profile{}, true }
func (noBoards) Profiles(context.Context, string, []string) (map[string]ranking.Profile, error) {
	return nil, nil
}
func (noBoards) ForgetProfile(string, string) {}
func (noBoards) ForgetProfiles()              {}
func (noBoards) Watch(string)                 {}
func (noBoards) Unwatch(string)               {}
func (noBoards) Follow(string)                {}
func (noBoards) Unfollow(string)              {}

// A frame that is turned away because a reply is being written is not lost: the
// client gets the newest version after the reply.
func TestFrameTurnedAwayDuringReplyComesLater(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		h := hub.New(noBoards{}, noBoards{}, hub.Config{})
		ctx, cancel := context.WithCancel(t.Context())
		var running, hubRuns sync.WaitGroup
		hubRuns.Go(func() { h.Run(ctx) })
		near, client := net.Pipe()
		s := newSocket(near, nil, time.Minute, &running, slotOf(t, access.New(access.Config{})), noMetrics())
		c := h.Join(s, nil)
		s.client.Store(c)
		c.Ready()
		read := func() string {
			b := make([]byte, 200)
			n, err := client.Read(b)
			require.NoError(t, err)
			return string(b[:n])
		}
		require.Contains(t, read(), `"stale":true`)
		synctest.Wait()

		running.Go(func() { s.reply(hub.NewFrame([]byte("reply"))) })
		synctest.Wait() // the reply holds the socket, for nobody reads
		h.FeedUp()
		synctest.Wait()
		require.Contains(t, read(), "reply")
		require.Contains(t, read(), `"stale":false`)
		h.Leave(c)
		cancel()
		hubRuns.Wait()
		client.Close()
		running.Wait()
	})
}

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
	redistest.InBubble(t, func(t *testing.T) {
		server, client := net.Pipe() // holds nothing
		defer client.Close()
		conn, _ := tlsOver(t, server, client)
		const timeout = 3 * time.Second
		running := new(sync.WaitGroup)
		s := newSocket(conn, nil, timeout, running, slotOf(t, access.New(access.Config{})), noMetrics())
		began := time.Now()
		require.True(t, sendNow(s, hub.NewFrame([]byte(`{"type":"pong"}`))))
		running.Wait()
		require.Equal(t, timeout, time.Since(began))
		_, err := server.Write([]byte{1})
		require.Error(t, err, "want a closed connection")
	})
}

// A silent client whose connection is full does not hold up the goroutine that closes it.
func TestFullTLSConnectionClosesAtOnce(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
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
	server, client := connect(t)
	defer client.Close()
	conn, over := tlsOver(t, server, client)
	require.NotNil(t, rawConn(ConnContext(t.Context(), conn)))

	running := new(sync.WaitGroup)
	s := newSocket(conn, nil, time.Minute, running, slotOf(t, access.New(access.Config{})), noMetrics())
	defer running.Wait()
	defer s.Close()
	require.Nil(t, s.raw)
	f := hub.NewFrame(bytes.Repeat([]byte("x"), 5*writeChunk))
	want := wire(f)
	require.True(t, sendNow(s, f))
	got := make([]byte, len(want))
	require.NoError(t, over.SetReadDeadline(time.Now().Add(time.Minute)))
	for n := 0; n < len(got); {
		read, err := over.Read(got[n:])
		require.NoError(t, err)
		n += read
	}
	require.Equal(t, want, got)
	redistest.Until(t, "room for the next frame", s.Free)
}

// A client that the node holds back is not silent meanwhile: its messages, and its pongs, wait to be read.
func TestHeldClientIsNotSilent(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
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
	redistest.InBubble(t, func(t *testing.T) {
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
