//go:build !race

package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"
)

// newPath is the path that the tests give the module.
const newPath = "example.net/scores/rankcast"

// The module under another path is complete: each import of each file, with any build tag, is there, and gofmt has
// nothing to change.
func TestRenamedModuleIsComplete(t *testing.T) {
	t.Parallel()
	copied := filepath.Join(t.TempDir(), "copy")
	copySources(t, copied)
	was, _, err := rename(copied, newPath)
	require.NoError(t, err)
	out := goRun(t, copied, nil, "list", "-deps", "-test", "-tags", allTags(t), "-f", "{{with .Module}}{{.Path}}{{end}}", "./...")
	require.Contains(t, strings.Fields(out), newPath)
	require.NotContains(t, strings.Fields(out), was)
	unformatted, err := exec.Command("gofmt", "-l", copied).CombinedOutput()
	require.NoError(t, err)
	require.Empty(t, string(unformatted))
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
