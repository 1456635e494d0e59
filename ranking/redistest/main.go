package redistest

import (
	"flag"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"go.uber.org/goleak"
)

// waiters is how many tests run at once for each processor. Most tests wait more than they
// compute: for a lease, for the next second, for an answer of Redis.
const waiters = 4

// AsLoginShell lets the programs that a test starts begin as they do from a login shell, whatever the test was started
// by: nohup, a job in the background or a CI may ignore signals, set variables of Rankcast and its proxies, or mask files.
// TestMain calls it first.
func AsLoginShell() {
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGPIPE} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s) // a program that the runtime starts has the default for a signal with a handler
		}
	}
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, "RANKCAST_") || strings.HasSuffix(strings.ToLower(name), "_proxy") || name == "NO_COLOR" ||
			name == "GOMEMLIMIT" || name == "GOGC" {
			os.Unsetenv(name)
		}
	}
	syscall.Umask(0o022)
}

// Main runs a package's tests, for its TestMain. More tests run side by side than there are
// processors, unless the command line has -test.parallel. A goroutine that is left when all
// tests have ended fails the package, except those that ignore names.
func Main(m goleak.TestingM, ignore ...goleak.Option) {
	AsLoginShell()
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", strconv.Itoa(waiters*runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}
	// Where Redis is away, a pool that is closed may sleep for up to a second before it notices.
	ignore = append(ignore, goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"))
	goleak.VerifyTestMain(m, ignore...)
}
