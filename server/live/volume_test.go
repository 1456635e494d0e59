//go:build !race && !soak

package live_test

// The volume of tests that draw random updates or open many sockets; see also volume_race_test.go and
// volume_soak_test.go.
const (
	convergenceRounds = 8
	rolloverSockets   = 100
)
