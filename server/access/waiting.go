package access

import (
	"container/list"
	"sync"
)

// Memory is what a connection holds while its client has not accepted a frame or an answer, or has not sent
// the whole of a request.
type Memory struct {
	// Own is the memory that this connection alone holds, in bytes.
	Own int
	// Shared is the same value for all connections that share one piece of memory, of SharedSize bytes. It
	// must be comparable; nil is none. That memory counts once, however many connections hold it.
	Shared     any
	SharedSize int
}

// Wait is the time for which memory waits for a slow client. AddWaiting begins it, End ends it.
type Wait struct {
	all     *waiting
	address Address
	memory  Memory
	cut     func()

	inNode    *list.Element // guarded by all.mu; nil: the wait has ended
	inAddress *list.Element // nil also for an exempt address
}

// AddWaiting counts memory that waits for a slow client from now on.
//
// If an address then holds more than half of what may wait on the node, the node gives up the connections
// of that address that have waited longest. If the node holds too much, it gives up those of all addresses
// that have waited longest. AddWaiting calls the function cut of each connection that it gives up, this one
// included, in the order in which they began to wait. It holds no lock meanwhile. cut must not block, and
// may be called after End.
func (l *Limits) AddWaiting(a Address, m Memory, cut func()) *Wait {
	w := &Wait{all: l.waiting, address: a, memory: m, cut: cut}
	ofAddress, ofNode := l.waiting.add(w)
	for _, victim := range ofAddress {
		victim.cut()
		l.refused.add(AddressWaitingBytes)
	}
	for _, victim := range ofNode {
		victim.cut()
		l.refused.add(WaitingBytes)
	}
	return w
}

// AddWaiting is Limits.AddWaiting for the client of the socket.
func (s *SocketSlot) AddWaiting(m Memory, cut func()) *Wait {
	return s.limits.AddWaiting(s.address, m, cut)
}

// End ends the wait. It reports false if the node has given up the connection, which the caller then closes:
// its memory counts no longer. End may be called concurrently with all else; it is called once.
func (w *Wait) End() (kept bool) {
	w.all.mu.Lock()
	defer w.all.mu.Unlock()
	if w.inNode == nil {
		return false
	}
	w.all.remove(w)
	return true
}

// Waiting is the memory that waits for slow clients, in bytes.
func (l *Limits) Waiting() int {
	l.waiting.mu.Lock()
	defer l.waiting.mu.Unlock()
	return l.waiting.node.bytes
}

// waiting holds what waits on a node. Each step takes constant time for each wait that begins.
type waiting struct {
	most        int // bytes of the node; 0: no limit
	addressMost int // bytes of an address; 0: no limit

	mu        sync.Mutex
	node      *waitQueue
	addresses map[Address]*waitQueue // of each address for which something waits; exempt ones have none
}

func newWaiting(most, addressMost int) *waiting {
	return &waiting{most: most, addressMost: addressMost, node: newWaitQueue(), addresses: make(map[Address]*waitQueue)}
}

// add begins a wait. It ends those for which there is no room, and returns them.
func (a *waiting) add(w *Wait) (ofAddress, ofNode []*Wait) {
	a.mu.Lock()
	defer a.mu.Unlock()
	w.inNode = a.node.add(w)
	if !w.address.Exempt() {
		q := a.addresses[w.address]
		if q == nil {
			q = newWaitQueue()
			a.addresses[w.address] = q
		}
		w.inAddress = q.add(w)
		ofAddress = a.shrink(q, a.addressMost)
	}
	return ofAddress, a.shrink(a.node, a.most)
}

// shrink ends the longest waits of a queue until the rest fits. The caller holds mu.
func (a *waiting) shrink(q *waitQueue, most int) (victims []*Wait) {
	for most > 0 && q.bytes > most {
		w := q.waits.Front().Value.(*Wait)
		a.remove(w)
		victims = append(victims, w)
	}
	return victims
}

// remove takes a wait out of its queues. The caller holds mu.
func (a *waiting) remove(w *Wait) {
	a.node.remove(w.inNode)
	if w.inAddress != nil {
		q := a.addresses[w.address]
		if q.remove(w.inAddress); q.waits.Len() == 0 {
			delete(a.addresses, w.address)
		}
	}
	w.inNode, w.inAddress = nil, nil
}

// waitQueue holds the waits of a node, or of an address.
type waitQueue struct {
	waits  list.List // of *Wait; the first has waited longest
	bytes  int
	shared map[any]*sharedMemory // by Memory.Shared
}

// sharedMemory is held by at least one wait.
type sharedMemory struct{ size, holders int }

func newWaitQueue() *waitQueue { return &waitQueue{shared: make(map[any]*sharedMemory)} }

func (q *waitQueue) add(w *Wait) *list.Element {
	q.bytes += w.memory.Own
	if key := w.memory.Shared; key != nil {
		m := q.shared[key]
		if m == nil {
			m = &sharedMemory{size: w.memory.SharedSize}
			q.shared[key] = m
			q.bytes += m.size
		}
		m.holders++
	}
	return q.waits.PushBack(w)
}

func (q *waitQueue) remove(e *list.Element) {
	w := q.waits.Remove(e).(*Wait)
	q.bytes -= w.memory.Own
	if key := w.memory.Shared; key != nil {
		m := q.shared[key]
		if m.holders--; m.holders == 0 {
			q.bytes -= m.size
			delete(q.shared, key)
		}
	}
}
