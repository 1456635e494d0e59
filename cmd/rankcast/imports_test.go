package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// layers are the parts of the program. Each imports only those after it; web
// imports none of them and is imported by server alone.
var layers = []string{"cmd", "server", "hub", "ranking"}

func TestImportsRunOneWay(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "rankcast/...").CombinedOutput()
	require.NoError(t, err, "%s", out)
	part := func(path string) string { return strings.Split(strings.TrimPrefix(path, "rankcast/"), "/")[0] }
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		from := part(f[0])
		for _, imported := range f[1:] {
			if to := part(imported); strings.HasPrefix(imported, "rankcast/") && to != from {
				if to == "web" {
					require.Equal(t, "server", from, "%s imports %s", f[0], imported)
					continue
				}
				require.NotEqual(t, "web", from, "%s imports %s", f[0], imported)
				require.Less(t, slices.Index(layers, from), slices.Index(layers, to), "%s imports %s", f[0], imported)
			}
			if f[0] == "rankcast/server/client" {
				require.NotContains(t, imported, "rankcast", "a client is not the server")
			}
			if strings.HasPrefix(imported, "github.com/redis/") || strings.HasPrefix(imported, "github.com/alicebob/") {
				require.Equal(t, "ranking", from, "only ranking knows Redis: %s imports %s", f[0], imported)
			}
			if strings.HasPrefix(imported, "github.com/labstack/") || imported == "github.com/coder/websocket" {
				require.Equal(t, "server", from, "only server knows Echo and sockets: %s imports %s", f[0], imported)
			}
		}
	}
}
