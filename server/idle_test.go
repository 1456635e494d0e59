package server_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/servertest"
)

// A connection without a request ends after IdleTimeout. While the node drains, each answer ends its connection, so that
// the client's next request goes to another node.
func TestIdleConnectionsEnd(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t),
		servertest.Config{Server: server.Config{IdleTimeout: 20 * time.Millisecond, RequestTimeout: time.Hour}})
	request := func() (closes bool, rest *bufio.Reader) {
		conn, err := net.Dial("tcp", n.Addr)
		require.NoError(t, err)
		t.Cleanup(func() { conn.Close() })
		require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
		_, err = io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
		require.NoError(t, err)
		rest = bufio.NewReader(conn)
		res, err := http.ReadResponse(rest, nil)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, res.Body)
		require.NoError(t, err)
		require.Equal(t, 200, res.StatusCode)
		return res.Close, rest
	}
	closes, rest := request()
	require.False(t, closes)
	_, err := rest.ReadByte()
	require.ErrorIs(t, err, io.EOF, "the node closes the idle connection")
	n.Server.Drain()
	closes, _ = request()
	require.True(t, closes)
}
