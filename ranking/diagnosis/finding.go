package diagnosis

import (
	"fmt"
	"slices"
	"strings"
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
	Expiry        = "expiry"
	Clock         = "clock"
	RoundTrip     = "round trip"
	Cluster       = "cluster"
	Definitions   = "definitions"
)

// Finding is the result of one check.
type Finding struct {
	Check  string // what was checked, such as "eviction"
	Server string // host:port of the master of a cluster that the finding concerns, or of several: "a:1, b:2"; "" for all of Redis
	Level  Level
	Found  string // what the check found
	Fix    string // what to change, or how to find out; "" where the level is OK
}

// OnEachNode begins a fix with a command for all nodes of a cluster. HOST:PORT stands in the command for their
// addresses.
const OnEachNode = "on each node of the cluster: "

// perServer makes one check on each server, in the order of servers. It joins the findings where all
// servers have the same, but for their addresses. Servers without a Name, such as a Redis without a cluster,
// get no name in their finding.
func perServer(servers []*Server, check func(*Server) Finding) []Finding {
	var all, joined []Finding
	for _, s := range servers {
		f := check(s)
		f.Server = s.Name
		all = append(all, f)
		anywhere := *s
		anywhere.CLI = strings.Replace(s.CLI, s.Name, "HOST:PORT", 1)
		joined = append(joined, check(&anywhere))
	}
	differs := func(f Finding) bool { return f != joined[0] }
	if len(all) < 2 || slices.ContainsFunc(joined, differs) {
		return all
	}
	if strings.Contains(joined[0].Fix, "redis-cli ") && joined[0].Check != RoundTrip { // whose fix begins with another act
		joined[0].Fix = OnEachNode + joined[0].Fix
	}
	return joined[:1]
}

// Counted is a number of things in words: 1 board, 7 boards.
func Counted(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
