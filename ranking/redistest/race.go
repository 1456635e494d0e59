//go:build race

package redistest

const (
	underRace = true
	stride    = 4
)
