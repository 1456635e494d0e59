package access

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"log/slog"
	"maps"
	"math/big"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

// request is a request of a peer with headers, each "Name: value".
func request(peer string, headers ...string) *http.Request {
	r := &http.Request{RemoteAddr: peer, Header: make(http.Header)}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	return r
}

func addresses(t testing.TB, trusted ...string) *Addresses {
	proxies, err := ParseProxies(trusted)
	require.NoError(t, err)
	return NewAddresses(proxies, slog.New(slog.DiscardHandler))
}

// jwkOf is a public key as a key set has it.
func jwkOf(kid string, public any) object {
	encode := base64.RawURLEncoding.EncodeToString
	k := object{"kid": kid, "use": "sig"}
	switch public := public.(type) {
	case *rsa.PublicKey:
		return with(k, object{"kty": "RSA", "n": encode(public.N.Bytes()), "e": encode(big.NewInt(int64(public.E)).Bytes())})
	case *ecdsa.PublicKey:
		point := must(public.Bytes())
		size := (len(point) - 1) / 2
		return with(k, object{"kty": "EC", "crv": public.Params().Name, "x": encode(point[1 : 1+size]), "y": encode(point[1+size:])})
	}
	return with(k, object{"kty": "OKP", "crv": "Ed25519", "x": encode(public.(ed25519.PublicKey))})
}

// runGuard runs a Guard until the test ends.
func runGuard(t *testing.T, cfg GuardConfig) *Guard {
	g, err := NewGuard(cfg)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { g.Run(ctx) })
	t.Cleanup(func() { cancel(); redistest.Wait(t, "the end of running", running.Wait) })
	return g
}

func requireValid(t *testing.T, g *Guard, token string) *Caller {
	t.Helper()
	c, err := g.Authenticate(t.Context(), token)
	require.NoError(t, err)
	return c
}

func newTestLog(to *redistest.Log) *slog.Logger { return slog.New(slog.NewTextHandler(to, nil)) }

func client(n int) Address {
	return newAddress(netip.AddrFrom4([4]byte{198, byte(n >> 16), byte(n >> 8), byte(n)}))
}

// requireRefused requires a Refusal of a kind, with the time after which to come back.
func requireRefused(t *testing.T, err error, limit Limit, kind error, after time.Duration) {
	t.Helper()
	var r *Refusal
	require.ErrorAs(t, err, &r)
	require.ErrorIs(t, err, kind)
	require.Equal(t, limit, r.Limit)
	require.InDelta(t, after.Seconds(), r.RetryAfter.Seconds(), 1e-6)
	require.NotEmpty(t, r.Error())
}

func allow(t *testing.T, times int, what func() error) {
	t.Helper()
	for i := range times {
		require.NoError(t, what(), "call %d", i)
	}
}

// counted are the limits that have refused something.
func counted(l *Limits) map[string]uint64 {
	all := maps.Collect(l.Counts())
	maps.DeleteFunc(all, func(_ string, n uint64) bool { return n == 0 })
	return all
}

func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

func newEC(curve elliptic.Curve) *ecdsa.PrivateKey {
	return must(ecdsa.GenerateKey(curve, rand.Reader))
}

func newEd25519() ed25519.PrivateKey {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	return must(private, err)
}

// publicPEM is the content of a key_file.
func publicPEM(public any) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: must(x509.MarshalPKIXPublicKey(public))})
}

// writeFiles writes files into a new folder, and returns the path of access.yaml there.
func writeFiles(t testing.TB, files map[string]string) string {
	folder := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	return filepath.Join(folder, "access.yaml")
}

// with is o with more fields; those that are nil are left out.
func with(o, more object) object {
	o = maps.Clone(o)
	maps.Copy(o, more)
	maps.DeleteFunc(o, func(_ string, v any) bool { return v == nil })
	return o
}

// claims are valid claims, with more of them.
func claims(more object) object {
	return with(object{"sub": "u4", "exp": time.Now().Add(time.Hour).Unix()}, more)
}

// sign signs a token with the field alg of a method, and more header fields.
func sign(method jwt.SigningMethod, key any, header, claims object) string {
	token := jwt.NewWithClaims(method, jwt.MapClaims(claims))
	maps.Copy(token.Header, header)
	return must(token.SignedString(key))
}

func signHS256(claims object) string {
	return sign(jwt.SigningMethodHS256, []byte(testSecret), nil, claims)
}

// requireNoSecrets requires that a text has no part of a token, and no secret.
func requireNoSecrets(t *testing.T, text, token string) {
	t.Helper()
	require.NotContains(t, text, testSecret)
	for part := range strings.SplitSeq(token, ".") {
		if len(part) > 20 {
			require.NotContains(t, text, part)
		}
	}
}
