//go:build !race

package view

// histories is how many a property test draws; `make soak` draws many more.
const histories = "2000"
