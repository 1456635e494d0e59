package ranking

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/internal/script"
	"rankcast/ranking/lua"
	"rankcast/ranking/redistest"
)

// commandOf names the command of each method of the Redis client that this package and the feed
// call. A method that is not here fails TestEachCommandIsTried.
var commandOf = map[string]string{
	"Exists": "EXISTS", "Get": "GET", "GetDel": "GETDEL", "Set": "SET", "SetArgs": "SET", "HGet": "HGET", "HGetAll": "HGETALL", "HMGet": "HMGET", "HScan": "HSCAN", "HSet": "HSET", "Ping": "PING", "Publish": "PUBLISH",
	"XAdd": "XADD", "XRevRangeN": "XREVRANGE", "ZAddArgs": "ZADD", "ZCard": "ZCARD", "ZCount": "ZCOUNT", "ZLexCount": "ZLEXCOUNT", "ZRange": "ZRANGE", "ZRangeArgs": "ZRANGE",
	"ZRangeArgsWithScores": "ZRANGE", "ZRangeWithScores": "ZRANGE", "ZRem": "ZREM", "Scan": "SCAN", "ZScan": "ZSCAN", "ZScore": "ZSCORE",
	"Subscribe": "SUBSCRIBE", "Unsubscribe": "UNSUBSCRIBE", "SSubscribe": "SSUBSCRIBE", "SUnsubscribe": "SUNSUBSCRIBE", "MemoryUsage": "MEMORY",
	// Diagnose does without these.
	"ConfigGet": "", "Info": "", "Time": "",
	// These send nothing by themselves.
	"AddHook": "", "Close": "", "CloseIdle": "", "Exec": "", "ForEachMaster": "", "Options": "", "Pipeline": "", "Process": "", "Receive": "", "ReceiveTimeout": "", "Unwrap": "",
}

// sent lists the commands that the Go code of a folder sends by methods of a client.
func sent(t *testing.T, folder string) (commands []string) {
	files, err := fs.Glob(os.DirFS(folder), "*.go")
	require.NoError(t, err)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), folder+"/"+name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			method, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			of := ""
			switch x := method.X.(type) {
			case *ast.Ident:
				of = x.Name
			case *ast.SelectorExpr:
				of = x.Sel.Name
			}
			if !slices.Contains([]string{"rdb", "node", "pipe", "ps"}, of) {
				return true
			}
			command, known := commandOf[method.Sel.Name]
			require.True(t, known, "%s/%s: %s.%s sends a command that no check knows", folder, name, of, method.Sel.Name)
			if command != "" {
				commands = append(commands, command)
			}
			return true
		})
	}
	return commands
}

// luaText is the text of all scripts but try.lua, without comments.
func luaText(t *testing.T) string {
	var all strings.Builder
	require.NoError(t, fs.WalkDir(lua.Files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path == "try.lua" {
			return err
		}
		text, err := lua.Files.ReadFile(path)
		all.Write(text)
		return err
	}))
	return regexp.MustCompile(`(?m)--.*$`).ReplaceAllString(all.String(), "")
}

// quoted finds the commands that a pattern names.
func quoted(text, pattern string) map[string]bool {
	found := make(map[string]bool)
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		found[m[1]] = true
	}
	return found
}

// A command that is added later, without its check, fails this test.
func TestEachCommandIsTried(t *testing.T) {
	t.Parallel()
	text := luaText(t)
	literal := regexp.MustCompile(`\bcall\('[A-Z]+'`)
	require.Len(t, regexp.MustCompile(`\bcall\(`).FindAllString(strings.ReplaceAll(text, "pcall(function", ""), -1), len(literal.FindAllString(text, -1)), "a script that computes the name of a command cannot be checked")
	inScripts := quoted(text, `\b(?:redis\.p)?call\('([A-Z]+)'`)
	require.Greater(t, len(inScripts), 25)

	direct := slices.Concat(sent(t, "."), sent(t, "feed"), []string{"EVAL", "EVALSHA", "HLEN", "ZMSCORE"}) // see script.Run and finder
	slices.Sort(direct)
	direct = slices.DeleteFunc(slices.Compact(direct), func(command string) bool { return command == "MEMORY" })
	require.Equal(t, sentCommands, direct)

	tried := quoted(script.Try.Source, `\btry\('([A-Z]+)'`)
	for _, command := range []string{"EVAL", "EVALSHA", "SUBSCRIBE", "UNSUBSCRIBE", "SSUBSCRIBE", "SUNSUBSCRIBE"} { // see tryRights
		tried[command] = true
	}
	needed := maps.Clone(inScripts)
	needed["SPUBLISH"] = true // the scripts of boards publish by it on a cluster
	for _, command := range direct {
		needed[command] = true
	}
	require.Equal(t, slices.Sorted(maps.Keys(needed)), slices.Sorted(maps.Keys(tried)))
}

// A closed gate stops each command that Redis itself takes for a write.
func TestEachWriteIsKnown(t *testing.T) {
	t.Parallel()
	infos, err := redistest.Start(t).Admin().Command(t.Context()).Result()
	require.NoError(t, err)
	var known []string
	for _, command := range slices.Concat(slices.Collect(maps.Keys(quoted(luaText(t), `\bcall\('([A-Z]+)'`))), sentCommands) {
		// EVAL itself may write: its script decides.
		if flags := infos[strings.ToLower(command)].Flags; slices.Contains(flags, "write") && !slices.Contains(known, command) {
			known = append(known, command)
		}
	}
	slices.Sort(known)
	require.Equal(t, known, script.WriteCommands)
	for _, sc := range []script.Script{script.Apply(0), script.Publish, script.Claim, script.Profile} {
		require.True(t, sc.Writes, sc.Name)
	}
	for _, sc := range []script.Script{script.Page, script.Places, script.Catalog, script.Info, script.Try} {
		require.False(t, sc.Writes, sc.Name)
	}
}

// A script that publishes asks whether it may, before its first write.
func TestScriptsAskBeforeTheyPublish(t *testing.T) {
	t.Parallel()
	write := regexp.MustCompile(`call\('(?:PUBLISH|` + strings.Join(script.WriteCommands, "|") + `)'|\bids_keep\(`)
	asked := 0
	require.NoError(t, fs.WalkDir(lua.Files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path == "apply.lua" || path == "lib/window.lua" || path == "lib/changes.lua" { // board.lua stands before them
			return err
		}
		text, err := fs.ReadFile(lua.Files, path)
		if !strings.Contains(string(text), "call('PUBLISH'") && path != "lib/board.lua" {
			return err
		}
		asks := strings.Index(string(text), "allowed('PUBLISH', channel, '')")
		require.Positive(t, asks, path)
		if at := write.FindIndex(text); at != nil {
			require.Less(t, asks, at[0], path)
		}
		asked++
		return err
	}))
	require.Equal(t, 5, asked)
}
