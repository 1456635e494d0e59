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

// gatheredFrame is a frame, and the time of its oldest change, as hub.Conn has it.
type gatheredFrame struct {
	*hub.Frame
	changed time.Time
}

var gatherings = sync.Pool{New: func() any { return new(gathering) }}

// add adds a frame.
func (g *gathering) add(f *hub.Frame, changed time.Time) {
	g.frames = append(g.frames, gatheredFrame{f, changed})
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

// memory is the memory that the gathering holds while its client is slow.
func (g *gathering) memory() access.Memory {
	if len(g.frames) == 1 {
		return frameMemory(g.frames[0].Frame)
	}
	return access.Memory{Own: g.size}
}

// count counts the frames as sent.
func (g *gathering) count(m *metrics) {
	for _, f := range g.frames {
		m.sent(f.Frame, f.changed)
	}
}

// release lets another socket use the gathering.
func (g *gathering) release() {
	clear(g.frames)
	g.frames, g.joined, g.size = g.frames[:0], g.joined[:0], 0
	gatherings.Put(g)
}
