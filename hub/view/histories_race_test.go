//go:build race

package view

// histories is how many a property test draws under the race detector, which finds nothing
// in a history that it does not find in the first: the view starts no goroutine.
const histories = "500"
