package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math"
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

// transport opens the connections of that number. It keeps one for each caller.
func transport(number int) *http.Transport {
	return &http.Transport{MaxIdleConnsPerHost: math.MaxInt, DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
		return dialFrom(ctx, addr, number)
	}}
}

// do sends one request and reads its answer into answer.
func (t *target) do(ctx context.Context, method, path string, body []byte, answer *bytes.Buffer) (status int, err error) {
	request, err := http.NewRequestWithContext(ctx, method, t.remote.URL+path, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	maps.Copy(request.Header, t.header)
	if len(body) > 0 {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := t.http.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	answer.Reset()
	_, err = answer.ReadFrom(io.LimitReader(response.Body, maxBody))
	return response.StatusCode, err
}

// require sends one request. Any status of 300 or more is an error.
func (t *target) require(ctx context.Context, method, path string) error {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	var answer bytes.Buffer
	status, err := t.do(ctx, method, path, nil, &answer)
	if err == nil && status >= 300 {
		err = fmt.Errorf("%s %s: the server answers %d: %s", method, path, status, answer.String())
	}
	return err
}

// refusal is part of an answer for each item of a batch, or board of an event, that was not done.
var refusal = []byte(`"error":{`)

// newCall makes a call of one caller. It sends a request of so many units, with the body that appendBody appends for request
// n; nil for none.
func (t *target) newCall(ctx context.Context, method, path string, units int, appendBody func(to []byte, n int) []byte) call {
	var sent []byte
	var answer bytes.Buffer
	return func(n int) (outcome, error) {
		if appendBody != nil {
			// The transport may still read the body of the request before: its answer may have come early.
			sent = appendBody(make([]byte, 0, len(sent)), n)
		}
		status, err := t.do(ctx, method, path, sent, &answer)
		switch {
		case err != nil:
			return outcome{}, err
		case status != http.StatusOK:
			why := strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
			return outcome{refused: int64(units), why: why}, nil
		}
		refused := min(bytes.Count(answer.Bytes(), refusal), units)
		return outcome{int64(units - refused), int64(refused), "refused in a batch"}, nil
	}
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
	conn, _, err := websocket.Dial(opening, t.remote.URL+"/v1/live", &websocket.DialOptions{HTTPHeader: t.header,
		Subprotocols: []string{"rankcast.v1"}, HTTPClient: &http.Client{Transport: transport(number)}})
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
