package redisconn

import (
	"context"
	"net"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// When a dial leads to another master, the connections to the former one end, and those to the new one stay.
func TestMasterSwitch(t *testing.T) {
	t.Parallel()
	var masters [2]net.Listener
	for i := range masters {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		t.Cleanup(func() { l.Close() })
		masters[i] = l
	}
	s := new(masterSwitch)
	at := masters[0]
	dial := s.DialHook(func(context.Context, string, string) (net.Conn, error) { return net.Dial("tcp", at.Addr().String()) })
	connect := func() net.Conn {
		conn, err := dial(t.Context(), "tcp", "the name of the master")
		require.NoError(t, err)
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	isOpen := func(conn net.Conn) bool {
		_, err := conn.Write([]byte("x"))
		return err == nil
	}
	first, second := connect(), connect()
	require.Implements(t, (*syscall.Conn)(nil), first, "the pool looks at its socket")
	require.NoError(t, second.Close())
	require.Len(t, s.conns, 1, "it forgets what is closed")
	require.True(t, isOpen(first))

	at = masters[1]
	third := connect()
	require.False(t, isOpen(first))
	require.True(t, isOpen(third))
	fourth := connect()
	require.True(t, isOpen(third))
	require.True(t, isOpen(fourth))
	require.Len(t, s.conns, 2)

	// A dial to the former master, which began before the switch, ends after it.
	late := s.DialHook(func(context.Context, string, string) (net.Conn, error) {
		at = masters[0]
		connect()
		return net.Dial("tcp", masters[1].Addr().String())
	})
	_, err := late(t.Context(), "tcp", "")
	require.ErrorIs(t, err, errFormerMaster)
	require.False(t, isOpen(third), "the connection that came between has found another master")
	require.Len(t, s.conns, 1)

	piped := s.DialHook(func(context.Context, string, string) (net.Conn, error) { end, _ := net.Pipe(); return end, nil })
	var conn net.Conn
	conn, err = piped(t.Context(), "tcp", "")
	require.NoError(t, err)
	defer conn.Close()
	_, looks := conn.(syscall.Conn)
	require.False(t, looks, "as below TLS")
}

// A host with several addresses is one master, whichever of them a dial finds.
func TestMasterWithSeveralAddresses(t *testing.T) {
	t.Parallel()
	var addresses []net.Listener
	for range 2 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		t.Cleanup(func() { l.Close() })
		addresses = append(addresses, l)
	}
	s := new(masterSwitch)
	for i := range 4 {
		dial := s.DialHook(dialByName(func(context.Context, string, string) (net.Conn, error) {
			return net.Dial("tcp", addresses[i%2].Addr().String())
		}))
		conn, err := dial(t.Context(), "tcp", "redis.internal:6379")
		require.NoError(t, err)
		defer conn.Close()
		require.Equal(t, "redis.internal:6379", conn.RemoteAddr().String())
		require.Implements(t, (*syscall.Conn)(nil), conn, "the pool looks at its socket")
	}
	require.Len(t, s.conns, 4)
}
