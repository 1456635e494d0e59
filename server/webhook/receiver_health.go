package webhook

import (
	"sync"
	"time"
)

// failureLogInterval is the shortest time between two log entries about a receiver that fails:
// an operator sees it, and an outage of a day does not flood the log.
const failureLogInterval = time.Minute

// receiverHealth is the receiver's state as this node sees it: the log reports the receiver's
// state, not each message. All methods may be called concurrently.
type receiverHealth struct {
	mu       sync.Mutex
	failed   int       // attempts that failed since the last log entry
	loggedAt time.Time // when that entry was made; zero: never
	failing  bool      // the last log entry reports a failure
}

// recordFailure records a failed attempt. It reports whether to log it, and how many attempts
// have failed since the last log entry.
func (h *receiverHealth) recordFailure() (log bool, failed int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failed++
	if !h.loggedAt.IsZero() && time.Since(h.loggedAt) < failureLogInterval {
		return false, h.failed
	}
	failed = h.failed
	h.failed, h.loggedAt, h.failing = 0, time.Now(), true
	return true, failed
}

// recordSuccess records an attempt that succeeded, and reports whether to log it.
func (h *receiverHealth) recordSuccess() (log bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	log = h.failing
	h.failing = false
	return log
}
