package definition

import (
	"slices"
	"time"
)

// LeastIDs is how long a request id counts at least by default, and the least that a definition may give.
const LeastIDs = 10 * time.Minute

// idsRange is the range of `ids` in a definition. A definition without `ids` has 0.
var idsRange = durationRange{LeastIDs, 7 * day, "is not a whole number of s, m, h or d, such as 10m or 1d, from 10m to 7d"}

// idMargin is how much longer the store keeps an id than the id counts, for requests that are under way.
const idMargin = 10 * time.Second

// LeastIDSpan is the span of ids that count for the default time, see Event.IDSpan.
const LeastIDSpan = LeastIDs + idMargin

// IDsCount is the time for which the id of an occurrence counts at least.
func (e Event) IDsCount() time.Duration { return max(e.IDs, LeastIDs) }

// IDSpan is the span of the event's ids: the store knows an id for one to two spans.
func (e Event) IDSpan() time.Duration { return e.IDsCount() + idMargin }

// IDsCount is the time for which a request id of the board counts at least, unless events update the board.
func (d Board) IDsCount() time.Duration { return max(d.IDs, LeastIDs) }

// IDSpan is the span of the board's ids. ofEvents are those of the events that update the board: it knows each of
// their ids at least as long as the event does, else a retry would be known to the one and new to the other. Spans
// are multiples of their length since 1970. So an id is gone from both at the same moment if their spans are
// equal. Of a span that is shorter than two of an event's, the end may come before that of the event's.
func (d Board) IDSpan(ofEvents []time.Duration) time.Duration {
	span := d.IDsCount() + idMargin
	if len(ofEvents) == 0 {
		return span
	}
	longest := slices.Max(ofEvents)
	span = max(span, longest)
	if slices.ContainsFunc(ofEvents, func(e time.Duration) bool { return e < span && span < 2*e }) {
		return 2 * longest
	}
	return span
}
