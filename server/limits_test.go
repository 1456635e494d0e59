package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"rankcast/hub"
	"rankcast/ranking/definition"
	"rankcast/ranking/definition/definitiontest"
	"rankcast/ranking/redistest"
	"rankcast/server"
	"rankcast/server/access"
	"rankcast/server/servertest"
)

// The clients of these tests: a proxy on this machine, which the node trusts, reports their addresses.
const phone, laptop = "198.51.100.1", "2001:db8:1:2::3"

// handshake tries to open a WebSocket of a client.
func handshake(t *testing.T, n *servertest.Node, from string) servertest.Answer {
	if from == "" {
		return servertest.Handshake(t, n.Addr) // a program on this machine
	}
	return servertest.Handshake(t, n.Addr, "X-Forwarded-For", from)
}

// requireRoom waits until the node opens a socket for a client with these headers.
func requireRoom(t *testing.T, n *servertest.Node, header ...string) {
	t.Helper()
	redistest.Eventually(t, "the place of a socket that has closed to be free", func() error {
		return servertest.Handshake(t, n.Addr, header...).Is(101)
	})
}

func TestLimitOfRequests(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		n := limited(t, url, access.Config{AddressRequests: 1})
		update := func(from string) servertest.Answer {
			return n.Do("POST", "/v1/boards/b/scores", `{"member":"ana","score":1}`, "X-Forwarded-For", from)
		}
		counted := int64(0)
		a := update(phone)
		for ; a.Status == 200; a = update(phone) { // 20 at once, and those of the time that this takes
			counted++
			require.Less(t, counted, int64(10_000))
		}
		require.GreaterOrEqual(t, counted, int64(20))
		requireLimited(t, n, a, 429, "rate_limited", "address_requests")
		require.Contains(t, a.Body, phone)
		for _, path := range []string{"/", "/v1/boards", "/nowhere"} { // a token may have come in between
			if a := n.Do("GET", path, "", "X-Forwarded-For", phone); a.Status == 429 {
				requireLimited(t, n, a, 429, "rate_limited", "address_requests")
			}
		}
		require.Equal(t, 200, update(laptop).Status, "another client does not notice")
		for range 30 {
			require.Equal(t, 200, n.Do("GET", "/healthz", "").Status, "nor does a program on this machine")
		}
		top, _ := n.Top("b", 1)
		require.Equal(t, counted+1, top[0].Score, "what was refused does not count")
	})
}

func TestLimitOfSockets(t *testing.T) {
	t.Parallel()
	n := limited(t, redistest.Embedded(t), access.Config{AddressSockets: 2, Sockets: 5})
	first := servertest.DialFrom(t, n.Addr, phone)
	servertest.DialFrom(t, n.Addr, phone)
	requireLimited(t, n, handshake(t, n, phone), 429, "limit_reached", "address_sockets")
	servertest.DialFrom(t, n.Addr, laptop)
	servertest.DialFrom(t, n.Addr, "2001:db8:1:2:ffff::9")
	a := handshake(t, n, laptop)
	requireLimited(t, n, a, 429, "limit_reached", "address_sockets")
	require.Contains(t, a.Body, "2001:db8:1:2::/64")
	servertest.Dial(t, n.Addr)
	requireLimited(t, n, handshake(t, n, "192.0.2.1"), 503, "overloaded", "sockets")
	requireLimited(t, n, handshake(t, n, ""), 503, "overloaded", "sockets")
	first.Subscribe("b", 1) // those that are open go on
	require.NoError(t, first.WS.Close(websocket.StatusNormalClosure, ""))
	requireRoom(t, n, "X-Forwarded-For", phone)
}

// A handshake that fails takes no place, and a page that is closed at once gives its place back.
func TestRefusedHandshakeTakesNoPlace(t *testing.T) {
	t.Parallel()
	n := limited(t, redistest.Embedded(t), access.Config{Sockets: 1, AddressSockets: access.Unlimited})
	for range 3 {
		servertest.RequireProblem(t, n.Do("GET", "/v1/live", ""), 400, "invalid_request", "")
	}
	for range 3 {
		requireRoom(t, n, "Origin", "https://evil.example") // opens, and is closed with 4503
		requireRoom(t, n)
	}
}

func TestLimitOfHandshakes(t *testing.T) {
	t.Parallel()
	n := limited(t, redistest.Embedded(t), access.Config{Handshakes: 2})
	open := func(from string) (refused servertest.Answer) { // five at once of an address, ten of all, and those of the time that this takes
		for range 10_000 {
			if a := handshake(t, n, from); a.Status != 101 {
				return a
			}
		}
		require.Fail(t, "the node opens any number of sockets")
		return refused
	}
	requireLimited(t, n, open(phone), 429, "rate_limited", "address_handshakes")
	requireLimited(t, n, open(""), 503, "overloaded", "handshakes")
}

