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

// maxSlips is the most letters in which the name of a variable differs from the one that was meant.
const maxSlips = 3

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
		attributes := []any{"variable", name}
		if meant := nearest(name, known); meant != "" {
			attributes = append(attributes, "did_you_mean", meant)
		}
		log.Warn("nothing reads this variable of the environment", attributes...)
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

// nearest returns the known name that differs least from a name, and "" if none is within maxSlips.
func nearest(name string, known []string) string {
	best, least := "", maxSlips+1
	for _, candidate := range known {
		if slips := editDistance(name, candidate); slips < least {
			best, least = candidate, slips
		}
	}
	return best
}

// editDistance counts the letters to insert, to delete or to change (Levenshtein).
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
