package overview

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A rate is of the last 20 to 40 s, or of the time since the last reads; a new epoch begins anew, and has the
// rate of the last one until then, if that is not old.
func TestChangeRates(t *testing.T) {
	t.Parallel()
	var r changeRates
	began := time.Now()
	at := func(seconds int, epoch string, seq int64) any {
		if rate := r.of("b", epoch, seq, began.Add(time.Duration(seconds)*time.Second)); rate != nil {
			return *rate
		}
		return nil
	}
	require.Nil(t, at(0, "e1", 100))
	require.Nil(t, at(3, "e1", 103), "too short")
	require.EqualValues(t, 60, at(10, "e1", 110))
	require.EqualValues(t, 60, at(20, "e1", 120))
	require.EqualValues(t, 40, at(30, "e1", 120), "20 changes in 30 s")
	require.EqualValues(t, 0, at(40, "e1", 120), "none in 20 s")
	require.EqualValues(t, 6, at(640, "e1", 180), "60 in the ten minutes since the last read")
	require.EqualValues(t, 6, at(641, "e2", 1), "a new epoch")
	require.EqualValues(t, 12, at(651, "e2", 3))
	require.Nil(t, at(751, "e3", 9), "the last read is long ago")
	require.Nil(t, r.of("other", "e1", 5, began))
}
