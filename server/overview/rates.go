package overview

import (
	"math"
	"sync"
	"time"
)

const (
	// rateSpan is the least time between the two samples of a board: long enough for a rate not to jump.
	rateSpan = 20 * time.Second
	// minRateSpan is the least time over which a rate is measured: a shorter one would be a guess from one burst.
	minRateSpan = 4 * time.Second
	// maxRated bounds the boards whose samples the node keeps, at about 150 bytes each.
	maxRated = 10_000
)

// changeRates measures how often boards change, from the number of changes at earlier reads. The zero value knows no
// board. of may be called concurrently.
type changeRates struct {
	mu     sync.Mutex
	boards map[string]rateSamples
}

type rateSamples struct {
	epoch          string
	before, latest rateSample
	rate           *int64 // as last measured
}

type rateSample struct {
	at  time.Time
	seq int64
}

// of returns how often a board changes in a minute, measured since a read some 20 to 40 s ago, or since the last ones if
// they are longer ago. seq is the number of its changes in an epoch now. While the node has not measured long enough, as
// after a period has ended, of returns the rate of before, if it is at most 40 s old, or nil.
func (r *changeRates) of(board, epoch string, seq int64, now time.Time) *int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, known := r.boards[board]
	switch {
	case !known || s.epoch != epoch:
		first, rate := rateSample{now, seq}, s.rate
		if now.Sub(s.latest.at) > 2*rateSpan {
			rate = nil
		}
		s = rateSamples{epoch, first, first, rate}
	case now.Sub(s.latest.at) >= rateSpan:
		s.before, s.latest = s.latest, rateSample{now, seq}
	}
	if r.boards == nil || !known && len(r.boards) >= maxRated {
		r.boards = make(map[string]rateSamples)
	}
	if span := now.Sub(s.before.at); span >= minRateSpan {
		s.rate = new(int64(math.Round(float64(max(seq-s.before.seq, 0)) / span.Minutes())))
	}
	r.boards[board] = s
	return s.rate
}
