package live

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"rankcast/hub"
	"rankcast/server/internal/problem"
)

// Accept turns a request into a session. It returns at once, so that the handler's stack and
// buffers are not kept. An error is for the caller to answer the request with; with nil the
// connection is hijacked and the sessions' own.
func (s *Sessions) Accept(w http.ResponseWriter, r *http.Request) error {
	if s.stopping.Load() {
		return hub.ErrClosed
	}
	u := &upgrade{ResponseWriter: w, timeout: s.cfg.WriteTimeout, running: &s.running}
	ws, err := websocket.Accept(u, r, &websocket.AcceptOptions{
		Subprotocols: []string{subprotocol}, CompressionMode: websocket.CompressionDisabled,
		OriginPatterns: originPatterns(s.cfg.Origins),
	})
	if err != nil {
		if u.refused == http.StatusForbidden {
			return problem.ErrOtherSite
		}
		return fmt.Errorf("%w: %w", problem.ErrHandshake, err)
	}
	ws.SetReadLimit(maxMessage)
	ss := &session{sessions: s, ws: ws, socket: u.socket, crossOrigin: isCrossOrigin(r), shown: make(map[string]*hub.Subscription)}
	if !s.open(ss) {
		ws.CloseNow()
	}
	return nil
}

// upgrade stands in for the response writer of a handshake: it hands the library
// a socket with small buffers when it hijacks, and keeps what it would say when
// it refuses, so that the refusal can be a problem.
type upgrade struct {
	http.ResponseWriter
	timeout time.Duration
	running *sync.WaitGroup

	socket  *socket // once hijacked
	refused int     // status of a refusal
}

func (u *upgrade) WriteHeader(status int) {
	if status == http.StatusSwitchingProtocols {
		u.ResponseWriter.WriteHeader(status)
		return
	}
	u.refused = status
}

func (u *upgrade) Write(b []byte) (int, error) {
	if u.refused != 0 {
		return len(b), nil
	}
	return u.ResponseWriter.Write(b)
}

func (u *upgrade) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, brw, err := http.NewResponseController(u.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	// 101 went out before this, so the client's first frames may be in the old
	// reader already. It is left behind with its buffer, so copy them.
	waiting, err := brw.Reader.Peek(brw.Reader.Buffered())
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	u.socket = newSocket(conn, append([]byte(nil), waiting...), u.timeout, u.running)
	return u.socket, bufio.NewReadWriter(
		bufio.NewReaderSize(u.socket, socketBuffer), bufio.NewWriterSize(u.socket, socketBuffer)), nil
}

// originPatterns are origins for websocket.Accept, which takes them for patterns of
// path.Match: brackets of an IPv6 address would be a class there.
func originPatterns(origins []string) []string {
	patterns := make([]string, len(origins))
	for i, origin := range origins {
		patterns[i] = strings.ReplaceAll(origin, "[", `\[`)
	}
	return patterns
}

// isCrossOrigin reports whether a page of another site sent a request. Programs, which say
// nothing of a site, did not. It goes by the host, as websocket.Accept does.
func isCrossOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	u, err := url.Parse(origin)
	return err != nil || !strings.EqualFold(u.Host, r.Host)
}
