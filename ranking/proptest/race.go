//go:build race

package proptest

// slower is by how much fewer cases Check draws under the race detector.
const slower = 5
