package live

import (
	"sync"
	"time"

	"rankcast/hub"
	"rankcast/server/access"
)

// gathering is the frames that go to one socket in one write. Idle sockets have none.
type gathering struct {
	frames []gatheredFrame
	size   int    // of the frames, in bytes
	joined []byte // the frames, if there are several
}

// gatheredFrame is a frame, and what the metrics count of it.
type gatheredFrame struct {
	frame *hub.Frame // nil: only its bytes are left
	sent  sentFrame
}

// sentFrame is what the metrics count of a frame.
type sentFrame struct {
	kind    string
	size    int
	changed time.Time // see hub.Conn
}

// newSentFrame is what the metrics count of a frame; changed is that of hub.Conn.
func newSentFrame(f *hub.Frame, changed time.Time) sentFrame {
	return sentFrame{f.Type(), f.Size(), changed}
}

var gatherings = sync.Pool{New: func() any { return new(gathering) }}

// add adds a frame.
func (g *gathering) add(f *hub.Frame, changed time.Time) {
	g.frames = append(g.frames, gatheredFrame{f, newSentFrame(f, changed)})
	g.size += f.Size()
}

// pieces are the bytes to write. They are valid until release.
func (g *gathering) pieces() [3][]byte {
	if len(g.frames) == 1 {
		return g.frames[0].frame.WebSocket()
	}
	for _, f := range g.frames {
		for _, piece := range f.frame.WebSocket() {
			g.joined = append(g.joined, piece...)
		}
	}
	return [3][]byte{g.joined}
}

// wait returns the memory that the gathering holds while its client is slow: one frame, or the bytes of several.
func (g *gathering) wait() access.Memory {
	if len(g.frames) == 1 {
		return frameMemory(g.frames[0].frame)
	}
	for i := range g.frames {
		g.frames[i].frame = nil
	}
	return access.Memory{Own: cap(g.joined)}
}

// count counts the frames as sent.
func (g *gathering) count(m *metrics) {
	for _, f := range g.frames {
		m.sent(f.sent)
	}
}

// release lets another socket use the gathering.
func (g *gathering) release() {
	clear(g.frames)
	g.frames, g.joined, g.size = g.frames[:0], g.joined[:0], 0
	gatherings.Put(g)
}
