package ranking

import (
	"context"
	"fmt"

	"rankcast/ranking/definition"
)

const (
	// singleRows is the number of entries with which a call of single reads ends, and singleWeight what one counts for at least: a
	// call has as many as one of Places, and holds Redis for as long.
	singleRows, singleWeight = 1000, 4
	// secondRows is the number of entries that must wait before a second call goes out beside the first: 16 reads.
	secondRows = 16 * singleWeight
	// maxSingleRows is the number of entries that single reads of one board-period may wait for: a tenth of a second of Redis.
	maxSingleRows = 64 << 10
)

// singleRead is the look-up of one member, which shares a call of places.lua with others of its board-period.
type singleRead struct {
	m      resolved
	lookup Lookup
	places Places // of the answer; List has one place
	at     readTimes
}

// Weight is part of batch.Item: the number of entries.
func (r *singleRead) Weight() int { return max(r.lookup.Rows(), singleWeight) }

// Bytes is part of batch.Item.
func (r *singleRead) Bytes() int { return len(r.lookup.Member) }

// Fail is part of batch.Item. Commit returns the error to the only item of the caller.
func (r *singleRead) Fail(error) {}

// readPlace is readPlaces for one member. It joins the next call for the board-period, and no call that is out. So
// it shows each write that was acknowledged before. It waits for CallTimeout at most.
func (s *Store) readPlace(ctx context.Context, m resolved, l Lookup) (Places, readTimes, error) {
	r := &singleRead{m: m, lookup: l}
	waiting, cancel := context.WithTimeout(ctx, s.cfg.CallTimeout)
	defer cancel()
	switch err := s.lookups.Commit(waiting, m.keys.Members, []*singleRead{r}); {
	case err == nil:
		return r.places, r.at, nil
	case waiting.Err() != nil: // the call may go on for others; a read has no outcome
		return Places{}, readTimes{}, fmt.Errorf("%w: the read has waited for too long: %w", definition.ErrUnavailable, waiting.Err())
	default:
		return Places{}, readTimes{}, err
	}
}

// readTogether answers single reads of one board-period.
func (s *Store) readTogether(ctx context.Context, _ string, reads []*singleRead, sent func()) error {
	sent() // the next call need not follow this one: they only read
	lookups := make([]Lookup, len(reads))
	for i, r := range reads {
		lookups[i] = r.lookup
	}
	m := reads[len(reads)-1].m // with the newest definition
	p, at, err := s.readPlaces(ctx, m, lookups)
	if err != nil {
		return err
	}
	for i, r := range reads {
		r.places, r.at = p, at
		r.places.List = p.List[i : i+1 : i+1]
		if p.ByShard != nil {
			r.places.Head = *p.HeadOf(r.lookup.Member)
		}
	}
	return nil
}
