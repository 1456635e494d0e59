package bench

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
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

// newRequest makes a request with the key, without a body.
func (t *target) newRequest(ctx context.Context, method, path string) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, t.remote.URL+path, nil)
	if err == nil {
		maps.Copy(r.Header, t.header)
	}
	return r, err
}

// require sends one request. Any status of 300 or more is an error.
func (t *target) require(ctx context.Context, method, path string) error {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	request, err := t.newRequest(ctx, method, path)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxBody))
	if err == nil && response.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: the server answers %d: %s", method, path, response.StatusCode, answer)
	}
	return err
}

// httpConn is a connection that sends one request at a time. After an error it dials again for the next request. One
// goroutine may use it at a time. (A http.Transport takes two more goroutines for each connection. It cost 28 µs of CPU an
// update in place of 16, and the generator sent a third less.)
type httpConn struct {
	t      *target
	conn   net.Conn // nil before the first request, and after an error
	from   *bufio.Reader
	to     *bufio.Writer
	forget func() bool  // the end of the context closes conn no more
	answer bytes.Buffer // to the last request
}

// do sends a request with a body of JSON, or with none, and reads its answer. The request may be sent again with another body.
// The end of its context closes a connection that do opens.
func (c *httpConn) do(request *http.Request, body []byte) (status int, err error) {
	if len(body) > 0 {
		request.Body, request.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	if c.conn == nil {
		conn, err := c.t.dial(request.Context())
		if err != nil {
			return 0, err
		}
		c.conn, c.from, c.to = conn, bufio.NewReader(conn), bufio.NewWriter(conn)
		c.forget = context.AfterFunc(request.Context(), func() { conn.Close() })
	}
	defer func() {
		if err != nil {
			c.forget()
			c.conn.Close()
			c.conn = nil
		}
	}()
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

// refusal is part of an answer for each item of a batch, or board of an event, that was not done.
var refusal = []byte(`"error":{`)

// newCall makes a call with a connection of its own. It sends a request of so many units, with the body that appendBody appends for
// request n; nil for none. The requests of a call share what http.NewRequest makes, which takes a tenth of the CPU of an update.
func (t *target) newCall(ctx context.Context, method, path string, units int, appendBody func(to []byte, n int) []byte) call {
	c := &httpConn{t: t}
	request, invalid := t.newRequest(ctx, method, path)
	if invalid == nil && appendBody != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	var sent []byte
	return func(n int) (outcome, error) {
		if invalid != nil {
			return outcome{}, invalid
		}
		if appendBody != nil {
			sent = appendBody(sent[:0], n)
		}
		return c.outcome(request, sent, units)
	}
}

// newReads makes a call with a connection of its own, which reads another path each time.
func (t *target) newReads(ctx context.Context, path func() string) call {
	c := &httpConn{t: t}
	request, invalid := t.newRequest(ctx, "GET", "/")
	return func(int) (outcome, error) {
		if invalid != nil {
			return outcome{}, invalid
		}
		request.URL.Path = path()
		return c.outcome(request, nil, 1)
	}
}

// outcome sends a request of so many units, and tells what the server has done of them.
func (c *httpConn) outcome(request *http.Request, body []byte, units int) (outcome, error) {
	status, err := c.do(request, body)
	switch {
	case err != nil:
		return outcome{}, err
	case status != http.StatusOK:
		why := strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
		return outcome{refused: int64(units), why: why}, nil
	}
	refused := min(bytes.Count(c.answer.Bytes(), refusal), units)
	return outcome{int64(units - refused), int64(refused), "refused in a batch"}, nil
}

// newBatches is newCall for batches: a request posts batch items in the list of that name, or one item by itself.
// appendItem appends the item of a number.
func (t *target) newBatches(ctx context.Context, path, list string, batch int, appendItem func(to []byte, item int) []byte) call {
	return t.newCall(ctx, "POST", path, batch, func(to []byte, n int) []byte {
		if batch == 1 {
			return appendItem(to, n)
		}
		to = append(to, `{"`+list+`":[`...)
		for i := range batch {
			if i > 0 {
				to = append(to, ',')
			}
			to = appendItem(to, n*batch+i)
		}
		return append(to, "]}"...)
	})
}

// socket is one WebSocket to a server. One goroutine may use it at a time.
type socket struct {
	*websocket.Conn
	message bytes.Buffer
}

// openSocket opens the socket of that number. The end of ctx closes the socket.
func (t *target) openSocket(ctx context.Context, number int) (*socket, error) {
	opening, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
		return dialer(addr, number).DialContext(ctx, "tcp", addr)
	}}
	conn, _, err := websocket.Dial(opening, t.remote.URL+"/v1/live", &websocket.DialOptions{HTTPHeader: t.header,
		Subprotocols: []string{"rankcast.v1"}, HTTPClient: &http.Client{Transport: transport}})
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(maxFrame)
	context.AfterFunc(ctx, func() { conn.CloseNow() })
	return &socket{Conn: conn}, nil
}

// next returns the next message. The message is valid until the next call. The end of ctx closes the socket.
func (s *socket) next(ctx context.Context) ([]byte, error) {
	_, from, err := s.Reader(ctx)
	if err != nil {
		return nil, err
	}
	s.message.Reset()
	_, err = s.message.ReadFrom(from)
	return s.message.Bytes(), err
}

// openRedis returns a client of the Redis of the command, with one connection. The end of ctx closes it.
func (o *ownServer) openRedis(ctx context.Context) *redis.Client {
	c := redis.NewClient(&redis.Options{Network: "unix", Addr: o.socket, Protocol: 2, PoolSize: 1, MaxRetries: -1, DisableIdentity: true,
		ReadTimeout: time.Minute, MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}})
	context.AfterFunc(ctx, func() { c.Close() })
	return c
}
