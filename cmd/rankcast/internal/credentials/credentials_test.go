package credentials

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rankcast/server/access"
)

// folder writes files into a new folder, and returns the path of one of them.
func folder(t *testing.T, files map[string]string) (path func(name string) string) {
	dir := t.TempDir()
	path = func(name string) string { return filepath.Join(dir, name) }
	for name, text := range files {
		require.NoError(t, os.WriteFile(path(name), []byte(text), 0o600))
	}
	return path
}

func encodePEM(kind string, der []byte, err error) string {
	if err != nil {
		panic(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// pair is a private key and its public key, as files have them.
func pair(private any, public any) (string, string) {
	a, err := x509.MarshalPKCS8PrivateKey(private)
	b, errB := x509.MarshalPKIXPublicKey(public)
	return encodePEM("PRIVATE KEY", a, err), encodePEM("PUBLIC KEY", b, errB)
}

// requireAccepted requires that a server with an access file accepts what a command makes.
func requireAccepted(t *testing.T, file string, command *Token) {
	t.Helper()
	require.NoError(t, command.Validate())
	settings, err := access.ReadTokenSettings(file)
	require.NoError(t, err)
	signer, err := command.signer(settings)
	require.NoError(t, err)
	token, err := signer.Sign(command.content(settings))
	require.NoError(t, err)
	g, err := access.NewGuard(access.GuardConfig{File: file})
	require.NoError(t, err)
	c, err := g.Authenticate(t.Context(), token)
	require.NoError(t, err)
	require.Equal(t, "u4", c.Sub())
	require.True(t, c.May(access.ScopeRead, access.Board("fans:s17")))
	require.True(t, c.May(access.ScopeWrite, access.Event("gift")))
	require.False(t, c.May(access.ScopeWrite, access.Event("grant")))
	require.WithinDuration(t, time.Now().Add(command.For+30*time.Second), c.Expires(), time.Minute)
}

func TestTokenIsAccepted(t *testing.T) {
	t.Parallel()
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	rs, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	files := map[string]string{
		"secret.yaml": "tokens: {secret_file: s, audience: rankcast, issuer: shop}", "s": "0123456789abcdef0123456789abcdef\n",
		"ec.yaml": "tokens: {key_file: ec.pub, audience: rankcast}", "ed.yaml": "tokens: {key_file: ed.pub}",
		"rsa.yaml": "tokens: {key_file: rsa.pub}",
	}
	files["ec.key"], files["ec.pub"] = pair(ec, &ec.PublicKey)
	files["ed.key"], files["ed.pub"] = pair(ed, ed.Public())
	files["rsa.key"], files["rsa.pub"] = pair(rs, &rs.PublicKey)
	old, err := x509.MarshalECPrivateKey(ec)
	files["ec1.key"] = encodePEM("EC PARAMETERS", []byte{6, 0}, nil) + encodePEM("EC PRIVATE KEY", old, err)
	files["rsa1.key"] = encodePEM("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(rs), nil)
	path := folder(t, files)
	for _, c := range []struct{ file, private string }{
		{"secret.yaml", ""}, {"ec.yaml", "ec.key"}, {"ec.yaml", "ec1.key"}, {"ed.yaml", "ed.key"}, {"rsa.yaml", "rsa.key"},
		{"rsa.yaml", "rsa1.key"},
	} {
		command := &Token{Sub: "u4", Board: []string{"fans:*"}, Event: []string{"gift"}, For: time.Hour, Access: path(c.file)}
		if c.private != "" {
			command.PrivateKeyFile = path(c.private)
		}
		requireAccepted(t, path(c.file), command)
	}
	requireAccepted(t, path("secret.yaml"), &Token{Sub: "u4", Board: []string{"fans:*"}, Event: []string{"gift"}, For: time.Hour,
		Access: path("secret.yaml"), SecretFile: path("s")})

	for says, command := range map[string]*Token{
		"give its private key: --private-key-file=FILE":        {Access: path("ec.yaml")},
		"tokens.key_file: holds the public key of another":     {Access: path("ec.yaml"), PrivateKeyFile: path("ed.key")},
		"has tokens.secret_file, so its server accepts tokens": {Access: path("secret.yaml"), PrivateKeyFile: path("ed.key")},
		"has no tokens.secret_file":                            {Access: path("ec.yaml"), SecretFile: path("s")},
		"ec.pub holds no private key in PEM form":              {Access: path("ec.yaml"), PrivateKeyFile: path("ec.pub")},
		"tokens.secret_file: holds a key in PEM form":          {SecretFile: path("ed.pub")},
		"want 1s at least":                                     {Access: path("secret.yaml"), For: -time.Second},
		"cannot be used together":                              {SecretFile: path("s"), PrivateKeyFile: path("ed.key")},
		"--kid needs --private-key-file":                       {SecretFile: path("s"), KeyID: "a"},
		"give --access=FILE":                                   {},
		"nowhere":                                              {Access: path("nowhere")},
		"lacks the claim sub":                                  {Access: path("secret.yaml"), Sub: "-"},
		"rankcast.boards[0] has a period":                      {Access: path("secret.yaml"), Board: []string{"a@b"}},
	} {
		switch command.Sub {
		case "":
			command.Sub = "u4"
		case "-":
			command.Sub = ""
		}
		if command.For == 0 {
			command.For = time.Hour
		}
		err := command.Validate()
		if err == nil {
			err = command.Run()
		}
		require.ErrorContains(t, err, says)
		require.NotContains(t, err.Error(), "0123456789abcdef")
	}
}

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
