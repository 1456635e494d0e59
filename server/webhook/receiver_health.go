package webhook

import (
	"sync"
	"time"
)

// failureLogInterval is how often the log has it at most that the receiver fails: often enough
// to be seen, and no flood when it is down for a day.
const failureLogInterval = time.Minute

// receiverHealth is how the receiver does, as far as this node sees it, so that the log
// tells of the receiver and not of each message. It may be used concurrently.
type receiverHealth struct {
	mu       sync.Mutex
	failed   int       // tries since the log last had it that it fails
	loggedAt time.Time // when that was; zero: never
	failing  bool      // is what the log had last
}

// recordFailure notes a try that failed, and says whether to tell it and how many tries have
// failed since that was told last.
func (h *receiverHealth) recordFailure() (tell bool, failed int) {
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

// recordSuccess notes a try that did not fail, and says whether to tell it.
func (h *receiverHealth) recordSuccess() (tell bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	tell = h.failing
	h.failing = false
	return tell
}
