//go:build race

package e2e

// buildFlags build the program like its tests: under the race detector it too
// finds races.
var buildFlags = []string{"-race"}