func TestLimitOfSubscriptions(t *testing.T) {
	t.Parallel()
	n := limited(t, redistest.Embedded(t), access.Config{Subscriptions: 1})
	n.Require(201, "PUT", "/v1/events/gift", `{"updates":[{"board":"b","member":"{user}","score":1}]}`)
	s := servertest.DialFrom(t, n.Addr, phone)
	s.Subscribe("b", 1)
	s.Send(`{"type":"subscribe","id":7,"board":"c"}`)
	m := s.Next("error")
	require.Equal(t, []string{"7", "limit_reached", "board"}, []string{string(m.ID), m.Code, m.Field})
	s.Subscribe("b", 2) // replaces the first
	s.Send(`{"type":"subscribe","id":8,"feed":"gift"}`)
	s.Next("ok")
	s.Send(`{"type":"subscribe","id":9,"feed":"periods"}`)
	m = s.Next("error")
	require.Equal(t, []string{"9", "limit_reached", "feed"}, []string{string(m.ID), m.Code, m.Field})
	s.Send(`{"type":"unsubscribe","id":10,"board":"b"}`)
	s.Next("ok")
	s.Subscribe("c", 1)
	require.Equal(t, uint64(2), maps.Collect(n.Server.Limited())["subscriptions"])
	require.EqualValues(t, 2, n.Metric(`rankcast_limited_total{limit="subscriptions"}`))
}

// A node that watches all boards that it may refuses another one, and goes on showing those to everybody.
func TestLimitOfWatchedBoards(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Hub: hub.Config{MaxBoards: 1}}, definition.Board{Name: "b"},
		definition.Board{Name: "c"})
	first, second := servertest.Dial(t, n.Addr), servertest.Dial(t, n.Addr)
	first.Subscribe("b", 1)
	second.Send(`{"type":"subscribe","id":7,"board":"c"}`)
	m := second.Next("error")
	require.Equal(t, []string{"7", "overloaded", "board"}, []string{string(m.ID), m.Code, m.Field})
	require.Equal(t, uint64(1), maps.Collect(n.Server.Limited())["watched_boards"])
	second.Subscribe("b", 1)
	servertest.RequireProblem(t, n.Do("GET", "/v1/boards/c/live", ""), 503, "overloaded", "board")
	servertest.OpenStream(t, n.Addr, "/v1/boards/b/live").Next("snapshot")
}

// The clients of one address are the first watchers of half of the boards at most.
func TestLimitOfWatchedBoardsOfAnAddress(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{
		Hub: hub.Config{MaxBoards: 3}, Server: server.Config{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}},
	}, definition.Board{Name: "b"}, definition.Board{Name: "c"})
	first, second := servertest.DialFrom(t, n.Addr, phone), servertest.DialFrom(t, n.Addr, phone)
	first.Subscribe("b", 1)
	second.Send(`{"type":"subscribe","id":7,"board":"c"}`)
	m := second.Next("error")
	require.Equal(t, []string{"7", "limit_reached", "board"}, []string{string(m.ID), m.Code, m.Field})
	require.Equal(t, uint64(1), maps.Collect(n.Server.Limited())["address_boards"])
	servertest.DialFrom(t, n.Addr, laptop).Subscribe("c", 1)
	second.Subscribe("c", 1)
}

// A stream counts as a socket, and no longer than it lasts.
func TestStreamsCountAsSockets(t *testing.T) {
	t.Parallel()
	n := limited(t, redistest.Embedded(t), access.Config{AddressSockets: 1, Sockets: 2})
	s := servertest.OpenStream(t, n.Addr, "/v1/boards/b/live", "X-Forwarded-For: "+phone)
	s.Next("snapshot")
	requireLimited(t, n, n.Do("GET", "/v1/boards/b/live", "", "X-Forwarded-For", phone), 429, "limit_reached", "address_sockets")
	requireLimited(t, n, handshake(t, n, phone), 429, "limit_reached", "address_sockets")
	other := servertest.OpenStream(t, n.Addr, "/v1/boards/b/live", "X-Forwarded-For: "+laptop)
	requireLimited(t, n, n.Do("GET", "/v1/boards/b/live", ""), 503, "overloaded", "sockets")
	s.Close()
	other.Close()
	requireRoom(t, n, "X-Forwarded-For", phone)
}

// A message above the rate is refused with its id and has no effect. A socket that goes on is closed with
// 1008, after a limited number of refusals.
func TestLimitOfMessages(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		n := limited(t, url, access.Config{Messages: 1})
		s := servertest.Dial(t, n.Addr)
		go func() {
			for i := range 100_000 {
				if s.WS.Write(context.Background(), websocket.MessageText,
					fmt.Appendf(nil, `{"type":"update","id":%d,"board":"b","update":{"member":"ana","score":1}}`, i)) != nil {
					return
				}
			}
		}()
		var results, refusals, last int64
		for {
			b, err := s.Raw()
			if err != nil {
				var closed websocket.CloseError
				require.ErrorAs(t, err, &closed)
				require.Equal(t, websocket.StatusPolicyViolation, closed.Code)
				require.Contains(t, closed.Reason, "too many messages")
				break
			}
			var m struct {
				Type, Code string
				ID         int64
			}
			require.NoError(t, json.Unmarshal(b, &m))
			if m.Type == "status" { // the node has just started
				continue
			}
			require.Equal(t, last, m.ID, "each message has its answer")
			last++
			if m.Type == "result" {
				results++
			} else {
				require.Equal(t, "rate_limited", m.Code, "%s", b)
				refusals++
			}
		}
		require.GreaterOrEqual(t, results, int64(10))
		require.GreaterOrEqual(t, refusals, int64(10))
		top, _ := n.Top("b", 1)
		require.Equal(t, results, top[0].Score, "what was refused does not count")
		require.Equal(t, uint64(refusals)+1, maps.Collect(n.Server.Limited())["messages"])
	})
}

