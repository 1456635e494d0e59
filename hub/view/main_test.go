package view

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

// TestMain draws more histories than the hundred of rapid, unless the command line names a
// number: the histories are short. No test may leave a goroutine.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", histories); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}
