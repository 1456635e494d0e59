package redistest

import (
	"strings"
	"sync"
)

// Log holds what a server has logged. The zero value is empty. All methods may be called concurrently.
type Log struct {
	mu    sync.Mutex
	lines strings.Builder
}

// Write adds to the log; Log is an io.Writer.
func (l *Log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines.Write(b)
}

// String returns the whole log.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines.String()
}
