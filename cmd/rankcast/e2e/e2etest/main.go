// Package e2etest starts the program for its tests from outside.
//
// Main, which TestMain calls, builds the binary and runs all tests of a package side by side. A test launches the servers
// that it needs (Launch), each with a store of its own, runs commands (Run), and opens windows of a browser (Window).
package e2etest

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"rankcast/ranking/redistest"
)

// ModuleRoot is the folder of the sources, seen from the folder of the tests.
const ModuleRoot = "../../../.."

// Binary is the program under test, built once.
var Binary string

// stopShared ends what the tests share.
var stopShared struct {
	sync.Mutex
	stops []func()
}

// atEnd lets TestMain call stop after the last test.
func atEnd(stop func()) {
	stopShared.Lock()
	defer stopShared.Unlock()
	stopShared.stops = append(stopShared.stops, stop)
}

// testsAtOnce is how many tests run side by side on each core. Most of them wait, for
// processes, leases, periods and animations.
const testsAtOnce = 3

// Main runs the tests of a package side by side, with the program built before. Its caller is TestMain.
func Main(m *testing.M) {
	redistest.AsLoginShell()
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		flag.Set("test.parallel", strconv.Itoa(testsAtOnce*runtime.GOMAXPROCS(0)))
	}
	os.Exit(runAll(m))
}

func runAll(m *testing.M) (code int) {
	dir, err := os.MkdirTemp("", "rankcast")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	Binary = filepath.Join(dir, "rankcast")
	if err := buildProgram(Binary); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code = m.Run()
	for _, stop := range stopShared.stops {
		stop()
	}
	http.DefaultClient.CloseIdleConnections()
	if code != 0 {
		return code
	}
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
