package main

import (
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"rankcast/cmd/rankcast/internal/accessfile"
	"rankcast/cmd/rankcast/internal/remote"
)

// ownVariables is the start of the names of all variables that the program reads.
const ownVariables = "RANKCAST_"

// clusterVariable matches what Kubernetes sets in each container for a service rankcast, or rankcast-redis, and Docker for a
// link: RANKCAST_SERVICE_HOST, RANKCAST_SERVICE_PORT_HTTP, RANKCAST_PORT, RANKCAST_PORT_80_TCP_ADDR.
var clusterVariable = regexp.MustCompile(`_SERVICE_HOST$|_SERVICE_PORT(_[A-Z0-9_]+)?$|_PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?$`)

// warnOfUnknownVariables logs the variables of the environment that look as if they were for the program, which has no
// flag for them.
func warnOfUnknownVariables(log *slog.Logger, app *kong.Application) {
	known := []string{accessfile.TextVariable, remote.KeyVariable}
	_ = kong.Visit(app, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok {
			known = append(known, flag.Envs...)
		}
		return next(nil)
	})
	for _, name := range unknownVariables(os.Environ(), known) {
		log.Warn("nothing reads this variable of the environment", "variable", name)
	}
}

// unknownVariables returns the names in environ, sorted, that are neither known nor set by a cluster.
func unknownVariables(environ, known []string) (names []string) {
	for _, variable := range environ {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, ownVariables) && !slices.Contains(known, name) && !clusterVariable.MatchString(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
