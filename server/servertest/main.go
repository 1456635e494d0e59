package servertest

import (
	"flag"
	"runtime"
	"strconv"
	"testing"

	"go.uber.org/goleak"
)

// testsPerCore is how many parallel tests run for each core. These tests mostly wait: for a node's
// timers, a Redis that starts, a lease that expires.
const testsPerCore = 4

// Main runs a package's tests and fails if a goroutine outlives them. It runs testsPerCore parallel
// tests for each core, unless the command line says -parallel.
func Main(m *testing.M, ignore ...goleak.Option) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", strconv.Itoa(testsPerCore*runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m, ignore...)
}

// IdleConnections makes Main ignore the idle connections of http.DefaultTransport and of clients that
// tests do not close.
func IdleConnections() []goleak.Option {
	return []goleak.Option{
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"),
	}
}
