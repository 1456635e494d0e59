// Package refusal keeps the log small however often something is refused. Log names what the server refuses because of
// its flags: the origins of pages and the hosts of requests. Clients choose these names, so the log has a bounded number of
// them. Count counts the refusals of one class, and the log says how many there were.
package refusal

import (
	"log/slog"
	"strings"
	"sync"
	"time"
)

const (
	// MaxNames bounds the names that a Log has in Interval. A client can send any number.
	MaxNames = 200
	// Interval is the time after which a Log names everything again, also after a crowd of invented
	// names.
	Interval = time.Hour
	// maxName bounds a name in the log, in bytes. A host name has at most 253.
	maxName = 300
)

// Log names what the server refuses, each name once in Interval. NewLog makes it. All methods may be
// called concurrently.
type Log struct {
	log   *slog.Logger
	names string

	mu     sync.Mutex
	logged map[string]struct{} // names since then, at most MaxNames+1
	since  time.Time
}

// NewLog makes a Log of names of one sort, such as "pages of many origins". The sort is for the line
// that ends a long series.
func NewLog(log *slog.Logger, names string) *Log {
	return &Log{log: log, names: names, logged: make(map[string]struct{})}
}

// Warn logs a warning about a printable name, unless the Log has named it in Interval. The warning after
// MaxNames names says that there are more.
func (l *Log) Warn(name, message string, attributes ...any) {
	switch n := l.remember(name); {
	case n == 0:
	case n > MaxNames:
		l.log.Warn("the server refuses "+l.names+"; the log names no more of them for up to an hour", "named", MaxNames)
	default:
		l.log.Warn(message, attributes...)
	}
}

// remember returns the number of a name that the Log has not named, from 1. It returns 0 for all others,
// and for all after MaxNames+1.
func (l *Log) remember(name string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); now.Sub(l.since) >= Interval {
		clear(l.logged)
		l.since = now
	}
	if _, known := l.logged[name]; known || len(l.logged) > MaxNames {
		return 0
	}
	l.logged[name] = struct{}{}
	return len(l.logged)
}

// Printable returns a client's name as the log and an answer may hold it: in lower case, as UTF-8, with at
// most 300 bytes before invalid ones are replaced.
func Printable(name string) string {
	return strings.ToLower(strings.ToValidUTF8(name[:min(len(name), maxName)], "\uFFFD"))
}
