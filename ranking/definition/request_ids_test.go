package definition

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rankcast/ranking/proptest"
)

// Whenever an event occurs, its boards keep its id at least as long as the event does, and no board keeps ids for
// longer than twice what the longest of its events asks for, or the board itself.
func TestBoardsKeepTheIDsOfTheirEvents(t *testing.T) {
	t.Parallel()
	proptest.Check(t, 2000, func(rt *rapid.T) {
		length := rapid.Custom(func(t *rapid.T) time.Duration {
			return rapid.SampledFrom([]time.Duration{0, LeastIDs, 11 * time.Minute, time.Hour, 25 * time.Hour, 4 * day,
				idsRange.most}).Draw(t, "ids")
		})
		board := Board{IDs: length.Draw(rt, "board")}
		var spans []time.Duration
		longest := board.IDsCount()
		for range rapid.IntRange(0, 3).Draw(rt, "events") {
			e := Event{IDs: length.Draw(rt, "event")}
			spans, longest = append(spans, e.IDSpan()), max(longest, e.IDsCount())
		}
		span := board.IDSpan(spans)
		require.GreaterOrEqual(rt, span, longest)
		require.LessOrEqual(rt, span, 2*(longest+idMargin))
		at := time.Duration(rapid.Int64Range(int64(20000*day), int64(20100*day)).Draw(rt, "at"))
		until := func(span time.Duration) time.Duration { return at - at%span + 2*span }
		for _, e := range spans {
			require.GreaterOrEqual(rt, until(span), until(e), "the board forgets before the event")
		}
	})
}
