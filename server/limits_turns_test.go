package server_test

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access"
	"rankcast/server/servertest"
)

// Every write gives its turn back, however it ends: on a node that lets one write through at a time, none of
// these makes a later one wait in vain.
func TestEveryWriteGivesItsTurnBack(t *testing.T) {
	t.Parallel()
	n := limited(t, redistest.Embedded(t), access.Config{Requests: 1})
	s := servertest.DialFrom(t, n.Addr, phone)
	for range 3 {
		for _, w := range []struct{ method, path, body, contentType string }{
			{"POST", "/v1/boards/b/scores", `{"member":"m","score":1}`, ""},
			{"POST", "/v1/boards/b/scores", `{"updates":[{"member":"m","score":1},{"member":"n","score":1}]}`, ""},
			{"POST", "/v1/boards/b/scores", `{"member":`, ""},
			{"POST", "/v1/boards/b/scores", `{"member":"` + strings.Repeat("m", 1<<20) + `"}`, ""},
			{"POST", "/v1/boards/nope/scores", `{"member":"m","score":1}`, ""},
			{"POST", "/v1/boards/b/import", "{\"member\":\"i\",\"score\":1}\n", "application/x-ndjson"},
			{"POST", "/v1/boards/b/import", "nonsense\n", "application/x-ndjson"},
			{"PUT", "/v1/members/user/m", `{"name":"Mia"}`, ""},
			{"PUT", "/v1/boards/b/hidden/m", `{}`, ""},
			{"DELETE", "/v1/boards/b/hidden/m", "", ""},
			{"DELETE", "/v1/boards/nope", "", ""},
		} {
			contentType := w.contentType
			if contentType == "" {
				contentType = "application/json"
			}
			a := n.Do(w.method, w.path, w.body, "X-Forwarded-For", phone, "Content-Type", contentType)
			require.NotEqual(t, 503, a.Status, "%s %s", w.method, w.path)
		}
		s.Send(`{"type":"update","id":1,"board":"b","update":{"member":"s","score":1}}`)
		s.Next("result")
		s.Send(`{"type":"update","id":1,"board":"nope","update":{"member":"s","score":1}}`)
		s.Next("error")
		n.Require(200, "GET", "/v1/boards/b/top", "", "X-Forwarded-For", phone)
	}
	require.Zero(t, maps.Collect(n.Server.Limited())["requests"])
}

// While the writes of one address wait for Redis, the write of another address does not wait for them. What has
// waited for too long is refused.
func TestWritesOfAnAddressDoNotHoldUpAnother(t *testing.T) {
	t.Parallel()
	proxy := redistest.StartProxy(t, redistest.Start(t).URL())
	n := limited(t, proxy.URL(), access.Config{Requests: 2})
	proxy.Hold(`"slow"`, "slow")
	var slow sync.WaitGroup
	for i := range 3 {
		slow.Go(func() {
			n.Do("POST", "/v1/boards/c/scores", fmt.Sprintf(`{"member":"slow%d","score":1}`, i), "X-Forwarded-For", phone)
		})
	}
	redistest.Until(t, "a write of the address to be refused", func() bool { return maps.Collect(n.Server.Limited())["requests"] > 0 })
	require.Equal(t, 1, proxy.Held())
	// Not a score: all scores share one connection to Redis, and that one is silent.
	n.Require(201, "PUT", "/v1/members/user/m", `{"name":"Mia"}`, "X-Forwarded-For", laptop)
	proxy.Hold()
	proxy.Cut()
	redistest.Wait(t, "the end of slow", slow.Wait)
}

// What lasts has no turn: streams of an address do not keep it from reading.
func TestStreamsHaveNoTurn(t *testing.T) {
	t.Parallel()
	n := limited(t, redistest.Embedded(t), access.Config{Requests: 2})
	for range 3 {
		servertest.OpenStream(t, n.Addr, "/v1/boards/b/live", "X-Forwarded-For: "+phone).Next("snapshot")
	}
	n.Require(200, "GET", "/v1/boards/b/top", "", "X-Forwarded-For", phone)
	n.Require(200, "GET", "/v1/boards/b/export", "", "X-Forwarded-For", phone)
}

// A connection without a request ends after IdleTimeout. While the node drains, each answer ends its connection, so that
// the client's next request goes to another node.
func TestIdleConnectionsEnd(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t),
		servertest.Config{Server: server.Config{IdleTimeout: 20 * time.Millisecond, RequestTimeout: time.Hour}})
	request := func() (closes bool, rest *bufio.Reader) {
		conn := servertest.Connect(t, n.Addr)
		_, err := io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
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
