//go:build !race

package rankingtest

const slower = 1
