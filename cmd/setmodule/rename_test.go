package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// tree is a small module. In it "rankcast" stands for much that is no path of the module.
var tree = map[string]string{
	"go.mod":           "module rankcast\n\ngo 1.26.0\n\nrequire github.com/redis/go-redis/v9 v9.23.0\n",
	"hub/hub.go":       "package hub\n\nimport (\n\t\"fmt\"\n\n\t\"net/http\"\n\t\"rankcast/ranking\" // the store\n\t. \"rankcast/web\"\n\t\"rankcaster/x\"\n)\n\n// see rankcast/hub\nvar _ = \"rankcast/ranking\" + `import \"rankcast/web\"`\n",
	"hub/hub_soak.go":  "//go:build soak && windows\n\npackage hub\n\nimport \"rankcast/ranking\"\n",
	"web/docs/a.md":    "# `rankcast`\n\nUse `rankcast_updates_total`, bin/rankcast.\n\n```go main.go\npackage main\n\nimport \"rankcast/server/client\"\n```\n\n```go\nc.Top(\"rankcast/server/client\")\n```\n",
	"Dockerfile":       "RUN go build -o /rankcast ./cmd/rankcast\n",
	".git/hooks/a.go":  "package a\n\nimport \"rankcast/hub\"\n",
	"web/testdata/b.c": "import \"rankcast/hub\"\n",
}

// renamed is what a path makes of the files of tree that change. imports is the second list of hub.go, in order.
func renamed(path, imports string) map[string]string {
	return map[string]string{
		"go.mod":          "module " + path + "\n\ngo 1.26.0\n\nrequire github.com/redis/go-redis/v9 v9.23.0\n",
		"hub/hub.go":      "package hub\n\nimport (\n\t\"fmt\"\n\n" + imports + ")\n\n// see rankcast/hub\nvar _ = \"rankcast/ranking\" + `import \"rankcast/web\"`\n",
		"hub/hub_soak.go": "//go:build soak && windows\n\npackage hub\n\nimport \"" + path + "/ranking\"\n",
		"web/docs/a.md":   "# `rankcast`\n\nUse `rankcast_updates_total`, bin/rankcast.\n\n```go main.go\npackage main\n\nimport \"" + path + "/server/client\"\n```\n\n```go\nc.Top(\"rankcast/server/client\")\n```\n",
	}
}

func plant(t *testing.T) string {
	dir := t.TempDir()
	for name, text := range tree {
		name = filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	}
	return dir
}

func requireTree(t *testing.T, dir string, changed map[string]string) {
	t.Helper()
	files := 0
	require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files++
		want, there := changed[name]
		if !there {
			want = tree[name]
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.Equal(t, want, string(text), name)
		return err
	}))
	require.Len(t, tree, files)
}

// A module gets another path as often as one likes. Nothing but imports changes, and each list of them is in
// order.
func TestRename(t *testing.T) {
	t.Parallel()
	dir := plant(t)
	first := renamed("example.org/you/rankcast",
		"\t\"example.org/you/rankcast/ranking\" // the store\n\t. \"example.org/you/rankcast/web\"\n\t\"net/http\"\n\t\"rankcaster/x\"\n")
	second := renamed("z.example/scores/v2",
		"\t\"net/http\"\n\t\"rankcaster/x\"\n\t\"z.example/scores/v2/ranking\" // the store\n\t. \"z.example/scores/v2/web\"\n")
	for _, step := range []struct {
		to, was string
		changed int
		want    map[string]string
	}{
		{"example.org/you/rankcast", "rankcast", len(first), first},
		{"example.org/you/rankcast", "example.org/you/rankcast", 0, first},
		{"z.example/scores/v2", "example.org/you/rankcast", len(first), second},
	} {
		was, changed, err := rename(dir, step.to)
		require.NoError(t, err)
		require.Equal(t, step.was, was)
		require.Equal(t, step.changed, changed)
		requireTree(t, dir, step.want)
	}
}

func TestRenameRefuses(t *testing.T) {
	t.Parallel()
	dir := plant(t)
	for to, message := range map[string]string{
		"":                               "empty string",
		"rankcast":                       "missing dot in first path element",
		"https://example.org/rankcast":   "double slash",
		"example.org/you/rankcast/v1":    "invalid version",
		"github.com/redis/go-redis/v9/x": "lies in, the dependency github.com/redis/go-redis/v9",
	} {
		_, _, err := rename(dir, to)
		require.ErrorContains(t, err, message, to)
		requireTree(t, dir, nil)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "z.go"), []byte("no Go"), 0o644))
	_, _, err := rename(dir, "example.org/you/rankcast")
	require.ErrorContains(t, err, "z.go:1:1")
	require.NoError(t, os.Remove(filepath.Join(dir, "z.go")))
	requireTree(t, dir, nil)
	require.ErrorContains(t, run(nil), "give the new path")
}
