package definition

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// zoneNames are the names that the package time/tzdata knows, one a line. All nodes accept the same names: a machine
// also finds data by other ones, such as Europe//Berlin, localtime or right/UTC, and another machine does not.
//
//go:embed zones.txt
var zoneNames string

var zones = sync.OnceValue(func() []string { return strings.Fields(zoneNames) })

// loadZone finds an IANA time zone. Its data are those of the machine, or else those of the binary.
func loadZone(zone string) (*time.Location, error) {
	if slices.Contains(zones(), zone) {
		if loc, err := time.LoadLocation(zone); err == nil {
			return loc, nil
		}
	}
	return nil, Invalid("timezone", fmt.Sprintf("is %q; want an IANA time zone, such as Asia/Shanghai or UTC", Clip(zone)))
}
