package live

import (
	"sync"
	"time"

	"rankcast/hub"
	"rankcast/server/access"
)

// gathering is the frames that go to one socket in one write. Idle sockets have none.
type gathering struct {
	frames []*hub.Frame
	counts []sentFrame
	size   int    // of the frames, in bytes
	joined []byte // the frames, if there are several
}

// sentFrame is what the metrics count of a frame.
type sentFrame struct {
	kind    string
	size    int
	changed time.Time // see hub.Conn
}

var gatherings = sync.Pool{New: func() any { return new(gathering) }}

// add adds a frame.
func (g *gathering) add(f *hub.Frame, changed time.Time) {
	g.frames = append(g.frames, f)
	g.counts = append(g.counts, sentFrame{f.Type(), f.Size(), changed})
	g.size += f.Size()
}

// pieces are the bytes to write. They are valid until release.
func (g *gathering) pieces() [3][]byte {
	if len(g.frames) == 1 {
		return g.frames[0].WebSocket()
	}
	for _, f := range g.frames {
		for _, piece := range f.WebSocket() {
			g.joined = append(g.joined, piece...)
		}
	}
	return [3][]byte{g.joined}
}

// wait returns the memory that the gathering holds while its client is slow: one frame, or the bytes of several.
func (g *gathering) wait() access.Memory {
	if len(g.frames) == 1 {
		return frameMemory(g.frames[0])
	}
	clear(g.frames)
	g.frames = g.frames[:0]
	return access.Memory{Own: cap(g.joined)}
}

// count counts the frames as sent.
func (g *gathering) count(m *metrics) {
	for _, f := range g.counts {
		m.sent(f)
	}
}

// release lets another socket use the gathering.
func (g *gathering) release() {
	clear(g.frames)
	g.frames, g.counts, g.joined, g.size = g.frames[:0], g.counts[:0], g.joined[:0], 0
	gatherings.Put(g)
}
