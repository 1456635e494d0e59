package hub

import (
	"sync"
	"time"
)

// status tells the clients whether their boards are current. Clients are stale while the
// feed is down, and while a board or a feed is unsynced. Its methods may be called
// concurrently.
type status struct {
	hub    *Hub
	stream stream // each client has a delivery of it

	mu        sync.Mutex
	up        bool      // the feed is connected
	outages   int       // how often the feed went down, or lost its subscription to a board
	unsynced  int       // how many boards and feeds are unsynced
	stale     bool      // clients have been told that their boards may be old
	asOf      time.Time // what clients learn when they become stale: their boards were current then; zero: not known
	currentAt time.Time // the latest of all boards
}

// syncMark is what the status knows of a board or a feed. The status guards it.
type syncMark struct {
	unsynced  bool      // clients may see an old state of it
	outage    int       // number of the last outage that concerned it; 0: none
	ended     bool      // its last watcher has left
	currentAt time.Time // when the last read of Redis began that found nothing newer than what clients see; zero: none
}

// change calls do under the lock, and tells the clients where they become stale or current.
// A do that makes them stale sets asOf.
func (s *status) change(do func()) {
	s.mu.Lock()
	do()
	stale := !s.up || s.unsynced > 0
	told := stale != s.stale
	if told {
		s.stale = stale
		s.stream.setVersion(&version{frame: statusFrame(stale, s.asOf)})
	}
	s.mu.Unlock()
	if told {
		s.hub.announce(&s.stream)
	}
}

// mark sets whether m is unsynced. The caller holds mu.
func (s *status) mark(m *syncMark, unsynced bool) {
	if m.ended || m.unsynced == unsynced {
		return
	}
	if m.unsynced = unsynced; unsynced {
		s.unsynced++
	} else {
		s.unsynced--
	}
}

// feedUp notes that the feed is connected.
func (s *status) feedUp() { s.change(func() { s.up = true }) }

// feedDown notes that the feed is not connected, and that all boards and feeds are
// unsynced.
func (s *status) feedDown(asOf time.Time, all []*syncMark) {
	s.change(func() {
		s.up, s.asOf = false, asOf
		s.beginOutage(all)
	})
}

// boardsDown notes that the feed has lost its subscription to some boards. Their new master may have changed them
// before the feed learned of the loss.
func (s *status) boardsDown(asOf time.Time, boards []*board) {
	s.change(func() {
		var all []*syncMark
		for _, b := range boards {
			all = append(all, &b.mark)
			asOf = earlier(asOf, b.mark.currentAt)
		}
		s.asOf = asOf
		s.beginOutage(all)
	})
}

// beginOutage makes boards and feeds unsynced. The caller holds mu.
func (s *status) beginOutage(all []*syncMark) {
	s.outages++
	for _, m := range all {
		m.outage = s.outages
		s.mark(m, true)
	}
}

// begin adds a board or a feed, as unsynced if clients are stale already. Until the hub has read it, its time is that of
// the last read of any board: clients see nothing of it yet, and learn one time for all their boards.
func (s *status) begin(m *syncMark) {
	s.change(func() {
		s.mark(m, s.stale)
		m.currentAt = s.currentAt
	})
}

// end removes a board or a feed.
func (s *status) end(m *syncMark) {
	s.change(func() {
		s.mark(m, false)
		m.ended = true
	})
}

// lost notes that a board could not be read. The failed read may have begun after the first change that is missing, so
// clients learn the time of the last one that succeeded.
func (s *status) lost(m *syncMark) {
	s.change(func() {
		s.mark(m, true)
		s.asOf = m.currentAt
	})
}

// confirm notes that a read of Redis that began at a time found nothing newer of some boards than what clients see.
func (s *status) confirm(at time.Time, boards ...*syncMark) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range boards {
		m.currentAt = later(m.currentAt, at)
		s.currentAt = later(s.currentAt, at)
	}
}

// later is the later of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// synced notes that clients see the current state of m, if that still holds under the lock.
func (s *status) synced(m *syncMark, holds func() bool) {
	s.change(func() {
		if holds() {
			s.mark(m, false)
		}
	})
}

// syncedAfter calls synced, unless an outage later than that number concerns m.
func (s *status) syncedAfter(m *syncMark, outage int) {
	s.synced(m, func() bool { return m.outage <= outage })
}

// isUp reports whether the feed is connected.
func (s *status) isUp() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.up
}

// join attaches a client's delivery. A client that joins while boards are current need not
// be told.
func (s *status) join(d *delivery) {
	s.mu.Lock()
	if !s.stale {
		d.version = s.stream.version.Load().number
	}
	s.mu.Unlock()
	d.attach()
	d.client.send()
}

// lastOutage is the number of the last outage.
func (s *status) lastOutage() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.outages
}
