package server_test

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access"
	"rankcast/server/servertest"
)

// idle opens a connection, and leaves it open after one request. It returns an error if the node closes it.
func idle(t *testing.T, n *servertest.Node) (net.Conn, error) {
	conn, err := net.Dial("tcp", n.Addr)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(servertest.Patience)))
	fmt.Fprintf(conn, "GET /healthz HTTP/1.1\r\nHost: %s\r\n\r\n", n.Addr)
	a, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(io.Discard, a.Body)
	return conn, err
}

// Idle connections, sockets and streams have places on a node. A connection beyond them is closed at once, the
// others go on, and one that ends makes room.
func TestLimitOfConnections(t *testing.T) {
	t.Parallel()
	log := new(redistest.Log)
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Server: server.Config{
		Limits: access.Config{Connections: 3}, Log: slog.New(slog.NewTextHandler(log, nil)),
	}}, definition.Board{Name: "b"})
	s := servertest.Dial(t, n.Addr)
	servertest.OpenStream(t, n.Addr, "/v1/boards/b/live").Next("snapshot")
	first, err := idle(t, n)
	require.NoError(t, err)
	for range 3 {
		_, err = idle(t, n)
		require.Error(t, err)
	}
	require.EqualValues(t, 3, maps.Collect(n.Server.Limited())["connections"])
	require.Equal(t, 1, strings.Count(log.String(), "--max-connections"), log)
	s.Subscribe("b", 1)

	for range 3 { // the place of a connection that ends is free again, whichever side closes it
		require.NoError(t, first.Close())
		redistest.Eventually(t, "the place of a closed connection to be free", func() error {
			first, err = idle(t, n)
			return err
		})
	}
	s.WS.CloseNow()
	redistest.Eventually(t, "the place of a closed socket to be free", func() error {
		_, err := idle(t, n)
		return err
	})
}
