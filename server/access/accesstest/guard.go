// Package accesstest runs access files for tests.
package accesstest

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
	"rankcast/server/access"
)

// Guard is a Guard of an access file that the test replaces.
type Guard struct {
	*access.Guard
	t      testing.TB
	path   string
	signer *access.Signer
	secret string            // of tokens
	keys   map[string]string // by name
}

// Secret is the name of a file beside the access file, with a secret for tokens.
const Secret = "secret"

// Start runs a Guard of an access file until the end of the test. In the file, HASH:name stands for the hash of
// the key of that name.
func Start(t testing.TB, file string) *Guard {
	t.Helper()
	return StartWithLog(t, file, slog.New(slog.DiscardHandler))
}

// StartWithLog is Start with a log.
func StartWithLog(t testing.TB, file string, log *slog.Logger) *Guard {
	t.Helper()
	secret := []byte(strings.Repeat(access.NewKey(), 2))
	signer, err := access.NewSecretSigner(secret)
	require.NoError(t, err)
	g := &Guard{t: t, path: filepath.Join(t.TempDir(), "access.yaml"), signer: signer, secret: string(secret), keys: make(map[string]string)}
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(g.path), Secret), secret, 0o600))
	g.write(file)
	g.Guard, err = access.NewGuard(access.GuardConfig{File: g.path, Log: log})
	require.NoError(t, err)
	Run(t, g.Guard)
	return g
}

// Run runs a Guard until the end of the test.
func Run(t testing.TB, g *access.Guard) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := redistest.Go(func() { g.Run(ctx) })
	t.Cleanup(func() { cancel(); <-ended })
}

// Replace replaces the access file. The Guard reads it soon.
func (g *Guard) Replace(file string) {
	g.write(file)
	g.Reload()
}

// Enforce replaces the access file by another one, and waits until that is in force.
func (g *Guard) Enforce(file string) {
	g.t.Helper()
	before := g.Version()
	g.Replace(file)
	redistest.Until(g.t, "the new access file to be in force", func() bool { return g.Version() != before })
}

func (g *Guard) write(file string) {
	for {
		before, rest, more := strings.Cut(file, "HASH:")
		if !more {
			break
		}
		name, after, _ := strings.Cut(rest, ",")
		file = before + `"` + access.HashKey(g.Key(name)) + `",` + after
	}
	// A reader sees a whole file.
	require.NoError(g.t, os.WriteFile(g.path+".new", []byte(file), 0o600))
	require.NoError(g.t, os.Rename(g.path+".new", g.path))
}

// Key is the key of a name.
func (g *Guard) Key(name string) string {
	if g.keys[name] == "" {
		g.keys[name] = access.NewKey()
	}
	return g.keys[name]
}

// Secret is the secret of tokens.
func (g *Guard) Secret() string { return g.secret }

// Token signs a token by the secret.
func (g *Guard) Token(content access.TokenContent) string {
	g.t.Helper()
	token, err := g.signer.Sign(content)
	require.NoError(g.t, err)
	return token
}
