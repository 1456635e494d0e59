//go:build !race

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/server/access"
)

// The commands that the help shows make an access file from nothing, and what it accepts. Keys and tokens
// stand where the help says, and nowhere else.
func TestKeysAndTokens(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keyFile, file, secretFile := filepath.Join(dir, "ops.key"), filepath.Join(dir, "access.yaml"), filepath.Join(dir, "token.secret")
	made := run(t, "", "key", "new", "--name", "ops", "--scope", "admin", "--key-file", keyFile)
	require.Zero(t, made.code, made.stderr)
	require.Regexp(t, `^  - \{name: "ops", hash: "sha256:[0-9a-f]{64}", scopes: \[admin\]\}\n$`, made.stdout)
	key, err := os.ReadFile(keyFile)
	require.NoError(t, err)
	require.NotContains(t, made.stdout+made.stderr, strings.TrimSpace(string(key)))

	const secret = "0123456789abcdef0123456789abcdef"
	require.NoError(t, os.WriteFile(secretFile, []byte(secret+"\n"), 0o600))
	require.NoError(t, os.WriteFile(file, []byte("tokens: {secret_file: token.secret, audience: rankcast}\nkeys:\n"+made.stdout), 0o600))
	guard, err := access.NewGuard(access.GuardConfig{File: file})
	require.NoError(t, err)
	caller, err := guard.Authenticate(t.Context(), strings.TrimSpace(string(key)))
	require.NoError(t, err)
	require.Equal(t, "ops", caller.KeyName())

	signed := run(t, "", "token", "--access", file, "--sub", "u4", "--board", "fans:*", "--board", "a,b", "--event", "gift", "--for", "90m")
	require.Zero(t, signed.code, signed.stderr)
	require.NotContains(t, signed.stdout, secret)
	token, whole := strings.CutSuffix(signed.stdout, "\n")
	require.True(t, whole)
	caller, err = guard.Authenticate(t.Context(), token)
	require.NoError(t, err)
	require.Equal(t, "u4", caller.Sub())
	require.True(t, caller.May(access.ScopeRead, access.Board("fans:s17")))
	require.True(t, caller.May(access.ScopeRead, access.Board("a,b")), "a pattern may have a comma")
	require.False(t, caller.May(access.ScopeRead, access.Board("a")))

	shown := run(t, "", "key", "new", "--name", "game", "--scope", "read,write", "--board", "stars", "--rate", "5000/s")
	require.Zero(t, shown.code, shown.stderr)
	require.Regexp(t, `(?m)^rck_[0-9A-Za-z]{43}$`, shown.stdout)
	require.Regexp(t, `(?m)^  - \{name: "game", hash: "sha256:[0-9a-f]{64}", scopes: \[read, write\], boards: \["stars"\], rate: 5000/s\}$`,
		shown.stdout)

	for grants, want := range map[string]string{
		"read": "rankcast: warning: the key \"a\" has no grants: name boards, events or kinds (--board, --event, " +
			"--kind); the key may do nothing with them until then\n",
		"read --board stars": "",
		"write --event gift": "",
		"moderate --kind u":  "",
		"metrics":            "",
		"admin":              "",
	} {
		made := run(t, "", append([]string{"key", "new", "--name", "a", "--scope"}, strings.Fields(grants)...)...)
		require.Zero(t, made.code, grants)
		require.Equal(t, want, made.stderr, grants)
	}

	// A token for a week.
	signed = run(t, "", "token", "--secret-file", secretFile, "--sub", "u4", "--for", "7d")
	require.Zero(t, signed.code, signed.stderr)
	require.NotEmpty(t, signed.stdout)

	for says, args := range map[string][]string{
		"ops.key exists":            {"key", "new", "--name", "ops", "--scope", "admin", "--key-file", keyFile},
		"scopes[0]: is not a scope": {"key", "new", "--name", "ops", "--scope", "all"},
		"missing flags: --name":     {"key", "new", "--scope", "admin"},
		"missing flags: --sub":      {"token", "--access", file},
		"give --access=FILE":        {"token", "--sub", "u4"},
	} {
		got := run(t, "", args...)
		require.NotZero(t, got.code)
		require.Contains(t, got.stderr, says)
	}
}
