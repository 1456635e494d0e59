package bench

import (
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	// maxLatency bounds what a histogram holds, in microseconds.
	maxLatency = int64(time.Minute / time.Microsecond)
	// precision is the number of significant digits of a latency.
	precision = 3
)

// tally counts what one caller got.
type tally struct {
	done      int64
	errors    map[string]int64
	latencies *hdrhistogram.Histogram // in microseconds, of requests that were done whole
}

func newTally() *tally {
	return &tally{errors: make(map[string]int64), latencies: hdrhistogram.New(1, maxLatency, precision)}
}

// noAnswer is the code of a request without an answer.
const noAnswer = "no answer"

// count adds the outcome of a request.
func (t *tally) count(o outcome, err error, took time.Duration) {
	t.done += o.done
	switch {
	case err != nil:
		t.errors[noAnswer]++
	case o.refused > 0:
		t.errors[o.why] += o.refused
	default:
		t.latencies.RecordValue(min(max(took.Microseconds(), 1), maxLatency))
	}
}

// add adds the counts of another tally.
func (t *tally) add(other *tally) {
	t.done += other.done
	for why, n := range other.errors {
		t.errors[why] += n
	}
	t.latencies.Merge(other.latencies)
}

// sharedTally counts latencies of many goroutines. Its methods may be called concurrently.
type sharedTally [16]struct {
	mu sync.Mutex
	*tally
}

func newSharedTally() *sharedTally {
	s := new(sharedTally)
	for i := range s {
		s[i].tally = newTally()
	}
	return s
}

// record adds the latency of an update to goroutine number.
func (s *sharedTally) record(number int, took time.Duration) {
	part := &s[number%len(s)]
	part.mu.Lock()
	defer part.mu.Unlock()
	part.count(outcome{}, nil, took)
}

// recordSince adds latencies that end at one moment and begin with the scheduled times of updates.
func (s *sharedTally) recordSince(number int, updates []int, sch schedule, at time.Time) {
	part := &s[number%len(s)]
	part.mu.Lock()
	defer part.mu.Unlock()
	for _, update := range updates {
		part.count(outcome{}, nil, at.Sub(sch.due(update)))
	}
}

// fail counts an error.
func (s *sharedTally) fail(number int, why string) {
	part := &s[number%len(s)]
	part.mu.Lock()
	defer part.mu.Unlock()
	part.errors[why]++
}

// total is the sum of all parts.
func (s *sharedTally) total() *tally {
	all := newTally()
	for i := range s {
		s[i].mu.Lock()
		all.add(s[i].tally)
		s[i].mu.Unlock()
	}
	return all
}
