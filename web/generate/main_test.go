package main

import (
	"bytes"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/web"
)

// source is the folder of package web.
var source = os.DirFS("..")

// What the binary holds is what the files of the repository say. Compressed bytes differ between versions of Go.
func TestDistIsCurrent(t *testing.T) {
	t.Parallel()
	made, err := generate(source)
	require.NoError(t, err)
	dist, err := fs.Sub(web.Files, "dist")
	require.NoError(t, err)
	const remedy = "run go generate ./web"
	for name, content := range made {
		if held, err := fs.ReadFile(dist, name); err != nil || !bytes.Equal(held, content) {
			t.Errorf("web/dist/%s is not current: %s", name, remedy)
		}
	}
	require.NoError(t, fs.WalkDir(dist, ".", func(name string, entry fs.DirEntry, err error) error {
		name, isPacked := strings.CutSuffix(name, ".gz")
		if _, is := made[name]; err == nil && !entry.IsDir() && !(is && isPacked) {
			t.Errorf("web/dist/%s is made of nothing: %s", name, remedy)
		}
		return err
	}))
}
