package redistest

import (
	"flag"
	"runtime"
	"strconv"

	"go.uber.org/goleak"
)

// waiters is how many tests run at once for each processor. Most tests wait more than they
// compute: for a lease, for the next second, for an answer of Redis.
const waiters = 4

// Main runs a package's tests, for its TestMain. More tests run side by side than there are
// processors, unless the command line has -test.parallel. A goroutine that is left when all
// tests have ended fails the package, except those that ignore names.
func Main(m goleak.TestingM, ignore ...goleak.Option) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", strconv.Itoa(waiters*runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m, ignore...)
}
