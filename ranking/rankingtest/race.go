//go:build race

package rankingtest

// slower is how much fewer histories are drawn under the race detector, which takes each
// several times as long.
const slower = 5
