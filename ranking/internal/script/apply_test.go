package script

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"

	"rankcast/ranking/redistest"
)

// globals are the names that a script of Redis may use.
var globals = map[string]bool{"KEYS": true, "ARGV": true, "redis": true, "string": true, "table": true, "math": true, "tonumber": true, "unpack": true, "ipairs": true, "select": true, "pcall": true, "type": true}

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

// compileWhole compiles a script, and requires that each name in it is defined.
func compileWhole(t *testing.T, s Script) {
	t.Helper()
	chunk, err := parse.Parse(strings.NewReader(s.Source), s.Name)
	require.NoError(t, err)
	compiled, err := lua.Compile(chunk, s.Name)
	require.NoError(t, err)
	require.Empty(t, undefined(compiled))
	require.True(t, s.Writes)
	require.NotRegexp(t, `(?m)^\s*--\+`, s.Source)
}

// Each set of parts makes a script in which each name is defined.
func TestApplyOfEachSetOfParts(t *testing.T) {
	t.Parallel()
	bySource := make(map[string]Part)
	for parts := range AllParts + 1 {
		s := Apply(parts)
		compileWhole(t, s)
		if other, ok := bySource[s.Source]; ok {
			require.Equal(t, other, parts.WithImplied())
		}
		bySource[s.Source] = parts.WithImplied()
	}
	require.Len(t, bySource, 48, "64 sets without the 16 that lack what taking back implies")
	require.Less(t, len(Apply(0).Source), len(Apply(AllParts).Source))
}

// Both engines compile each set of parts.
func TestEnginesCompileEachSetOfParts(t *testing.T) {
	t.Parallel()
	redistest.Engines(t, func(t *testing.T, url string) {
		o, err := redis.ParseURL(url)
		require.NoError(t, err)
		rdb := redis.NewClient(o)
		defer rdb.Close()
		var all PartSets
		for parts := range AllParts + 1 {
			s := Apply(parts)
			require.Equal(t, s.SHA1, rdb.ScriptLoad(t.Context(), s.Source).Val(), fmt.Sprintf("parts %b", parts))
			all.Add(parts)
		}
		s := Event(all)
		require.Equal(t, s.SHA1, rdb.ScriptLoad(t.Context(), s.Source).Val())
	})
}

// The script of events has apply.lua once for each set of parts, at the place that the caller names.
func TestEventOfEachSetOfParts(t *testing.T) {
	t.Parallel()
	var sets PartSets
	for _, parts := range []Part{Window, 0, TakingBack, Leaving | TakingBack, Tied | Data} {
		sets.Add(parts)
	}
	s := Event(sets)
	compileWhole(t, s)
	at, last := 0, -1
	for parts := range AllParts + 1 {
		body := "function(KEYS, ARGV)\n" + Apply(parts).Source + "end,\n"
		if i := strings.Index(s.Source, body); i >= 0 && parts == parts.WithImplied() {
			require.Greater(t, i, last)
			at, last = at+1, i
			require.Equal(t, at, sets.Place(parts), "parts %b", parts)
		}
	}
	require.Equal(t, 4, at)
	require.Equal(t, sets.Place(TakingBack), sets.Place(TakingBack|Leaving))
	require.Equal(t, s, Event(sets))
}

// On a cluster the scripts of boards publish by SPUBLISH. Feeds and profiles stay on PUBLISH.
func TestScriptsOfBoardsOnACluster(t *testing.T) {
	t.Parallel()
	for _, s := range []Script{Sweep, Moderate, Erase, Clear, Swap, Apply(0), Apply(AllParts)} {
		require.NotNil(t, s.sharded, s.Name)
		compileWhole(t, *s.sharded)
		require.Contains(t, s.sharded.Source, "call('SPUBLISH'", s.Name)
		require.NotRegexp(t, `\bPUBLISH'|SSPUBLISH`, s.sharded.Source, s.Name)
	}
	for _, s := range []Script{Publish, Profile, Settle} {
		require.Nil(t, s.sharded, s.Name)
	}
}
