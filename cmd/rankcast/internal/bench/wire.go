package bench

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/coder/websocket"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

const (
	// maxBody bounds an answer, in bytes: that to a batch of 1,000 updates has some 150,000.
	maxBody = 16 << 20
	// maxFrame bounds a message of a socket, in bytes.
	maxFrame = 1 << 20
)

// url is the URL of a path of the target.
func (t *target) url(path string) string {
	scheme := "http"
	if t.tls != nil {
		scheme = "https"
	}
	return scheme + "://" + t.host + t.path + path
}

// httpConn is a connection that sends one request at a time. After an error it dials again for the next request. One
// goroutine may use it at a time. (A http.Transport would take two more goroutines for each connection, which delay a
// request while a crowd of sockets is busy.)
type httpConn struct {
	t      *target
	conn   net.Conn // nil before the first request, and after an error
	from   *bufio.Reader
	to     *bufio.Writer
	forget func() bool // the end of the context closes conn no more
	answer bytes.Buffer
}

// newConn returns a connection for requests, which it opens for the first one.
func (t *target) newConn() *httpConn { return &httpConn{t: t} }

// do sends a request and reads its answer. The answer is valid until the next call. The end of ctx closes a connection
// that do opens.
func (c *httpConn) do(ctx context.Context, method, path string, body []byte) (status int, answer []byte, err error) {
	request, err := http.NewRequest(method, c.t.url(path), bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	c.t.authorize(request.Header)
	if len(body) > 0 {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.conn == nil {
		conn, err := c.t.dialFrom(ctx, 0)
		if err != nil {
			return 0, nil, err
		}
		c.conn, c.from, c.to = conn, bufio.NewReader(conn), bufio.NewWriter(conn)
		c.forget = context.AfterFunc(ctx, func() { conn.Close() })
	}
	if status, err = c.exchange(request); err != nil {
		c.close()
	}
	return status, c.answer.Bytes(), err
}

func (c *httpConn) exchange(request *http.Request) (status int, err error) {
	if err := cmp.Or(request.Write(c.to), c.to.Flush()); err != nil {
		return 0, err
	}
	response, err := http.ReadResponse(c.from, request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	c.answer.Reset()
	_, err = c.answer.ReadFrom(io.LimitReader(response.Body, maxBody))
	return response.StatusCode, err
}

func (c *httpConn) close() {
	if c.conn != nil {
		c.forget()
		c.conn.Close()
		c.conn = nil
	}
}

// socket is one WebSocket to a server. One goroutine may use it at a time; close may be called concurrently.
type socket struct {
	conn    *websocket.Conn
	message bytes.Buffer
}

// openSocket opens the socket of that number. The end of ctx closes the socket.
func (t *target) openSocket(ctx context.Context, number int) (*socket, error) {
	opening, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return t.dialFrom(ctx, number) }
	options := &websocket.DialOptions{HTTPHeader: make(http.Header), Subprotocols: []string{"rankcast.v1"},
		HTTPClient: &http.Client{Transport: &http.Transport{DialContext: dial, DialTLSContext: dial}}}
	t.authorize(options.HTTPHeader)
	conn, _, err := websocket.Dial(opening, t.url("/v1/live"), options)
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(maxFrame)
	context.AfterFunc(ctx, func() { conn.CloseNow() })
	return &socket{conn: conn}, nil
}

// send sends a message.
func (s *socket) send(ctx context.Context, message string) error {
	return s.conn.Write(ctx, websocket.MessageText, []byte(message))
}

// next returns the next message. The message is valid until the next call. The end of ctx closes the socket.
func (s *socket) next(ctx context.Context) ([]byte, error) {
	_, from, err := s.conn.Reader(ctx)
	if err != nil {
		return nil, err
	}
	s.message.Reset()
	_, err = s.message.ReadFrom(from)
	return s.message.Bytes(), err
}

func (s *socket) close() { s.conn.CloseNow() }

// openRedis returns a client of the Redis of the command, with one connection. The end of ctx closes it.
func (o *ownServer) openRedis(ctx context.Context) *redis.Client {
	c := redis.NewClient(&redis.Options{Network: "unix", Addr: o.socket, Protocol: 2, PoolSize: 1, MaxRetries: -1, DisableIdentity: true,
		ReadTimeout: time.Minute, MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}})
	context.AfterFunc(ctx, func() { c.Close() })
	return c
}

// do sends one request over a connection of its own. Any status of 300 or more is an error.
func (t *target) do(ctx context.Context, method, path, body string) error {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	c := t.newConn()
	defer c.close()
	status, answer, err := c.do(ctx, method, path, []byte(body))
	if err == nil && status >= 300 {
		err = fmt.Errorf("%s %s: the server answers %d: %s", method, path, status, answer)
	}
	return err
}
