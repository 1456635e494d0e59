package doctor

import (
	"fmt"
	"slices"
)

// Level is the result of a check.
type Level int

const (
	OK      Level = iota
	Warning       // the deployment works, and may lose scores or be slow
	Problem       // the deployment does not work, or loses boards
	Unknown       // the check could not find out
)

// String returns the word for the level: ok, warning, problem or unknown.
func (l Level) String() string { return [...]string{"ok", "warning", "problem", "unknown"}[l] }

// The names of the checks. The last three are of the machine of a node.
const (
	Connection    = "redis"
	Version       = "version"
	Eviction      = "eviction"
	Persistence   = "persistence"
	Memory        = "memory"
	OutputBuffers = "output buffers"
	Clock         = "clock"
	Rights        = "rights"
	Definitions   = "definitions"
	Shards        = "shards"
	OpenFiles     = "open files"
	AccessFile    = "access file"
	BoardsFile    = "boards file"
)

// Finding is the result of one check.
type Finding struct {
	Check  string // what was checked, such as "eviction"
	Server string // host:port of the master of a cluster that the finding concerns, or of several: "a:1, b:2"; "" for all of Redis
	Level  Level
	Found  string // what the check found
	Fix    string // what to change, or how to find out, in one line; "" where the level is OK
}

// Counted is a number of things in words: 1 board, 7 boards.
func Counted(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// perServer makes one check on each server. Where all servers have the same finding, perServer returns it once, without
// the name of a server.
func perServer(servers []*server, check func(*server) Finding) []Finding {
	var all []Finding
	for _, s := range servers {
		all = append(all, check(s))
	}
	if !slices.ContainsFunc(all, func(f Finding) bool { return f != all[0] }) {
		return all[:min(len(all), 1)]
	}
	for i, s := range servers {
		all[i].Server = s.name
	}
	return all
}
