package ranking

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"

	"rankcast/ranking/definition"
	scripts "rankcast/ranking/lua"
)

// Go and the scripts mean the same by the constants that both have.
func TestConstantsOfScripts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, name string
		want       int64
	}{
		{"apply", "EXPIRE", ttlSweep},
		{"apply", "MOST", definition.MaxScore},
		{"apply", "AHEAD", definition.MaxAhead.Milliseconds()},
		{"lib/apply_window", "SWEEP", windowSweep},
		{"lib/amend", "IDS_LEAST", definition.LeastIDSpan.Microseconds()},
		{"lib/leaving", "REMOVED_FOR", 2 * definition.LeastIDSpan.Microseconds()},
		{"forget", "SET_BACK", 2 * definition.LeastIDSpan.Microseconds()},
		{"lib/lock", "LEASE", buildLease.Microseconds()},
		{"lib/window", "BUILDS", erasedKept.Microseconds()},
	} {
		src := must(scripts.Files.ReadFile(c.file + ".lua"))(t)
		found := regexp.MustCompile(`local ` + c.name + `(?:, \w+)* = ([^,\n]*?)(?:,|\s+--|\n)`).FindSubmatch(src)
		require.NotNil(t, found, "%s in %s.lua", c.name, c.file)
		l := lua.NewState()
		require.NoError(t, l.DoString("return "+string(found[1])))
		require.Equal(t, c.want, int64(l.CheckNumber(-1)), "%s in %s.lua", c.name, c.file)
		l.Close()
	}
}
