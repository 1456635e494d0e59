package ranking

import (
	"runtime/debug"
	"testing"

	"rankcast/ranking/redistest"
)

// heapGrowth is how much the heap grows until garbage is collected, in percent of what is
// in use. The embedded store makes much garbage: with 100, Go's default, a fifth of the
// tests' CPU goes to the collector; with 400 the tests need more than 1 GiB.
const heapGrowth = 200

func TestMain(m *testing.M) {
	debug.SetGCPercent(heapGrowth)
	redistest.Main(m)
}
