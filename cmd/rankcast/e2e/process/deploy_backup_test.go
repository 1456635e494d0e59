//go:build !race

package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

// What the page Deploy says of back-ups: a Redis that starts with the restored file and with the flags of the unit holds the scores,
// and keeps them and later ones.
func TestRestoreFromABackUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	redis := redistest.Start(t)
	socket := strings.TrimPrefix(redis.URL(), "unix://")
	data := filepath.Dir(socket)
	require.NoError(t, redis.Admin().Set(t.Context(), "score", "40", 0).Err())
	out, err := exec.Command("redis-cli", "-s", socket, "--rdb", filepath.Join(dir, "rankcast.rdb")).CombinedOutput()
	require.NoError(t, err, string(out))
	redis.Kill()
	require.NoError(t, os.RemoveAll(filepath.Join(data, "appendonlydir")))
	page, err := os.ReadFile("../../../../web/docs/deploy.md")
	require.NoError(t, err)
	var restore []string
	for line := range strings.Lines(string(page)) {
		if line = strings.ReplaceAll(line, "sudo ", ""); strings.Contains(line, "/var/lib/rankcast-redis/appendonlydir") {
			restore = append(restore, strings.ReplaceAll(line, "/var/lib/rankcast-redis", data))
		}
	}
	require.Len(t, restore, 3)
	run := exec.Command("bash", "-ec", strings.Join(restore, ""))
	run.Dir = dir
	out, err = run.CombinedOutput()
	require.NoError(t, err, string(out))
	redis.Start()
	require.NoError(t, redis.Admin().Set(t.Context(), "later", "2", 0).Err())
	redis.Kill()
	redis.Start()
	require.Equal(t, []any{"40", "2"}, redis.Admin().MGet(t.Context(), "score", "later").Val())
}
