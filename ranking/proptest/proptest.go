// Package proptest runs property tests of pgregory.net/rapid side by side, each with a
// number of cases of its own. rapid knows one number and one seed for all tests of a
// process, its flags -rapid.checks and -rapid.seed.
package proptest

import (
	"flag"
	"strconv"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// seed is the seed of all tests that draw the same cases in each run.
const seed = "20261122"

// Check requires that prop holds for n random cases: other cases in each run. The flags
// -rapid.checks and -rapid.seed override n and the seed. Under the race detector, which
// slows each case down several times, Check draws fewer cases.
func Check(t testing.TB, n int, prop func(*rapid.T)) {
	t.Helper()
	check(t, n, "0", prop)
}

// CheckSeeded is like Check, but draws the same cases in each run, unless the command
// line has -rapid.checks or -rapid.seed.
func CheckSeeded(t testing.TB, n int, prop func(*rapid.T)) {
	t.Helper()
	check(t, n, seed, prop)
}

// reading guards rapid's flags. rapid.Check reads them before it draws the first case.
var reading sync.Mutex

// given are the flags of the command line.
var given = sync.OnceValue(func() map[string]bool {
	names := make(map[string]bool)
	flag.Visit(func(f *flag.Flag) { names[f.Name] = true })
	return names
})

func check(t testing.TB, n int, seed string, prop func(*rapid.T)) {
	t.Helper()
	reading.Lock()
	unlock := sync.OnceFunc(reading.Unlock)
	defer unlock()
	if !given()["rapid.checks"] {
		set(t, "rapid.checks", strconv.Itoa(max(n/slower, 1)))
		if !given()["rapid.seed"] {
			set(t, "rapid.seed", seed)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		unlock()
		prop(t)
	})
}

func set(t testing.TB, name, value string) {
	if err := flag.Set(name, value); err != nil {
		t.Fatal(err)
	}
}
