//go:build !race

package hub

// slower divides the rounds of random histories; see the one for the race detector.
const slower = 1
