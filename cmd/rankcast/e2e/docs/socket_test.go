//go:build !race

package docs

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/coder/websocket"

	"rankcast/server/servertest"
)

// docSocket is the WebSocket of a page. It reads all the time, so that the server never finds it
// slow.
type docSocket struct {
	ws   *websocket.Conn
	stop context.CancelFunc
	wg   sync.WaitGroup

	frames chan []byte   // in order
	ended  chan struct{} // closed when the connection has ended
	err    error         // why, once ended
}

// frameBuffer is more than the frames that an example leaves unread.
const frameBuffer = 1000

func dialDocs(ctx context.Context, addr string) (*docSocket, error) {
	ws, _, err := websocket.Dial(ctx, "ws://"+addr+"/v1/live", &websocket.DialOptions{Subprotocols: []string{"rankcast.v1"}})
	if err != nil {
		return nil, err
	}
	ws.SetReadLimit(-1)
	s := &docSocket{ws: ws, frames: make(chan []byte, frameBuffer), ended: make(chan struct{})}
	ctx, s.stop = context.WithCancel(ctx)
	s.wg.Go(func() {
		defer close(s.ended)
		for {
			_, frame, err := ws.Read(ctx)
			if err != nil {
				s.err = err
				return
			}
			select {
			case s.frames <- frame:
			case <-ctx.Done():
				s.err = ctx.Err()
				return
			}
		}
	})
	return s, nil
}

func (s *docSocket) close() {
	s.stop()
	s.ws.CloseNow()
	s.wg.Wait()
}

// next waits for the next frame. It returns the frames that came before the connection ended, too.
func (s *docSocket) next(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, servertest.Patience)
	defer cancel()
	select {
	case frame := <-s.frames:
		return frame, nil
	case <-s.ended:
		select {
		case frame := <-s.frames:
			return frame, nil
		default:
			return nil, s.err
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// send sends each value of a block as a message. The first opens the socket; one that comes after
// the server has ended opens another.
func (p *docPage) send(b block) {
	if p.socket != nil {
		select {
		case <-p.socket.ended:
			p.socket.close()
			p.socket = nil
		default:
		}
	}
	if p.socket == nil {
		var err error
		if p.socket, err = dialDocs(p.ctx, p.ports.addr(serverPort)); err != nil {
			p.fail(b, "the socket does not open: %v", err)
		}
	}
	for line := range strings.Lines(p.ports.in(b.text)) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if _, err := values(line); err != nil {
			p.fail(b, "a message is a line of JSON: %v: %s", err, line)
		}
		if err := p.socket.ws.Write(p.ctx, websocket.MessageText, []byte(line)); err != nil {
			p.fail(b, "%v: %s", err, line)
		}
	}
}

// receive compares the next frames with the values of a block.
func (p *docPage) receive(b block) {
	if p.socket == nil {
		p.fail(b, "no message has opened a socket before this")
	}
	wants, err := values(p.ports.in(b.text))
	if err != nil {
		p.fail(b, "this is not JSON: %v", err)
	}
	match := matcher{}
	for i, want := range wants {
		place := fmt.Sprintf("frame %d", i+1)
		frame, err := p.socket.next(p.ctx)
		if err != nil {
			p.fail(b, "%s does not come: %v\nwant:\n%s", place, err, asJSON(want))
		}
		got, err := values(string(frame))
		if err != nil || len(got) != 1 {
			p.fail(b, "%s is not JSON: %s", place, frame)
		}
		if err := match.json(place, want, got[0]); err != nil {
			p.fail(b, "%v\nwant:\n%s\ngot:\n%s", err, asJSON(want), frame)
		}
	}
}
