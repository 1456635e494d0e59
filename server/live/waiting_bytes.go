package live

import "sync/atomic"

// waitingBytes counts the bytes of frames that connections have not accepted yet. All methods may be
// called concurrently.
type waitingBytes struct {
	limit int64
	n     atomic.Int64
}

// add counts bytes that wait from now on, unless they would exceed the limit.
func (w *waitingBytes) add(n int) bool {
	if w.n.Add(int64(n)) > w.limit {
		w.remove(n)
		return false
	}
	return true
}

// remove ends add.
func (w *waitingBytes) remove(n int) { w.n.Add(-int64(n)) }
