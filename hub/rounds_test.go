//go:build !race

package hub

// slower is by how much fewer rounds a random history has under the race detector.
const slower = 1
