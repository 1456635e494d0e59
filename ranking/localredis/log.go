//go:build unix

package localredis

import (
	"io"
	"os"
	"regexp"
	"strings"
	"syscall"
)

const (
	// maxLog is the size of redis.log, in bytes, from which the next start of redis-server begins the file
	// anew. Redis writes some ten lines at each start and at each rewrite of the append-only file.
	maxLog = 10 << 20
	// shownLines is the number of lines of redis.log that a message shows.
	shownLines = 3
	// tailSize is the part of redis.log that a message looks at, in bytes.
	tailSize = 8 << 10
)

// logHead is the start of a line of redis.log: process id, role, time and level.
var logHead = regexp.MustCompile(`^\d+:[A-Z] .*? [.\-*#] `)

// openLog opens redis.log to append to it, and returns its size.
func (d *directory) openLog() (f *os.File, size int64, err error) {
	f, err = os.OpenFile(d.file(logName), os.O_WRONLY|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && info.Size() > maxLog {
		return f, 0, f.Truncate(0)
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// lastLines returns the last lines of redis.log after an offset, in one line; "" if there are none.
func (d *directory) lastLines(from int64) string {
	f, err := os.Open(d.file(logName))
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	b, err := io.ReadAll(io.NewSectionReader(f, max(from, info.Size()-tailSize), tailSize))
	if err != nil {
		return ""
	}
	var lines []string
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSpace(logHead.ReplaceAllString(strings.TrimSpace(line), "")); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(len(lines)-shownLines, 0):], "; ")
}
