//go:build !race

package proptest

const slower = 1
