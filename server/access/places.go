package access

import "sync"

// places counts the places of a node that are taken, and those of each address. An exempt address takes
// places of the node alone. All methods may be called concurrently.
type places struct {
	most        int // of the node; 0: no limit
	addressMost int // of an address; 0: no limit

	mu        sync.Mutex
	taken     int             // of the node
	ofAddress map[Address]int // of each address that has one
}

// room is whether there is a place for an address.
type room int

const (
	roomFound room = iota
	addressIsFull
	nodeIsFull
)

// newPlaces makes places without any that is taken.
func newPlaces(most, addressMost int) *places {
	return &places{most: most, addressMost: addressMost, ofAddress: make(map[Address]int)}
}

// take takes a place if there is one. The caller gives it back with release.
func (p *places) take(a Address) room {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.addressMost > 0 && !a.Exempt() && p.ofAddress[a] >= p.addressMost:
		return addressIsFull
	case p.most > 0 && p.taken >= p.most:
		return nodeIsFull
	}
	p.taken++
	if !a.Exempt() {
		p.ofAddress[a]++
	}
	return roomFound
}

// release ends take.
func (p *places) release(a Address) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken--
	if a.Exempt() {
		return
	}
	if p.ofAddress[a]--; p.ofAddress[a] == 0 {
		delete(p.ofAddress, a)
	}
}
