package ranking

import (
	"runtime/debug"
	"testing"

	"rankcast/ranking/redistest"
)

// heapGrowth is GOGC for the tests: the heap grows by this percentage of the live heap before
// the next collection. The embedded store makes much garbage. With 100, Go's default, the
// collector takes a fifth of the tests' CPU. With 400 the tests need more than 1 GiB.
const heapGrowth = 200

func TestMain(m *testing.M) {
	debug.SetGCPercent(heapGrowth)
	redistest.Main(m)
}
