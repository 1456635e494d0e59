package diagnosis

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Server holds the answers of one Redis server.
type Server struct {
	Name       string            // host:port of a master of a cluster; "" without a cluster
	User       string            // ACL user that asked
	CLI        string            // call of redis-cli for this server, such as "redis-cli -u redis://host:port"
	Info       Info              // answer of INFO; nil where Redis refuses it
	Config     map[string]string // answers of CONFIG GET; a parameter that Redis refuses is missing
	Clock      *Offset           // nil where Redis refuses TIME
	RoundTrips []time.Duration   // of pings; empty where none was measured
}

// Parameters are the parameters of CONFIG GET that the checks use.
var Parameters = []string{bufferLimits, fsyncPolicy, savePoints, lazyExpire}

const (
	bufferLimits = "client-output-buffer-limit"
	fsyncPolicy  = "appendfsync"
	savePoints   = "save"
	lazyExpire   = "lazyfree-lazy-expire"
)

// Info is the answer of INFO: the value of each field.
type Info map[string]string

// ParseInfo parses the answer of INFO. It skips lines that have no field.
func ParseInfo(text string) Info {
	info := make(Info)
	for line := range strings.Lines(text) {
		if field, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":"); ok && !strings.HasPrefix(field, "#") {
			info[field] = value
		}
	}
	return info
}

// number returns a field that is a whole number, and false for any other field.
func (i Info) number(field string) (int64, bool) {
	n, err := strconv.ParseInt(i[field], 10, 64)
	return n, err == nil
}

// Offset bounds how far the clock of Redis is ahead of the clock of this machine. A clock that is
// behind has a negative offset.
type Offset struct{ Least, Most time.Duration }

// NewOffset bounds the offset of a clock that showed a time between two moments of this machine.
func NewOffset(shown, before, after time.Time) *Offset {
	return &Offset{Least: shown.Sub(after), Most: shown.Sub(before)}
}

// size returns the least distance that the clocks may have.
func (o Offset) size() time.Duration { return max(o.Least, -o.Most, 0) }

// apart returns the least distance that two clocks may have.
func (o Offset) apart(other Offset) time.Duration {
	return max(o.Least-other.Most, other.Least-o.Most, 0)
}

// medianRoundTrip returns the median of the measured round trips, and false where there are none.
func (s *Server) medianRoundTrip() (time.Duration, bool) {
	if len(s.RoundTrips) == 0 {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(s.RoundTrips))
	return sorted[len(sorted)/2], true
}
