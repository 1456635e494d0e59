package credentials

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKeyFileIsNewAndPrivate(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "ops.key")
	require.NoError(t, writeSecret(name, "one\n"))
	info, err := os.Stat(name)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.ErrorContains(t, writeSecret(name, "two\n"), "ops.key exists")
	got, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, "one\n", string(got))
	require.Error(t, writeSecret(filepath.Join(name, "x"), "three"), "a file is no folder")
}

// A flag that is not valid leaves no file behind.
func TestKeyThatIsRefused(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "ops.key")
	k := &NewKey{Name: "ops", Scope: []string{"admin"}, Board: []string{"stars"}, KeyFile: name}
	require.ErrorContains(t, k.Run(), "boards: has no effect beside the scope admin")
	require.NoFileExists(t, name)
}
