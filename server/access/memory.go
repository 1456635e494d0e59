package access

import (
	"container/heap"
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

// Held is memory that waits for a slow client, from Hold to End.
type Held struct {
	limits  *Limits
	address Address
	memory  Memory
	cut     func()

	place *list.Element // in the queue of the address; guarded by memoryInUse.mu; nil: the wait has ended
}

// Hold counts memory that waits for a slow client from now on.
//
// If an address then holds more than half of what may wait on the node, the node gives up the connections
// of that address that have waited longest. If the node holds too much, it gives up that connection of the address
// that holds most which has waited longest, until the rest fits. Hold calls the function cut of each connection
// that it gives up, this one included, in this order. It holds no lock meanwhile. cut must not block, and
// may be called after End.
func (l *Limits) Hold(a Address, m Memory, cut func()) *Held {
	w := &Held{limits: l, address: a, memory: m, cut: cut}
	l.memory.mu.Lock()
	l.memory.begin(w)
	ofAddress, ofNode := l.memory.shrink(a)
	l.memory.mu.Unlock()
	l.giveUp(ofAddress, ofNode)
	return w
}

// Hold is Limits.Hold for the client of the socket.
func (s *SocketSlot) Hold(m Memory, cut func()) *Held {
	return s.limits.Hold(s.address, m, cut)
}

// Grow counts more memory of the wait. It keeps its place among the waits of its address. Grow gives up connections as
// Hold does, and changes nothing after the end.
func (w *Held) Grow(bytes int) {
	all := w.limits.memory
	all.mu.Lock()
	var ofAddress, ofNode []*Held
	if w.place != nil {
		w.memory.Own += bytes
		all.grow(all.addresses[w.address], bytes)
		ofAddress, ofNode = all.shrink(w.address)
	}
	all.mu.Unlock()
	w.limits.giveUp(ofAddress, ofNode)
}

// End ends the wait. It reports false if the node has given up the connection, which the caller then closes:
// its memory counts no longer. End may be called concurrently with all else; it is called once.
func (w *Held) End() (kept bool) {
	all := w.limits.memory
	all.mu.Lock()
	defer all.mu.Unlock()
	if w.place == nil {
		return false
	}
	all.end(w)
	return true
}

// giveUp gives up the connections of waits that have ended for a limit.
func (l *Limits) giveUp(ofAddress, ofNode []*Held) {
	for _, victim := range ofAddress {
		victim.cut()
		l.refused.add(AddressWaitingBytes, "address", victim.address)
	}
	for _, victim := range ofNode {
		victim.cut()
		l.refused.add(WaitingBytes, "address", victim.address)
	}
}

// Waiting is the memory that waits for slow clients, in bytes.
func (l *Limits) Waiting() int {
	l.memory.mu.Lock()
	defer l.memory.mu.Unlock()
	return l.memory.node.bytes
}

// memoryInUse holds what waits on a node. A wait takes logarithmic time in the number of addresses.
type memoryInUse struct {
	most        int // bytes of the node; 0: no limit
	addressMost int // bytes of an address; 0: no limit

	mu        sync.Mutex
	node      heldMemory
	addresses map[Address]*addressWaits // of each address for which something waits
	order     addressHeap               // the same
}

func newMemoryInUse(most, addressMost int) *memoryInUse {
	return &memoryInUse{most: most, addressMost: addressMost, addresses: make(map[Address]*addressWaits)}
}

// begin adds a wait. The caller holds mu.
func (a *memoryInUse) begin(w *Held) {
	of := a.addresses[w.address]
	if of == nil {
		of = &addressWaits{address: w.address}
		a.addresses[w.address] = of
		heap.Push(&a.order, of)
	}
	w.place = of.waits.PushBack(w)
	of.hold(w.memory)
	a.node.hold(w.memory)
	heap.Fix(&a.order, of.index)
}

// grow counts more memory of an address. The caller holds mu.
func (a *memoryInUse) grow(of *addressWaits, bytes int) {
	of.bytes += bytes
	a.node.bytes += bytes
	heap.Fix(&a.order, of.index)
}

// end takes a wait away. The caller holds mu.
func (a *memoryInUse) end(w *Held) {
	of := a.addresses[w.address]
	of.waits.Remove(w.place)
	w.place = nil
	of.release(w.memory)
	a.node.release(w.memory)
	if of.waits.Len() > 0 {
		heap.Fix(&a.order, of.index)
		return
	}
	heap.Remove(&a.order, of.index)
	delete(a.addresses, w.address)
}

// shrink ends the waits for which there is no room, after those of an address have grown. The caller holds mu.
func (a *memoryInUse) shrink(address Address) (ofAddress, ofNode []*Held) {
	endFirst := func(of *addressWaits) *Held {
		w := of.waits.Front().Value.(*Held)
		a.end(w)
		return w
	}
	if of := a.addresses[address]; !address.Exempt() && a.addressMost > 0 {
		for of.bytes > a.addressMost {
			ofAddress = append(ofAddress, endFirst(of))
		}
	}
	for a.most > 0 && a.node.bytes > a.most {
		ofNode = append(ofNode, endFirst(a.order[0]))
	}
	return ofAddress, ofNode
}

// addressWaits are the waits of an address.
type addressWaits struct {
	address Address
	index   int       // in the heap
	waits   list.List // of *Held; the first has waited longest
	heldMemory
}

// addressHeap is a heap.Interface: the address that holds most comes first.
type addressHeap []*addressWaits

func (h addressHeap) Len() int           { return len(h) }
func (h addressHeap) Less(i, j int) bool { return h[i].bytes > h[j].bytes }
func (h addressHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}
func (h *addressHeap) Push(of any) {
	of.(*addressWaits).index = len(*h)
	*h = append(*h, of.(*addressWaits))
}
func (h *addressHeap) Pop() any {
	last := len(*h) - 1
	of := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return of
}

// heldMemory adds up memory, each shared piece once. The zero value holds none.
type heldMemory struct {
	bytes  int
	shared map[any]*sharedMemory // by Memory.Shared
}

// sharedMemory is held by at least one wait.
type sharedMemory struct{ size, holders int }

func (h *heldMemory) hold(m Memory) {
	h.bytes += m.Own
	if m.Shared == nil {
		return
	}
	piece := h.shared[m.Shared]
	if piece == nil {
		if h.shared == nil {
			h.shared = make(map[any]*sharedMemory)
		}
		piece = &sharedMemory{size: m.SharedSize}
		h.shared[m.Shared] = piece
		h.bytes += piece.size
	}
	piece.holders++
}

func (h *heldMemory) release(m Memory) {
	h.bytes -= m.Own
	if m.Shared == nil {
		return
	}
	piece := h.shared[m.Shared]
	if piece.holders--; piece.holders == 0 {
		h.bytes -= piece.size
		delete(h.shared, m.Shared)
	}
}
