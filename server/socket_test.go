package server

import (
	"bytes"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/hub"
)

// pair is a socket and the client's end of its connection.
func pair(t testing.TB) (s *socket, client net.Conn, running *sync.WaitGroup) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	client, err = net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	conn, err := l.Accept()
	require.NoError(t, err)
	running = new(sync.WaitGroup)
	s = newSocket(conn, nil, time.Minute, running)
	t.Cleanup(func() { s.Close(); client.Close(); running.Wait() })
	return s, client, running
}

// A frame that fits costs no allocation: it is the same bytes for everyone, and
// the write has nothing of its own.
func TestDeliveryAllocatesNothing(t *testing.T) {
	s, client, _ := pair(t)
	drained := make(chan struct{})
	go func() { io.Copy(io.Discard, client); close(drained) }()
	f := hub.NewFrame(bytes.Repeat([]byte("x"), 600))
	require.Zero(t, testing.AllocsPerRun(500, func() {
		for !s.Send(f) {
		}
	}))
	s.Close()
	<-drained
}

// What is turned away or cut in two by a full connection never mixes with
// anything else: the client reads whole frames, in order.
func TestFramesAreNeverCut(t *testing.T) {
	s, client, running := pair(t)
	large := hub.NewFrame(bytes.Repeat([]byte("L"), 300_000))
	taken := 0
	for range 1000 { // the client reads nothing yet, so the connection fills up
		if !s.Send(large) {
			break
		}
		taken++
	}
	require.Less(t, taken, 1000)
	require.False(t, s.Send(large), "full is full")

	small := hub.NewFrame([]byte("small"))
	var replied sync.WaitGroup
	replied.Go(func() { s.reply(small) })                // the session's way
	replied.Go(func() { s.Write([]byte{0x8a, 1, 'p'}) }) // the library's, a pong
	want := append(bytes.Repeat(large.WebSocket(), taken), 0)
	got := make([]byte, len(want)-1+len(small.WebSocket())+3)
	_, err := io.ReadFull(client, got)
	require.NoError(t, err)
	replied.Wait()
	running.Wait()
	head, tail := got[:len(want)-1], string(got[len(want)-1:])
	require.True(t, bytes.Equal(want[:len(want)-1], head))
	pong := "\x8a\x01p"
	require.Contains(t, []string{string(small.WebSocket()) + pong, pong + string(small.WebSocket())}, tail)
	require.True(t, s.Send(small))
}

// Nothing follows a close frame, whoever sent it.
func TestNothingFollowsACloseFrame(t *testing.T) {
	for _, end := range []func(s *socket){
		func(s *socket) { s.farewell(hub.NewFrame([]byte("bye")), 1001) },
		func(s *socket) { s.Write([]byte{0x88, 2, 3, 0xe8}) },
	} {
		s, client, _ := pair(t)
		f := hub.NewFrame([]byte("late"))
		end(s)
		require.True(t, s.Send(f), "it is taken, and dropped")
		s.reply(f)
		s.Write([]byte{0x8a, 1, 'p'})
		s.Close()
		got, err := io.ReadAll(client)
		require.NoError(t, err)
		require.NotContains(t, string(got), "late")
		require.False(t, strings.HasSuffix(string(got), "p"))
	}
}
