//go:build race && !soak

package live_test

// The race detector takes each round several times as long.
const (
	convergenceRounds = 2
	rolloverSockets   = 50
)
