//go:build !race

package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/cmd/rankcast/e2e/e2etest"
	"rankcast/server/access"
)

// The commands that the help shows make an access file from nothing, and what it accepts. Keys and tokens
// stand where the help says, and nowhere else.
func TestKeysAndTokens(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keyFile, file, secretFile := filepath.Join(dir, "ops.key"), filepath.Join(dir, "access.yaml"), filepath.Join(dir, "token.secret")
	made := e2etest.Run(t, "", "key", "new", "--name", "ops", "--scope", "admin", "--key-file", keyFile)
	require.Zero(t, made.Code, made.Stderr)
	require.Regexp(t, `^  - \{name: "ops", hash: "sha256:[0-9a-f]{64}", scopes: \[admin\]\}\n$`, made.Stdout)
	key, err := os.ReadFile(keyFile)
	require.NoError(t, err)
	require.NotContains(t, made.Stdout+made.Stderr, strings.TrimSpace(string(key)))

	const secret = "0123456789abcdef0123456789abcdef"
	require.NoError(t, os.WriteFile(secretFile, []byte(secret+"\n"), 0o600))
	require.NoError(t, os.WriteFile(file, []byte("tokens: {secret_file: token.secret, audience: rankcast}\nkeys:\n"+made.Stdout), 0o600))
	guard, err := access.NewGuard(access.GuardConfig{File: file})
	require.NoError(t, err)
	caller, err := guard.Authenticate(t.Context(), strings.TrimSpace(string(key)))
	require.NoError(t, err)
	require.Equal(t, "ops", caller.KeyName())

	signed := e2etest.Run(t, "", "token", "--access", file, "--sub", "u4", "--board", "fans:*", "--board", "a,b",
		"--event", "gift", "--for", "90m")
	require.Zero(t, signed.Code, signed.Stderr)
	require.NotContains(t, signed.Stdout, secret)
	token, whole := strings.CutSuffix(signed.Stdout, "\n")
	require.True(t, whole)
	caller, err = guard.Authenticate(t.Context(), token)
	require.NoError(t, err)
	require.Equal(t, "u4", caller.Sub())
	require.True(t, caller.May(access.ScopeRead, access.Board("fans:s17")))
	require.True(t, caller.May(access.ScopeRead, access.Board("a,b")), "a pattern may have a comma")
	require.False(t, caller.May(access.ScopeRead, access.Board("a")))

	shown := e2etest.Run(t, "", "key", "new", "--name", "game", "--scope", "read,write", "--board", "stars", "--rate", "5000/s")
	require.Zero(t, shown.Code, shown.Stderr)
	require.Regexp(t, `(?m)^rck_[0-9A-Za-z]{43}$`, shown.Stdout)
	require.Regexp(t, `(?m)^  - \{name: "game", hash: "sha256:[0-9a-f]{64}", scopes: \[read, write\], boards: \["stars"\], rate: 5000/s\}$`,
		shown.Stdout)

	for grants, want := range map[string]string{
		"read": "rankcast: warning: the key \"a\" has no grants: name boards, events or kinds (--board, --event, " +
			"--kind); the key may do nothing with them until then\n",
		"read --board stars": "",
		"write --event gift": "",
		"moderate --kind u":  "",
		"metrics":            "",
		"admin":              "",
	} {
		made := e2etest.Run(t, "", append([]string{"key", "new", "--name", "a", "--scope"}, strings.Fields(grants)...)...)
		require.Zero(t, made.Code, grants)
		require.Equal(t, want, made.Stderr, grants)
	}

	// A token for a week.
	signed = e2etest.Run(t, "", "token", "--secret-file", secretFile, "--sub", "u4", "--for", "7d")
	require.Zero(t, signed.Code, signed.Stderr)
	require.NotEmpty(t, signed.Stdout)

	for says, args := range map[string][]string{
		"ops.key exists":            {"key", "new", "--name", "ops", "--scope", "admin", "--key-file", keyFile},
		"scopes[0]: is not a scope": {"key", "new", "--name", "ops", "--scope", "all"},
		"missing flags: --name":     {"key", "new", "--scope", "admin"},
		"missing flags: --sub":      {"token", "--access", file},
		"give --access=FILE":        {"token", "--sub", "u4"},
	} {
		got := e2etest.Run(t, "", args...)
		require.NotZero(t, got.Code)
		require.Contains(t, got.Stderr, says)
	}
}
