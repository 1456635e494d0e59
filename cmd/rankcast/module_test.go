//go:build soak

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"

	"rankcast/ranking/redistest"
)

// published is the path that the test gives the module, and the version under which it publishes the module.
var published = module.Version{Path: "example.net/scores/rankcast", Version: "v1.2.3"}

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

// The module under another path is complete: each import of each file is there, with any build tag, and gofmt has nothing
// to change. The tests that name paths, and that of the pages made from the documentation, pass in it. go get takes
// it, and a program of another module writes to and
// watches a board of the renamed server with its client.
func TestPublishedModule(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	copied, proxy, other := filepath.Join(dir, "copy"), filepath.Join(dir, "proxy"), filepath.Join(dir, "other")
	copySources(t, copied)
	for _, bad := range []string{"", "https://example.org/rankcast", "-x/rankcast"} {
		_, err := makeModule(copied, bad)
		require.Error(t, err, bad)
		require.Equal(t, "rankcast\n", goRun(t, copied, nil, "list", "-m"))
	}
	for _, path := range []string{"example.org/you/rankcast", published.Path} { // as often as one likes
		said, err := makeModule(copied, path)
		require.NoError(t, err, "%s", said)
	}
	unformatted, err := exec.Command("gofmt", "-l", copied).CombinedOutput()
	require.NoError(t, err)
	require.Empty(t, string(unformatted))
	guide, err := os.ReadFile(filepath.Join(copied, "web", "docs", "terminal.md"))
	require.NoError(t, err)
	require.Contains(t, string(guide), `"`+published.Path+`/server/client"`)

	// With flags that do not depend on who runs the test, so that the cache of Go has all that has not changed, the next time.
	static := []string{"CGO_ENABLED=0", "GOFLAGS=-trimpath"}
	goRun(t, copied, static, "vet", "-tags", allTags(t), "./...")
	goRun(t, copied, static, "test", "-run", "TestImportsRunOneWay|TestDistIsCurrent", "./cmd/rankcast", "./web/generate")
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

// makeModule runs make module in a folder, and returns what it prints.
func makeModule(dir, path string) ([]byte, error) {
	return exec.Command("make", "-C", dir, "module", "MODULE="+path).CombinedOutput()
}

// allTags are the build tags of the tests, as the Makefile has them.
func allTags(t *testing.T) string {
	t.Helper()
	makefile, err := os.ReadFile("../../Makefile")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(makefile), "\nTAGS = ")
	require.True(t, found)
	tags, _, _ := strings.Cut(rest, "\n")
	return tags
}

// goRun runs the go command in a folder with more variables, and returns what it prints.
func goRun(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = dir, slices.Concat(os.Environ(), []string{"GOWORK=off"}, env)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Run(), "go %s: %s%s", strings.Join(args, " "), &stdout, &stderr)
	return stdout.String()
}

// copySources copies the module as a clone has it.
func copySources(t *testing.T, to string) {
	t.Helper()
	sources := module.Version{Path: "example.org/sources", Version: "v1.0.0"}
	packed, err := os.Create(filepath.Join(t.TempDir(), "sources.zip"))
	require.NoError(t, err)
	require.NoError(t, modzip.CreateFromDir(packed, sources, "../..")) // leaves .git out
	require.NoError(t, packed.Close())
	require.NoError(t, modzip.Unzip(to, sources, packed.Name()))
	require.NoError(t, filepath.WalkDir(to, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		return os.Chmod(path, 0o644) // the files of a module are for reading alone
	}))
}
