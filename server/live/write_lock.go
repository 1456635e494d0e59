package live

import (
	"sync"
	"sync/atomic"

	"rankcast/hub"
)

// writeLock separates those who write to a client, so that the bytes of two frames never mix. The hub does not wait
// for the lock: the writer notifies it once a frame that was turned away has room.
type writeLock struct {
	mu         sync.Mutex                 // held during a write, while a frame waits for it, and from Free to Flush
	turnedAway atomic.Bool                // the hub had a frame while mu was held
	client     atomic.Pointer[hub.Client] // notified when there is room again; nil before it has joined
}

// notifyReady tells the hub that the client would take a frame now.
func (l *writeLock) notifyReady() {
	if c := l.client.Load(); c != nil {
		c.Ready()
	}
}

// tryLock locks mu unless another write is under way. That write then notifies the hub.
func (l *writeLock) tryLock() bool {
	if l.mu.TryLock() {
		return true
	}
	// The writer checks turnedAway after it unlocks. It may have unlocked just before
	// turnedAway was set, so try once more.
	l.turnedAway.Store(true)
	return l.mu.TryLock()
}

// unlock releases mu, and notifies the hub if a frame was turned away meanwhile.
func (l *writeLock) unlock() {
	l.mu.Unlock()
	if l.turnedAway.CompareAndSwap(true, false) {
		l.notifyReady()
	}
}
