package redistest

import (
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// Clocked starts an embedded store whose clock the test sets, forwards and backwards. The clock
// stands still at the time of this call until the test calls set.
func Clocked(t testing.TB) (url string, set func(time.Time)) {
	m := miniredis.RunT(t)
	m.SetTime(time.Now())
	return "redis://" + m.Addr(), m.SetTime
}