// A client cannot choose its address: without --trusted-proxies the header means nothing.
func TestClientCannotChooseItsAddress(t *testing.T) {
	t.Parallel()
	n := servertest.Start(t, redistest.Embedded(t), servertest.Config{Server: server.Config{
		Limits: access.Config{AddressSockets: 1}, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
	}}, definition.Board{Name: "b"})
	for range 3 { // else the second one would be refused
		servertest.DialFrom(t, n.Addr, phone)
	}
	n = limited(t, redistest.Embedded(t), access.Config{AddressSockets: 1})
	servertest.DialFrom(t, n.Addr, phone)
	for i := range 3 {
		requireLimited(t, n, handshake(t, n, fmt.Sprintf("192.0.2.%d, %s", i, phone)), 429, "limit_reached", "address_sockets")
	}
}

// A client that sends too much waits for each refusal, so that it cannot have the node send them without end.
func TestRefusalsComeSlowly(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		s := server.New(nil, nil, server.Config{Limits: access.Config{AddressRequests: 1}})
		began := time.Now()
		get := func() int {
			r := httptest.NewRequest("GET", "/healthz", nil)
			r.RemoteAddr = phone + ":4000"
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			return w.Code
		}
		for range 20 { // those of 20 s
			require.Equal(t, 200, get())
		}
		require.Equal(t, began, time.Now())
		require.Equal(t, 429, get())
		require.Equal(t, time.Second, time.Since(began))
	})
}

// The header of a request has 100 fields at most.
func TestLimitOfHeaderFields(t *testing.T) {
	t.Parallel()
	n := limited(t, redistest.Embedded(t), access.Config{})
	var header []string
	for i := range 101 {
		header = append(header, fmt.Sprintf("X-Field-%d", i), "x")
	}
	servertest.RequireProblem(t, n.Do("GET", "/v1/boards/b/top", "", header...), 413, "too_large", "header")
	n.Require(200, "GET", "/v1/boards/b/top", "", header[:100]...)

	conn := dialShrunk(t, n, phone, "GET /v1/boards/b/top HTTP/1.1\r\n"+strings.TrimSuffix(strings.Repeat("X-Field: x\r\n", 101), "\r\n"))
	a, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	require.Equal(t, 413, a.StatusCode, "a field that comes again counts again")
	require.True(t, a.Close, "the next header would cost as much")
}

// idle opens a connection, and leaves it open after one request. It returns an error if the node closes it.
func idle(t *testing.T, n *servertest.Node) (net.Conn, error) {
	conn := servertest.Connect(t, n.Addr)
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

// heldExport is a node whose Redis does not answer what is about the board b, and an export of it that waits. The
// headers are of the export. end makes it fail.
func heldExport(t *testing.T, limits access.Config, header ...string) (n *servertest.Node, end func() servertest.Answer) {
	proxy := redistest.StartProxy(t, redistest.Start(t).URL())
	n = limited(t, proxy.URL(), limits)
	n.Require(200, "POST", "/v1/boards/b/scores", `{"member":"ana","score":1}`)
	n.Require(200, "GET", "/v1/boards/b/export", "", header...)
	proxy.Hold("{" + definitiontest.NameOf("b", "ana") + "}")
	first := make(chan servertest.Answer, 1)
	go func() {
		a, _ := servertest.Try(t, "GET", "http://"+n.Addr+"/v1/boards/b/export", "", header...)
		first <- a
	}()
	redistest.Until(t, "the export to wait for Redis", func() bool { return proxy.Held() > 0 })
	return n, func() servertest.Answer {
		proxy.Hold()
		proxy.Cut()
		return redistest.Receive(t, "a value from first", first)
	}
}

// An export keeps its place until it ends, also by an error. One address gets half of the exports of a node.
func TestLimitOfExports(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		exports     int
		header      []string
		status      int
		code, limit string
	}{
		{1, nil, 503, "overloaded", "exports"}, {2, []string{"X-Forwarded-For", phone}, 429, "limit_reached", "address_exports"},
	} {
		n, end := heldExport(t, access.Config{Exports: c.exports}, c.header...)
		export := func() servertest.Answer { return n.Do("GET", "/v1/boards/b/export", "", c.header...) }
		requireLimited(t, n, export(), c.status, c.code, c.limit)
		servertest.RequireProblem(t, n.Do("GET", "/v1/boards/b/export?format=xml", ""), 400, "invalid_request", "format")
		require.Equal(t, 503, end().Status, "its connection to Redis has failed")
		redistest.Eventually(t, "the place of an export that has ended to be free", func() error { return export().Is(200) })
	}
}
