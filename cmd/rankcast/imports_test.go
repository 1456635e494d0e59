package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Modules that belong to one layer.
const (
	redisClient = "github.com/redis"
	redisInGo   = "github.com/alicebob"
	echo        = "github.com/labstack"
	sockets     = "github.com/coder/websocket"
)

// loadGenerator measures a server from outside: it is a client of HTTP, of sockets and of the bare Redis.
const loadGenerator = "cmd/rankcast/internal/bench"

// endToEnd are the tests of the whole program, and what these tests share.
const endToEnd = "cmd/rankcast/e2e"

// importRules forbid imports to the packages of a folder, those below it included. Import paths that begin with
// a dot are of this module.
var importRules = []struct {
	folder string
	forbid []string // import paths, each with all below it
	except []string // import paths that are allowed all the same
	deep   bool     // the rule holds for what the imports import, too
	beside []string // folders below to which the rule does not apply
}{
	// The layers: each imports only those below it, and web imports none of them. Only
	// ranking knows Redis; only server knows Echo and sockets.
	{folder: "cmd", forbid: []string{"./web", redisClient, redisInGo, echo, sockets}, beside: []string{loadGenerator, endToEnd}},
	{folder: "server", forbid: []string{"./cmd", redisClient, redisInGo}},
	{folder: "hub", forbid: []string{"./cmd", "./server", "./web", redisClient, redisInGo, echo, sockets}},
	{folder: "ranking", forbid: []string{"./cmd", "./server", "./hub", "./web", echo, sockets}},
	{folder: "web", forbid: []string{"./cmd", "./server", "./hub", "./ranking", redisClient, redisInGo, echo, sockets}},

	// Pure packages do no input and output. (The view has entries and places of package
	// ranking, and calls nothing there.)
	{folder: "ranking/calendar", forbid: []string{redisClient, redisInGo, "net"}, deep: true},
	{folder: "ranking/definition", forbid: []string{redisClient, redisInGo, "net/http"}, deep: true},
	{folder: "ranking/sortkey", forbid: []string{redisClient, redisInGo, "net/http"}, deep: true},
	{folder: "ranking/internal/keyspace", forbid: []string{redisClient, redisInGo, "net"}, deep: true},
	{folder: "ranking/internal/batch", forbid: []string{redisClient, redisInGo}, deep: true},
	{folder: "ranking/feed", forbid: []string{"./ranking/internal/script", "./ranking/internal/batch", "./ranking/lua"}},
	{folder: "hub/view", forbid: []string{"net", "net/http", "./hub"}},

	// A client shares no code with the server.
	{folder: "server/client", forbid: []string{"."}},

	// The binary holds files that are ready for browsers, and nothing that makes them.
	{folder: "cmd/rankcast", forbid: []string{"github.com/evanw/esbuild", "github.com/yuin/goldmark"}, deep: true},

	// The commands: each stands alone, and knows of the server what any client knows. Only
	// credentials, accessfile and doctor know the access file too.
	{folder: "cmd/rankcast/internal", forbid: []string{"./hub", "./server"}, except: []string{"./server/client", "./server/access"}},
	{folder: loadGenerator, forbid: []string{"./web", redisInGo, echo, "./cmd", "./ranking", "./server/access"},
		except: []string{"./cmd/rankcast/internal/example", "./cmd/rankcast/internal/flags", "./cmd/rankcast/internal/remote",
			"./cmd/rankcast/internal/term", "./ranking/definition", "./ranking/fair", "./ranking/localredis"}},
	{folder: "cmd/rankcast/internal/credentials", forbid: []string{"./cmd", "./server/client", "./ranking"}},
	{folder: "cmd/rankcast/internal/define", forbid: []string{"./server/access"}},
	{folder: "cmd/rankcast/internal/send", forbid: []string{"./server/access"}},
	{folder: "cmd/rankcast/internal/replay", forbid: []string{"./server/access"}},
	{folder: "cmd/rankcast/internal/watch", forbid: []string{"./server/access"}},
	{folder: "cmd/rankcast/internal/demo", forbid: []string{"./cmd", "./server"}, except: []string{"./cmd/rankcast/internal/example"}},
	{folder: "cmd/rankcast/internal/accessfile", forbid: []string{"."}, except: []string{"./server/access"}},
	{folder: "cmd/rankcast/internal/doctor", forbid: []string{"./cmd", "./server/client"},
		except: []string{"./cmd/rankcast/internal/accessfile", "./cmd/rankcast/internal/term"}},
	{folder: "cmd/rankcast/internal/example", forbid: []string{"."}},
	{folder: "cmd/rankcast/internal/flags", forbid: []string{"."}},
	{folder: "cmd/rankcast/internal/heapfloor", forbid: []string{"."}},
	{folder: "cmd/rankcast/internal/remote", forbid: []string{"./cmd", "./ranking"}, except: []string{"./cmd/rankcast/internal/term"}},
	{folder: "cmd/rankcast/internal/replay", forbid: []string{"./cmd"}, except: []string{"./cmd/rankcast/internal/remote",
		"./cmd/rankcast/internal/term"}},
	{folder: "cmd/rankcast/internal/term", forbid: []string{"./cmd", "./ranking"}, except: []string{"./ranking/scoretext"}},
	{folder: "cmd/rankcast/internal/watch", forbid: []string{"./cmd"}, except: []string{"./cmd/rankcast/internal/remote",
		"./cmd/rankcast/internal/term"}},
}

// within reports whether an import path is a folder's or below it.
func within(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

func TestImportsRunOneWay(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-m").Output()
	require.NoError(t, err)
	module := strings.TrimSpace(string(out))
	whole := func(rule string) string {
		if below, own := strings.CutPrefix(rule, "."); own {
			return module + below
		}
		return rule
	}
	out, err = exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}|{{join .Deps " "}}`, module+"/...").CombinedOutput()
	require.NoError(t, err, "%s", out)
	checked := make(map[string]bool)
	for line := range strings.Lines(string(out)) {
		direct, deep, _ := strings.Cut(line, "|")
		f := strings.Fields(direct)
		for _, rule := range importRules {
			isOf := func(folder string) bool { return within(f[0], module+"/"+folder) }
			if !isOf(rule.folder) || slices.ContainsFunc(rule.beside, isOf) {
				continue
			}
			checked[rule.folder] = true
			imports := f[1:]
			if rule.deep {
				imports = strings.Fields(deep)
			}
			for _, imported := range imports {
				for _, forbidden := range rule.forbid {
					if within(imported, whole(forbidden)) && !slices.ContainsFunc(rule.except,
						func(e string) bool { return imported == whole(e) }) && !strings.HasPrefix(imported, f[0]+"/") {
						t.Errorf("%s imports %s, which packages below %s must not", f[0], imported, rule.folder)
					}
				}
			}
		}
	}
	for _, rule := range importRules {
		require.True(t, checked[rule.folder], "there are no packages below %s", rule.folder)
	}
}
