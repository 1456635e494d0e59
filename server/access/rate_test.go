package access

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Batches that take tokens in advance give a caller no more than its rate, however long they take to pay back,
// and whatever others send in the meantime.
func TestBatchesKeepToTheRate(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		const batch, seconds = 1000, 5000
		table := newBuckets[string](tokenRate{1, rateSaved})
		taken := 0
		for second := range seconds {
			if second%40 == 0 { // a bucket that no request touches is a candidate for removal
				if _, wait := table.rate.take(table.bucket("cheat"), "viewer", batch, 0); wait == 0 {
					taken += batch
				}
			}
			table.rate.take(table.bucket(strconv.Itoa(second%100)), "viewer", 1, 0)
			time.Sleep(time.Second)
		}
		require.LessOrEqual(t, taken, seconds+batch)
		require.Greater(t, taken, seconds-batch)
	})
}

// A caller that owes tokens and stays away still owes them when it comes back, also when many others have come
// in the meantime. Once all are paid, the table forgets it.
func TestDebtOfACallerThatStaysAway(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		table := newBuckets[string](tokenRate{1, rateSaved})
		table.most = 100
		_, wait := table.rate.take(table.bucket("cheat"), "viewer", 1000, 0)
		require.Zero(t, wait)
		for i := range 900 {
			time.Sleep(time.Second)
			for one := range 10 {
				table.rate.take(table.bucket(strconv.Itoa(10*i+one)), "viewer", 1, 0)
			}
		}
		_, wait = table.rate.take(table.bucket("cheat"), "viewer", 1000, 0)
		require.Equal(t, 100*time.Second, wait)
		for range 10 {
			time.Sleep(time.Minute)
			table.bucket("other")
		}
		require.NotContains(t, table.newer, "cheat")
		require.NotContains(t, table.older, "cheat")
	})
}

// Callers that owe tokens do not make the table grow beyond its bound.
func TestDebtsAreBounded(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		table := newBuckets[int](tokenRate{1, rateSaved})
		table.most = 100
		for i := range 1000 {
			table.rate.take(table.bucket(i), "viewer", 1000, 0)
			require.LessOrEqual(t, len(table.newer)+len(table.older), 300)
			if i%250 == 0 {
				time.Sleep(time.Minute)
			}
		}
	})
}
