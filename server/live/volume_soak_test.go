//go:build soak

package live_test

const (
	convergenceRounds = 40
	rolloverSockets   = 500
)
