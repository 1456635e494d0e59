//go:build !race

package server_test

import (
	"testing"

	"rankcast/ranking/redistest"
)

// f1Engines runs a test of whole seasons on both engines.
func f1Engines(t *testing.T, test func(t *testing.T, url string)) { redistest.Engines(t, test) }
