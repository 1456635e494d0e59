package access

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"
)

// What it costs to find the caller of a request: beside it, an update takes a node about 50 µs.
func BenchmarkAuthenticate(b *testing.B) {
	of := func(name, file, material, credentials string) {
		b.Run(name, func(b *testing.B) {
			g, err := NewGuard(GuardConfig{File: writeFiles(b, map[string]string{"access.yaml": file, "s": material}),
				Log: slog.New(slog.DiscardHandler)})
			require.NoError(b, err)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := g.Authenticate(b.Context(), credentials); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	for _, n := range []int{1, maxKeys} {
		var file strings.Builder
		file.WriteString("keys:\n")
		key := NewKey()
		for i := range n {
			if i > 0 {
				key = NewKey()
			}
			fmt.Fprintf(&file, "  - {name: k%d, hash: %q, scopes: [admin]}\n", i, HashKey(key))
		}
		of(fmt.Sprintf("key/of=%d", n), file.String(), "", key)
	}
	of("token/HS256", "tokens: {secret_file: s}", testSecret, signHS256(claims(nil)))
	edwards, edwardsKey, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(b, err)
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(b, err)
	large, err := rsa.GenerateKey(rand.Reader, minRSABits)
	require.NoError(b, err)
	for _, c := range []struct {
		method          jwt.SigningMethod
		public, private any
	}{{jwt.SigningMethodEdDSA, edwards, edwardsKey}, {jwt.SigningMethodES256, &curve.PublicKey, curve},
		{jwt.SigningMethodRS256, &large.PublicKey, large}} {
		token, err := jwt.NewWithClaims(c.method, jwt.MapClaims(claims(nil))).SignedString(c.private)
		require.NoError(b, err)
		der, err := x509.MarshalPKIXPublicKey(c.public)
		require.NoError(b, err)
		of("token/"+c.method.Alg(), "tokens: {key_file: s}", string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})), token)
	}
}
