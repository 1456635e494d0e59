package redistest

import (
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// Clocked starts an embedded store whose clock the test moves, to and fro. It shows
// the time of the call until set is called, and stands still in between.
func Clocked(t testing.TB) (url string, set func(time.Time)) {
	m := miniredis.RunT(t)
	m.SetTime(time.Now())
	return "redis://" + m.Addr(), m.SetTime
}
