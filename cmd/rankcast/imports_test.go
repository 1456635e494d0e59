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

// importRules forbid imports to the packages of a folder, those below it included.
var importRules = []struct {
	folder string
	forbid []string // import paths, each with all below it
	except []string // import paths that are allowed all the same
	deep   bool     // the rule holds for what the imports import, too
}{
	// The layers: each imports only those below it, and web imports none of them. Only
	// ranking knows Redis; only server knows Echo and sockets.
	{folder: "cmd", forbid: []string{"rankcast/web", redisClient, redisInGo, echo, sockets}},
	{folder: "server", forbid: []string{"rankcast/cmd", redisClient, redisInGo}},
	{folder: "hub", forbid: []string{"rankcast/cmd", "rankcast/server", "rankcast/web", redisClient, redisInGo, echo, sockets}},
	{folder: "ranking", forbid: []string{"rankcast/cmd", "rankcast/server", "rankcast/hub", "rankcast/web", echo, sockets}},
	{folder: "web", forbid: []string{"rankcast/cmd", "rankcast/server", "rankcast/hub", "rankcast/ranking", redisClient, redisInGo, echo, sockets}},

	// Pure packages do no input and output. (The view has entries and places of package
	// ranking, and calls nothing there.)
	{folder: "ranking/calendar", forbid: []string{redisClient, redisInGo, "net"}, deep: true},
	{folder: "ranking/definition", forbid: []string{redisClient, redisInGo, "net/http"}, deep: true},
	{folder: "ranking/diagnosis", forbid: []string{redisClient, redisInGo, "net", "rankcast"}, deep: true},
	{folder: "ranking/sortkey", forbid: []string{redisClient, redisInGo, "net/http"}, deep: true},
	{folder: "ranking/internal/keyspace", forbid: []string{redisClient, redisInGo, "net"}, deep: true},
	{folder: "ranking/internal/batch", forbid: []string{redisClient, redisInGo}, deep: true},
	{folder: "ranking/feed", forbid: []string{"rankcast/ranking/internal/script", "rankcast/ranking/internal/batch", "rankcast/ranking/lua"}},
	{folder: "hub/view", forbid: []string{"net", "net/http", "rankcast/hub"}},

	// A client shares no code with the server.
	{folder: "server/client", forbid: []string{"rankcast"}},

	// The commands: each stands alone, and knows of the server what any client knows. Only
	// credentials, accessfile and doctor know the access file too.
	{folder: "cmd/rankcast/internal", forbid: []string{"rankcast/hub", "rankcast/server"}, except: []string{"rankcast/server/client", "rankcast/server/access"}},
	{folder: "cmd/rankcast/internal/bench", forbid: []string{"rankcast/cmd", "rankcast/ranking", "rankcast/server/access"}, except: []string{"rankcast/cmd/rankcast/internal/example", "rankcast/cmd/rankcast/internal/remote", "rankcast/cmd/rankcast/internal/term", "rankcast/ranking/definition", "rankcast/ranking/localredis"}},
	{folder: "cmd/rankcast/internal/credentials", forbid: []string{"rankcast/cmd", "rankcast/server/client", "rankcast/ranking"}},
	{folder: "cmd/rankcast/internal/define", forbid: []string{"rankcast/server/access"}},
	{folder: "cmd/rankcast/internal/send", forbid: []string{"rankcast/server/access"}},
	{folder: "cmd/rankcast/internal/replay", forbid: []string{"rankcast/server/access"}},
	{folder: "cmd/rankcast/internal/watch", forbid: []string{"rankcast/server/access"}},
	{folder: "cmd/rankcast/internal/demo", forbid: []string{"rankcast/cmd", "rankcast/server"}, except: []string{"rankcast/cmd/rankcast/internal/example"}},
	{folder: "cmd/rankcast/internal/accessfile", forbid: []string{"rankcast"}, except: []string{"rankcast/server/access"}},
	{folder: "cmd/rankcast/internal/doctor", forbid: []string{"rankcast/cmd", "rankcast/server/client"}, except: []string{"rankcast/cmd/rankcast/internal/accessfile", "rankcast/cmd/rankcast/internal/term"}},
	{folder: "cmd/rankcast/internal/example", forbid: []string{"rankcast"}},
	{folder: "cmd/rankcast/internal/heapfloor", forbid: []string{"rankcast"}},
	{folder: "cmd/rankcast/internal/remote", forbid: []string{"rankcast/cmd", "rankcast/ranking"}, except: []string{"rankcast/cmd/rankcast/internal/term"}},
	{folder: "cmd/rankcast/internal/replay", forbid: []string{"rankcast/cmd"}, except: []string{"rankcast/cmd/rankcast/internal/remote", "rankcast/cmd/rankcast/internal/term"}},
	{folder: "cmd/rankcast/internal/term", forbid: []string{"rankcast/cmd", "rankcast/ranking"}},
	{folder: "cmd/rankcast/internal/watch", forbid: []string{"rankcast/cmd"}, except: []string{"rankcast/cmd/rankcast/internal/remote", "rankcast/cmd/rankcast/internal/term"}},
}

// within reports whether an import path is a folder's or below it.
func within(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

func TestImportsRunOneWay(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}|{{join .Deps " "}}`, "rankcast/...").CombinedOutput()
	require.NoError(t, err, "%s", out)
	checked := make(map[string]bool)
	for line := range strings.Lines(string(out)) {
		direct, deep, _ := strings.Cut(line, "|")
		f := strings.Fields(direct)
		for _, rule := range importRules {
			if !within(f[0], "rankcast/"+rule.folder) {
				continue
			}
			checked[rule.folder] = true
			imports := f[1:]
			if rule.deep {
				imports = strings.Fields(deep)
			}
			for _, imported := range imports {
				for _, forbidden := range rule.forbid {
					if within(imported, forbidden) && !slices.Contains(rule.except, imported) && !strings.HasPrefix(imported, f[0]+"/") {
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
