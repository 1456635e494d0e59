package live

import (
	"bytes"
	"context"
	"io"
	"sync"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json/jsontext"

	"rankcast/hub"
	"rankcast/ranking"
	"rankcast/server/internal/problem"
)

const (
	subprotocol = "rankcast.v1"
	// maxMessage bounds a client's message, in bytes. A larger one closes the
	// socket with 1009.
	maxMessage = 32 << 10
	// maxIDBytes bounds the id of a message, as JSON.
	maxIDBytes = 128
)

// session is one WebSocket and what its client asked for. One goroutine reads
// and acts; frames come from the hub.
type session struct {
	sessions    *Sessions
	ws          *websocket.Conn
	socket      *socket
	client      *hub.Client
	crossOrigin bool                             // the client is a page of another site
	shown       map[string]*hub.Subscription     // by board as named
	feeds       map[string]*hub.FeedSubscription // by name; nil before the first
}

// run reads until the socket closes.
func (ss *session) run() {
	ss.client = ss.sessions.hub.Join(ss.socket)
	ss.socket.attach(ss.client)
	defer ss.close()
	for {
		// A context that can end would cost a timer for each read, and close the
		// socket; whoever wants the session to end closes the connection.
		kind, r, err := ss.ws.Reader(context.Background())
		if err == nil {
			err = ss.read(kind, r)
		}
		if err != nil {
			if websocket.CloseStatus(err) == -1 {
				ss.socket.linger() // the library may have closed for a reason
			}
			return
		}
	}
}

func (ss *session) close() {
	ss.socket.Close()
	ss.sessions.hub.Leave(ss.client)
	ss.ws.CloseNow()
	ss.sessions.mu.Lock()
	delete(ss.sessions.all, ss)
	ss.sessions.mu.Unlock()
}

// read reads one message and acts on it. It returns an error when the socket is
// of no more use.
func (ss *session) read(kind websocket.MessageType, r io.Reader) error {
	buf := ss.sessions.messages.Get().(*bytes.Buffer)
	defer ss.sessions.messages.Put(buf)
	buf.Reset()
	if _, err := buf.ReadFrom(r); err != nil {
		return err
	}
	var id jsontext.Value
	err := ranking.Invalid("message", "is binary; want JSON text")
	if kind == websocket.MessageText {
		// On a stack of its own, which goes with it: this goroutine would keep a large one
		// while it waits for the next message, as long as the socket is open.
		var acting sync.WaitGroup
		acting.Go(func() { id, err = ss.act(buf.Bytes()) })
		acting.Wait()
	}
	if err != nil {
		ss.socket.reply(errorFrame(id, problem.Of(err)))
	}
	return nil
}
