//go:build race

package hub

// slower divides the rounds of random histories under the race detector, which slows each
// round down several times.
const slower = 3
