package script

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"

	rankinglua "rankcast/ranking/lua"
	"rankcast/ranking/redistest"
)

// globals are the names that a script of Redis may use.
var globals = map[string]bool{"KEYS": true, "ARGV": true, "redis": true, "string": true, "table": true, "math": true,
	"tonumber": true, "unpack": true, "ipairs": true, "tostring": true, "cmsgpack": true, "pairs": true, "select": true,
	"pcall": true, "type": true}

// undefined returns the names of a function, and of those within it, that are neither local nor global.
func undefined(f *lua.FunctionProto) (names []string) {
	for _, instruction := range f.Code {
		if op := int(instruction >> 26); op == lua.OP_GETGLOBAL || op == lua.OP_SETGLOBAL {
			if name := f.Constants[instruction&0x3ffff].String(); !globals[name] || op == lua.OP_SETGLOBAL {
				names = append(names, name)
			}
		}
	}
	for _, within := range f.FunctionPrototypes {
		names = append(names, undefined(within)...)
	}
	return names
}

// Each name in a script is defined, and no line for a part of lua/lib is left in it.
func TestScriptsAreWhole(t *testing.T) {
	t.Parallel()
	for _, s := range loaded {
		chunk := redistest.Must(parse.Parse(strings.NewReader(s.Source), s.Name))(t, s.Name)
		compiled := redistest.Must(lua.Compile(chunk, s.Name))(t, s.Name)
		require.Empty(t, undefined(compiled), s.Name)
		require.False(t, regexp.MustCompile(`(?m)^\s*--\+`).MatchString(s.Source), s.Name)
	}
}

// Each file of ranking/lua is a script, and the scripts that are said to change nothing have no command that Redis itself
// takes for a write: a closed gate of rights stops those that write.
func TestScriptsSayWhetherTheyWrite(t *testing.T) {
	t.Parallel()
	infos := redistest.Must(redistest.Start(t).Admin().Command(t.Context()).Result())(t)
	call := regexp.MustCompile(`\bcall\('([A-Z]+)'`)
	var verbs, files []string
	for _, s := range loaded {
		verbs = append(verbs, s.Name+".lua")
		if s.Writes {
			continue
		}
		for _, found := range call.FindAllSubmatch(expand(s.Name, true), -1) {
			command := strings.ToLower(string(found[1]))
			require.NotContains(t, infos[command].Flags, "write", "%s: %s", s.Name, command)
		}
	}
	entries := redistest.Must(rankinglua.Files.ReadDir("."))(t)
	for _, e := range entries {
		if !e.IsDir() {
			files = append(files, e.Name())
		}
	}
	slices.Sort(verbs)
	require.Equal(t, files, slices.Compact(verbs))
}

// On a cluster the scripts of boards publish by SPUBLISH. Feeds and profiles stay on PUBLISH.
func TestScriptsOfBoardsOnACluster(t *testing.T) {
	t.Parallel()
	const one, all = "local PUBLISH = 'PUBLISH'\n", "local PUBLISH = 'SPUBLISH'\n"
	for _, s := range []Script{Sweep, Moderate, Erase, Clear, Swap, ApplyPlain, ApplyWhole} {
		require.NotNil(t, s.sharded, s.Name)
		require.True(t, strings.HasPrefix(s.Source, one), s.Name)
		require.True(t, strings.TrimPrefix(s.Source, one) == strings.TrimPrefix(s.sharded.Source, all), s.Name)
	}
	for _, s := range loaded {
		if s.Name != "event" && strings.Contains(s.Source, "call(PUBLISH") { // event.lua has apply.lua in its function
			require.True(t, strings.HasPrefix(s.Source, one) || strings.HasPrefix(s.Source, all), s.Name)
		}
	}
}
