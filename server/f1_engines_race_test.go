//go:build race

package server_test

import (
	"testing"

	"rankcast/ranking/redistest"
)

// f1Engines runs a test of whole seasons on a real Redis only: the embedded store sorts a board for each
// read, and the race detector makes that several times as slow.
func f1Engines(t *testing.T, test func(t *testing.T, url string)) {
	t.Run("redis", func(t *testing.T) { test(t, redistest.Start(t).URL()) })
}
