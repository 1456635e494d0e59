//go:build !race

package redistest

const (
	underRace = false
	stride    = 1
)
