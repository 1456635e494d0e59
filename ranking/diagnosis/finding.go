package diagnosis

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

// The names of the checks of Redis.
const (
	Connection    = "redis"
	Version       = "version"
	Role          = "role"
	Rights        = "rights"
	Eviction      = "eviction"
	Persistence   = "persistence"
	Memory        = "memory"
	OutputBuffers = "output buffers"
	Clock         = "clock"
	RoundTrip     = "round trip"
	Cluster       = "cluster"
	Definitions   = "definitions"
)

// Finding is the result of one check.
type Finding struct {
	Check  string // what was checked, such as "eviction"
	Server string // host:port of the one master of a cluster that the finding concerns; "" for all of Redis
	Level  Level
	Found  string // what the check found
	Fix    string // what to change, or how to find out; "" where the level is OK
}

// perServer makes one check on each server, in the order of servers. It joins the findings where all
// servers have the same. Servers without a Name, such as a Redis without a cluster, get no name in
// their finding.
func perServer(servers []*Server, check func(*Server) Finding) []Finding {
	var all []Finding
	for _, s := range servers {
		f := check(s)
		f.Server = s.Name
		all = append(all, f)
	}
	same := func(f Finding) bool {
		f.Server = all[0].Server
		return f != all[0]
	}
	if len(all) > 1 && !slices.ContainsFunc(all, same) {
		all = all[:1]
		all[0].Server = ""
	}
	return all
}

// Counted is a number of things in words: 1 board, 7 boards.
func Counted(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
