package access

import "sync"

// share names a thing that a node has a limited number of. One limit is for each address, another one for all together.
type share struct {
	things    string // in errors: "sockets"
	ofNode    Limit
	ofAddress Limit
}

// places counts the places of a node that are taken, and those of each address. An exempt address takes
// places of the node alone. All methods may be called concurrently.
type places struct {
	share
	most        int // of the node; 0: no limit
	addressMost int // of an address; 0: no limit

	mu      sync.Mutex
	taken   int             // of the node
	takenBy map[Address]int // of each address that has one
}

// newPlaces makes places without any that is taken.
func newPlaces(of share, most, addressMost int) *places {
	return &places{share: of, most: most, addressMost: addressMost, takenBy: make(map[Address]int)}
}

// take takes a place if there is one. The caller gives it back with release. Without one it returns the limit that is
// reached, and how many places that allows.
func (p *places) take(a Address) (reached Limit, most int, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.addressMost > 0 && !a.Exempt() && p.takenBy[a] >= p.addressMost:
		return p.ofAddress, p.addressMost, false
	case p.most > 0 && p.taken >= p.most:
		return p.ofNode, p.most, false
	}
	p.taken++
	if !a.Exempt() {
		p.takenBy[a]++
	}
	return 0, 0, true
}

// release ends take.
func (p *places) release(a Address) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken--
	if a.Exempt() {
		return
	}
	if p.takenBy[a]--; p.takenBy[a] == 0 {
		delete(p.takenBy, a)
	}
}
