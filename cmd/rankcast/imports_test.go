package main

import (
	"os/exec"
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

// importRules forbid imports to the packages of a folder, those below it included. A
// folder that does not exist yet has no packages.
var importRules = []struct {
	folder string
	forbid []string // import paths, each with all below it
	except string   // an import path that is allowed all the same
}{
	// The layers: each imports only those below it, and web imports none of them. Only
	// ranking knows Redis; only server knows Echo and sockets.
	{folder: "cmd", forbid: []string{"rankcast/web", redisClient, redisInGo, echo, sockets}},
	{folder: "server", forbid: []string{"rankcast/cmd", redisClient, redisInGo}},
	{folder: "hub", forbid: []string{"rankcast/cmd", "rankcast/server", "rankcast/web", redisClient, redisInGo, echo, sockets}},
	{folder: "ranking", forbid: []string{"rankcast/cmd", "rankcast/server", "rankcast/hub", "rankcast/web", echo, sockets}},
	{folder: "web", forbid: []string{"rankcast/cmd", "rankcast/server", "rankcast/hub", "rankcast/ranking", redisClient, redisInGo, echo, sockets}},

	// Pure packages do no input and output.
	{folder: "ranking/calendar", forbid: []string{redisClient, redisInGo, "net/http"}},
	{folder: "ranking/definition", forbid: []string{redisClient, redisInGo, "net/http"}},
	{folder: "hub/view", forbid: []string{"net/http"}},

	// A client shares no code with the server.
	{folder: "server/client", forbid: []string{"rankcast"}},

	// The commands: each stands alone, and knows of the server what any client knows.
	{folder: "cmd/rankcast/internal", forbid: []string{"rankcast/hub", "rankcast/server"}, except: "rankcast/server/client"},
	{folder: "cmd/rankcast/internal/demo", forbid: []string{"rankcast/cmd", "rankcast/server"}},
	{folder: "cmd/rankcast/internal/replay", forbid: []string{"rankcast/cmd"}, except: "rankcast/cmd/rankcast/internal/term"},
	{folder: "cmd/rankcast/internal/term", forbid: []string{"rankcast/cmd", "rankcast/ranking"}},
	{folder: "cmd/rankcast/internal/watch", forbid: []string{"rankcast/cmd"}, except: "rankcast/cmd/rankcast/internal/term"},
}

// within reports whether an import path is a folder's or below it.
func within(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

func TestImportsRunOneWay(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "rankcast/...").CombinedOutput()
	require.NoError(t, err, "%s", out)
	checked := make(map[string]bool)
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		for _, rule := range importRules {
			if !within(f[0], "rankcast/"+rule.folder) {
				continue
			}
			checked[rule.folder] = true
			for _, imported := range f[1:] {
				for _, forbidden := range rule.forbid {
					if within(imported, forbidden) && imported != rule.except && !strings.HasPrefix(imported, f[0]+"/") {
						t.Errorf("%s imports %s, which packages below %s must not", f[0], imported, rule.folder)
					}
				}
			}
		}
	}
	for _, layer := range []string{"cmd", "server", "hub", "ranking", "web", "cmd/rankcast/internal"} {
		require.True(t, checked[layer], "there are packages below %s", layer)
	}
}
