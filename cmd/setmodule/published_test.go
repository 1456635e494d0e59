//go:build module

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"

	"rankcast/ranking/redistest"
)

// published is the version under which the test publishes the renamed module.
var published = module.Version{Path: newPath, Version: "v1.2.3"}

// program is a program of another module. It writes to a board and watches it.
const program = `package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"example.net/scores/rankcast/server/client"
)

func main() {
	c, err := client.New(os.Args[1], client.Config{}) // retries until the server is there
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Update(context.Background(), "stars", client.Update{Member: "mia", Score: 7}); err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	err = c.Watch(ctx, "stars", client.Watch{Me: "mia"}, func(b client.Board) {
		if len(b.Top) > 0 && b.Me != nil && b.Me.Rank != nil {
			fmt.Println(b.State, b.Top[0].Member, b.Top[0].Score, *b.Me.Rank)
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		log.Fatal(err)
	}
}
`

// The module under another path builds, and the test that names paths passes in it. go get takes it, and a program of another module writes to
// and watches a board of the renamed server with its client.
func TestPublishedModule(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	copied, proxy, other := filepath.Join(dir, "copy"), filepath.Join(dir, "proxy"), filepath.Join(dir, "other")
	copySources(t, copied)
	_, _, err := rename(copied, published.Path)
	require.NoError(t, err)

	// As make build does it, so that the cache of Go has the dependencies, and the next time all that has not changed.
	static := []string{"CGO_ENABLED=0", "GOFLAGS=-trimpath"}
	goRun(t, copied, static, "test", "-run", "TestImportsRunOneWay", "./cmd/rankcast")
	goRun(t, copied, static, "build", "-o", filepath.Join(dir, "rankcast"), "./cmd/rankcast")

	require.NoError(t, os.Mkdir(other, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(other, "go.mod"), []byte("module example.com/game\n\ngo 1.26.0\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(other, "main.go"), []byte(program), 0o644))
	publish(t, copied, proxy)
	// A cache of its own, so that the next run does not find this version. All else comes from the cache of this module.
	cache := strings.TrimSpace(goRun(t, ".", nil, "env", "GOMODCACHE"))
	env := []string{"GOMODCACHE=" + filepath.Join(dir, "cache"), "CGO_ENABLED=0", "GOFLAGS=-trimpath -modcacherw", "GOSUMDB=off",
		"GOPROXY=file://" + proxy + ",file://" + filepath.Join(cache, "cache", "download")}
	goRun(t, other, env, "get", published.Path+"/server/client@"+published.Version)
	goRun(t, other, env, "build", "-o", filepath.Join(dir, "game"), ".")

	addr := fmt.Sprintf("127.0.0.1:%d", redistest.FreePort(t))
	server := exec.CommandContext(t.Context(), filepath.Join(dir, "rankcast"), "serve", "--addr", addr)
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		server.Process.Kill()
		redistest.Wait(t, "the end of server", func() { server.Wait() })
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	said, err := exec.CommandContext(ctx, filepath.Join(dir, "game"), "http://"+addr).CombinedOutput()
	require.NoError(t, err, "%s", said)
	require.Equal(t, "live mia 7 1\n", string(said))
}

// publish puts a module into the folder of a proxy of modules (go.dev/ref/mod#goproxy-protocol).
func publish(t *testing.T, dir, proxy string) {
	t.Helper()
	versions := filepath.Join(proxy, filepath.FromSlash(published.Path), "@v")
	require.NoError(t, os.MkdirAll(versions, 0o755))
	put := func(name string, text []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(versions, name), text, 0o644))
	}
	info, err := json.Marshal(map[string]string{"Version": published.Version})
	require.NoError(t, err)
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	require.NoError(t, err)
	var packed bytes.Buffer
	require.NoError(t, modzip.CreateFromDir(&packed, published, dir))
	put("list", []byte(published.Version))
	put(published.Version+".info", info)
	put(published.Version+".mod", mod)
	put(published.Version+".zip", packed.Bytes())
}
