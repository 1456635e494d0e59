//go:build race

package rankingtest

// slower divides the number of histories under the race detector, under which each history
// takes several times as long.
const slower = 5
