package access

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
	"rankcast/server/internal/filewatch"
)

func keySetOf(keys ...object) string { return string(must(json.Marshal(object{"keys": keys}))) }

// signer is a key of a key server.
type signer struct {
	kid string
	key *ecdsa.PrivateKey
}

func newSigner(kid string) *signer { return &signer{kid, newEC(elliptic.P256())} }

func (s *signer) jwk() object { return jwkOf(s.kid, &s.key.PublicKey) }

func (s *signer) token(more object) string {
	header := object{"kid": s.kid}
	if s.kid == "" {
		header = nil
	}
	return sign(jwt.SigningMethodES256, s.key, header, claims(with(object{"aud": "rankcast"}, more)))
}

// keyServer answers requests for a key set, without a network.
type keyServer struct {
	fetches atomic.Int32
	mu      sync.Mutex
	answer  func(*http.Request) (*http.Response, error)
}

func (s *keyServer) RoundTrip(r *http.Request) (*http.Response, error) {
	s.fetches.Add(1)
	s.mu.Lock()
	answer := s.answer
	s.mu.Unlock()
	return answer(r)
}

func (s *keyServer) serve(answer func(*http.Request) (*http.Response, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

func (s *keyServer) publish(signers ...*signer) {
	var keys []object
	for _, one := range signers {
		keys = append(keys, one.jwk())
	}
	s.say(http.StatusOK, keySetOf(keys...))
}

func (s *keyServer) say(status int, body string) {
	s.serve(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	})
}

func (s *keyServer) fail() {
	s.serve(func(*http.Request) (*http.Response, error) { return nil, errors.New("no route to host") })
}

// hang answers nothing until the request is given up.
func (s *keyServer) hang() {
	s.serve(func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	})
}

const keySetFile = `tokens: {jwks: "https://keys.example/set?code=hush", audience: rankcast}`

// inKeyBubble runs a test by a clock of its own, with a Guard that fetches keys of a keyServer.
func inKeyBubble(t *testing.T, begin func(*keyServer), test func(t *testing.T, s *keyServer, g *Guard, log *redistest.Log)) {
	t.Helper()
	redistest.InBubble(t, func(t *testing.T) {
		s, log := new(keyServer), new(redistest.Log)
		begin(s)
		g := runGuard(t, GuardConfig{Text: keySetFile, HTTP: &http.Client{Transport: s}, Log: slog.New(slog.NewTextHandler(log, nil))})
		synctest.Wait()
		test(t, s, g, log)
		require.NotContains(t, log.String(), "hush")
	})
}

func TestKeysOfAKeySet(t *testing.T) {
	ec, ed := newSigner("a"), newEd25519()
	inKeyBubble(t, func(s *keyServer) {
		s.say(http.StatusOK, keySetOf(ec.jwk(), jwkOf("a", ed.Public()), jwkOf("r", &testRSA().PublicKey)))
	}, func(t *testing.T, s *keyServer, g *Guard, log *redistest.Log) {
		more := claims(object{"aud": "rankcast"})
		requireValid(t, g, ec.token(nil))
		requireValid(t, g, (&signer{"", ec.key}).token(nil))
		requireValid(t, g, sign(jwt.SigningMethodEdDSA, ed, object{"kid": "a"}, more))
		requireValid(t, g, sign(jwt.SigningMethodRS256, testRSA(), object{"kid": "r"}, more))
		for name, c := range map[string]struct{ token, says string }{
			"unknown kid":    {(&signer{"b", ec.key}).token(nil), `has the unknown kid "b"`},
			"kid of another": {sign(jwt.SigningMethodEdDSA, newEd25519(), object{"kid": "a"}, more), "signature that is not valid"},
			"kid of a type":  {sign(jwt.SigningMethodRS256, testRSA(), object{"kid": "a"}, more), `has the unknown kid "a"`},
			"public key as HMAC": {sign(jwt.SigningMethodHS256, publicPEM(&ec.key.PublicKey), object{"kid": "a"}, more),
				`has the algorithm "HS256"; want RS256, ES256, EdDSA`},
			"none": {sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, object{"kid": "a"}, more),
				`has the algorithm "none"`},
			"another audience": {ec.token(object{"aud": "shop"}), "is for another audience"},
		} {
			_, err := g.Authenticate(t.Context(), c.token)
			require.ErrorIs(t, err, ErrUnauthorized, name)
			require.ErrorContains(t, err, c.says, name)
			requireNoSecrets(t, err.Error()+log.String(), c.token)
		}
		require.EqualValues(t, 1, s.fetches.Load(), "the last fetch is less than a minute ago")
		time.Sleep(3*keyRefresh + time.Second)
		require.EqualValues(t, 4, s.fetches.Load())
	})
}

func TestKeysThatAreLeftOutOfAKeySet(t *testing.T) {
	t.Parallel()
	ec := newEC(elliptic.P256())
	good := jwkOf("good", &newEC(elliptic.P256()).PublicKey)
	one := func(more object) object { return with(jwkOf("k", &ec.PublicKey), more) }
	for name, c := range map[string]struct {
		keys []object
		says string
	}{
		"oct":                {[]object{{"kty": "oct", "kid": "k", "k": "c2VjcmV0"}}, "is a secret (oct)"},
		"a private key":      {[]object{one(object{"d": "AAAA"})}, "has its private part"},
		"for encryption":     {[]object{one(object{"use": "enc"})}, `has the use "enc"`},
		"other operations":   {[]object{one(object{"use": nil, "key_ops": []string{"sign"}})}, "has key_ops without verify"},
		"no operations":      {[]object{one(object{"key_ops": []string{}})}, "has key_ops without verify"},
		"another algorithm":  {[]object{one(object{"alg": "HS256"})}, `has the alg "HS256"; want ES256`},
		"another type":       {[]object{one(object{"kty": "AKP"})}, `is of the type "AKP"`},
		"another curve":      {[]object{jwkOf("k", &newEC(elliptic.P384()).PublicKey)}, `the curve "P-384"; want P-256`},
		"no point":           {[]object{one(object{"y": one(nil)["x"]})}, "is not a point of its curve"},
		"a short coordinate": {[]object{one(object{"x": "AAAA"})}, "is not a valid EC key"},
		"X25519":             {[]object{with(jwkOf("k", newEd25519().Public()), object{"crv": "X25519"})}, "is not an Ed25519 key"},
		"a short RSA key":    {[]object{with(jwkOf("k", &testRSA().PublicKey), object{"n": "AQAB"})}, "RSA key of 17 bits; want 2048"},
		"a huge exponent":    {[]object{with(jwkOf("k", &testRSA().PublicKey), object{"e": "AQAAAAAAAAAD"})}, "is not a valid RSA key"},
		"an exponent of one": {[]object{with(jwkOf("k", &testRSA().PublicKey), object{"e": "AQ"})}, "exponent that is not valid"},
		"a kid of a number":  {[]object{one(object{"kid": 1})}, "is not a key in JSON"},
		"a kid of two keys": {[]object{one(nil), jwkOf("k", &newEC(elliptic.P256()).PublicKey)},
			`kid "k": names different keys of the algorithm ES256`},
	} {
		keys, ignored, err := parseKeySet([]byte(keySetOf(append(c.keys, good)...)))
		require.NoError(t, err, name)
		require.Len(t, keys, 1, name)
		require.Contains(t, keys, keyRef{"good", "ES256"}, name)
		require.Len(t, ignored, 1, name)
		require.Contains(t, ignored[0], c.says, name)
		require.NotContains(t, ignored[0], "c2VjcmV0")
		_, _, err = parseKeySet([]byte(keySetOf(c.keys...)))
		require.ErrorIs(t, err, errWithoutKeys, name)
	}
	keys, ignored, err := parseKeySet([]byte(keySetOf(one(nil),
		one(object{"use": nil, "key_ops": []string{"verify"}, "alg": "ES256", "x5c": []string{"?"}}))))
	require.NoError(t, err)
	require.Empty(t, ignored)
	require.Len(t, keys, 1, "the same key twice is one key")
	all := make([]object, 101)
	for i := range all {
		all[i] = good
	}
	_, _, err = parseKeySet([]byte(keySetOf(all...)))
	require.ErrorContains(t, err, "has 101 keys; want at most 100")
	for _, text := range []string{"", "[]", `{"keys":{}}`, `{"keys":[],"keys":[]}`, "<html>"} {
		_, _, err = parseKeySet([]byte(text))
		require.Error(t, err, text)
	}
}

// A token without kid must not choose among keys.
func TestTokenWithoutKid(t *testing.T) {
	a, b := newSigner("a"), newSigner("b")
	inKeyBubble(t, func(s *keyServer) { s.publish(a, b) }, func(t *testing.T, s *keyServer, g *Guard, _ *redistest.Log) {
		_, err := g.Authenticate(t.Context(), (&signer{"", a.key}).token(nil))
		require.ErrorIs(t, err, ErrUnauthorized)
		require.ErrorContains(t, err, "has no kid, and the key set has several keys of the algorithm ES256")
		_, err = g.Authenticate(t.Context(), sign(jwt.SigningMethodRS256, testRSA(), nil, claims(object{"aud": "rankcast"})))
		require.ErrorContains(t, err, "has no kid, and the key set has no key of the algorithm RS256")
	})
}

// A key that the set has no more ends the rights of all viewers that it has let in.
func TestKeyIsWithdrawn(t *testing.T) {
	a, b := newSigner("a"), newSigner("b")
	inKeyBubble(t, func(s *keyServer) { s.publish(a, b) }, func(t *testing.T, s *keyServer, g *Guard, log *redistest.Log) {
		ofA, ofB := requireValid(t, g, a.token(nil)), requireValid(t, g, b.token(nil))
		ticket, err := ofA.EncodeForTicket()
		require.NoError(t, err)
		s.publish(b)
		version := g.Version()
		time.Sleep(keyRefresh + time.Second)
		synctest.Wait()
		require.Greater(t, g.Version(), version)
		_, err = g.Renew(ofA)
		require.ErrorIs(t, err, ErrExpired)
		_, err = g.FromTicket(ticket)
		require.ErrorIs(t, err, ErrExpired)
		_, err = g.Authenticate(t.Context(), a.token(nil))
		require.ErrorContains(t, err, `has the unknown kid "a"`)
		_, err = g.Renew(ofB)
		require.NoError(t, err)
		version = g.Version()
		time.Sleep(keyRefresh)
		synctest.Wait()
		require.Equal(t, version, g.Version(), "the same keys change no rights")
	})
}

func TestKeyServerIsAwayAtTheStart(t *testing.T) {
	a := newSigner("a")
	inKeyBubble(t, (*keyServer).fail, func(t *testing.T, s *keyServer, g *Guard, log *redistest.Log) {
		for range 10 {
			_, err := g.Authenticate(t.Context(), a.token(nil))
			requireLater(t, err, keyRetry)
		}
		time.Sleep(5*keyRetry + time.Second)
		require.EqualValues(t, 6, s.fetches.Load())
		require.Equal(t, 1, strings.Count(log.String(), "no route to host"), "%s", log)
		require.Contains(t, log.String(), "host=keys.example")
		of, there := g.KeySetStatus()
		require.True(t, there)
		require.True(t, of.Since.IsZero())
		require.EqualError(t, of.Fault, "no route to host")
		s.publish(a)
		time.Sleep(keyRetry)
		of, _ = g.KeySetStatus()
		require.False(t, of.Since.IsZero())
		require.NoError(t, of.Fault)
		requireValid(t, g, a.token(nil))
		require.Contains(t, log.String(), "was fetched again")
	})
}

// An answer that is not a key set leaves the last key set in force.
func TestKeyServerIsAwayLater(t *testing.T) {
	a := newSigner("a")
	oversize := keySetOf(a.jwk())[:1] + strings.Repeat(" ", maxSetBytes) + keySetOf(a.jwk())[1:]
	inKeyBubble(t, func(s *keyServer) { s.publish(a) }, func(t *testing.T, s *keyServer, g *Guard, log *redistest.Log) {
		c := requireValid(t, g, a.token(nil))
		version, fetches := g.Version(), s.fetches.Load()
		time.Sleep(keyRefresh + time.Second) // so that no fetch begins while the answer changes
		for _, bad := range []struct {
			answer func()
			says   string
		}{
			{s.fail, "no route to host"},
			{s.hang, "context deadline exceeded"},
			{func() { s.say(http.StatusInternalServerError, keySetOf(a.jwk())) }, "the answer has the status 500"},
			{func() { s.say(http.StatusOK, "<html>") }, "the answer is not a key set in JSON"},
			{func() { s.say(http.StatusOK, keySetOf()) }, "the key set has no key that verifies tokens"},
			{func() { s.say(http.StatusOK, keySetOf(object{"kty": "oct", "k": "c2VjcmV0"})) }, "is a secret (oct)"},
			{func() { s.say(http.StatusOK, oversize) }, "the answer has more than 262144 bytes"},
		} {
			bad.answer()
			time.Sleep(keyRefresh)
			require.Equal(t, 1, strings.Count(log.String(), bad.says), "%s in\n%s", bad.says, log)
			requireValid(t, g, a.token(nil))
			_, err := g.Renew(c)
			require.Equal(t, time.Now().Before(c.Expires()), err == nil)
		}
		require.Greater(t, s.fetches.Load(), fetches+60, "a failed fetch is tried again each minute")
		require.Equal(t, version, g.Version())
		require.NotContains(t, log.String(), "c2VjcmV0")
	})
}

// Any number of tokens with unknown kids cause one fetch a minute, and wait for it no longer than they may.
func TestUnknownKids(t *testing.T) {
	a, b := newSigner("a"), newSigner("b")
	inKeyBubble(t, func(s *keyServer) { s.publish(a) }, func(t *testing.T, s *keyServer, g *Guard, _ *redistest.Log) {
		time.Sleep(keyRetry)
		s.serve(func(r *http.Request) (*http.Response, error) {
			time.Sleep(2 * time.Second)
			s.publish(a, b)
			return s.answer(r)
		})
		began := time.Now()
		var waiting sync.WaitGroup
		for range 100 {
			waiting.Go(func() {
				_, err := g.Authenticate(t.Context(), b.token(nil))
				require.NoError(t, err)
			})
		}
		redistest.Wait(t, "the end of waiting", waiting.Wait)
		require.Equal(t, 2*time.Second, time.Since(began))
		require.EqualValues(t, 2, s.fetches.Load())

		unknown := newSigner("c").token(nil)
		for range 100 {
			_, err := g.Authenticate(t.Context(), unknown)
			require.ErrorIs(t, err, ErrUnauthorized, "the set is recent")
			require.ErrorContains(t, err, `has the unknown kid "c"`)
		}
		require.EqualValues(t, 2, s.fetches.Load())
		require.Equal(t, 2*time.Second, time.Since(began), "without a fetch nothing waits")

		time.Sleep(keyRetry)
		s.hang()
		began = time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := g.Authenticate(ctx, unknown)
		requireLater(t, err, keyTimeout-time.Second)
		require.Equal(t, time.Second, time.Since(began))
		_, err = g.Authenticate(t.Context(), unknown)
		requireLater(t, err, keyTimeout-time.Second-maxKeyWait)
		require.Equal(t, time.Second+maxKeyWait, time.Since(began))
		requireValid(t, g, b.token(nil))
		require.Equal(t, time.Second+maxKeyWait, time.Since(began), "a known key waits for no fetch")
		require.EqualValues(t, 3, s.fetches.Load())
	})
}

// requireLater requires that a token whose key is not known is neither valid nor refused for good.
func requireLater(t *testing.T, err error, after time.Duration) {
	t.Helper()
	require.ErrorIs(t, err, ErrKeysUnavailable)
	require.NotErrorIs(t, err, ErrUnauthorized)
	var later *KeysUnavailableError
	require.ErrorAs(t, err, &later)
	require.Equal(t, after, later.RetryAfter)
}

// A stranger who uses up the fetch of a minute does not have the token of a new key refused: the token is valid as
// soon as the server may fetch again.
func TestStrangerDoesNotHaveTokensOfANewKeyRefused(t *testing.T) {
	a, b, stranger := newSigner("a"), newSigner("b"), newSigner("x")
	inKeyBubble(t, func(s *keyServer) { s.publish(a) }, func(t *testing.T, s *keyServer, g *Guard, _ *redistest.Log) {
		time.Sleep(2 * keyRetry)
		_, err := g.Authenticate(t.Context(), stranger.token(nil))
		require.ErrorIs(t, err, ErrUnauthorized, "the fetch happened after the token came")
		s.publish(a, b)
		time.Sleep(keyRecent + time.Second)
		_, err = g.Authenticate(t.Context(), b.token(nil))
		requireLater(t, err, keyRetry-keyRecent-time.Second)
		require.ErrorContains(t, err, `the token has the unknown kid "b"`)
		_, err = g.Authenticate(t.Context(), sign(jwt.SigningMethodRS256, testRSA(), nil, claims(object{"aud": "rankcast"})))
		requireLater(t, err, keyRetry-keyRecent-time.Second)
		require.EqualValues(t, 2, s.fetches.Load())
		time.Sleep(keyRetry - keyRecent - time.Second)
		requireValid(t, g, b.token(nil))

		time.Sleep(keyRetry)
		s.fail()
		_, err = g.Authenticate(t.Context(), stranger.token(nil))
		requireLater(t, err, keyRetry)
		requireValid(t, g, a.token(nil))
	})
}

// Keys rotate without one token refused: the key server publishes a new key, signs with it, and then withdraws
// the former one.
func TestKeysRotateUnderLoad(t *testing.T) {
	a, b := newSigner("a"), newSigner("b")
	inKeyBubble(t, func(s *keyServer) { s.publish(a) }, func(t *testing.T, s *keyServer, g *Guard, _ *redistest.Log) {
		var token atomic.Pointer[string]
		use := func(from *signer) {
			signed := from.token(object{"exp": time.Now().Add(time.Hour).Unix()})
			token.Store(&signed)
		}
		use(a)
		var verified atomic.Int32
		ctx, stop := context.WithCancel(t.Context())
		var load sync.WaitGroup
		for i := range 8 {
			load.Go(func() {
				for time.Sleep(time.Duration(i) * time.Second); ctx.Err() == nil; time.Sleep(9 * time.Second) {
					_, err := g.Authenticate(t.Context(), *token.Load())
					require.NoError(t, err)
					verified.Add(1)
				}
			})
		}
		time.Sleep(keyRefresh / 2)
		s.publish(a, b)
		use(b) // at once: the first token of b causes the fetch
		time.Sleep(keyRefresh / 2)
		s.publish(b)
		time.Sleep(2 * keyRefresh)
		stop()
		redistest.Wait(t, "the end of load", load.Wait)
		require.Greater(t, verified.Load(), int32(1000))
		_, err := g.Authenticate(t.Context(), a.token(nil))
		require.ErrorIs(t, err, ErrUnauthorized)
	})
}

// A new access file with the same key set refuses no token while the server fetches the keys again; one with
// another audience ends the rights of all viewers of the former one.
func TestAccessFileChangesBesideAKeySet(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		a, s := newSigner("a"), new(keyServer)
		s.publish(a)
		file := writeFiles(t, map[string]string{"access.yaml": keySetFile})
		g := runGuard(t, GuardConfig{File: file, HTTP: &http.Client{Transport: s}, Log: slog.New(slog.DiscardHandler)})
		synctest.Wait()
		c := requireValid(t, g, a.token(nil))
		s.fail()
		require.NoError(t, os.WriteFile(file, []byte(strings.Replace(keySetFile, "}", ", issuer: shop}", 1)), 0o600))
		time.Sleep(3 * filewatch.Interval)
		requireValid(t, g, a.token(object{"iss": "shop"}))
		_, err := g.Authenticate(t.Context(), a.token(nil))
		require.ErrorContains(t, err, "is from another issuer")
		_, err = g.Renew(c)
		require.ErrorIs(t, err, ErrExpired)
	})
}

// The node follows no redirect, and trusts no server without a certificate that the client trusts.
func TestKeySetOverTLS(t *testing.T) {
	t.Parallel()
	a := newSigner("a")
	body := []byte(keySetOf(a.jwk()))
	var plainRequests atomic.Int32
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { plainRequests.Add(1); w.Write(body) }))
	defer plain.Close()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/http":
			http.Redirect(w, r, plain.URL, http.StatusFound)
		case "/https":
			http.Redirect(w, r, "/set", http.StatusFound)
		default:
			w.Write(body)
		}
	}))
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.StartTLS()
	defer server.Close()
	for _, c := range []struct {
		path   string
		client *http.Client
		works  bool
	}{{"/set", server.Client(), true}, {"/http", server.Client(), false}, {"/https", server.Client(), false}, {"/set", nil, false}} {
		g := runGuard(t, GuardConfig{Text: `tokens: {jwks: "` + server.URL + c.path + `", audience: rankcast}`, HTTP: c.client,
			Log: slog.New(slog.DiscardHandler)})
		_, err := g.Authenticate(t.Context(), a.token(nil))
		if c.works {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, ErrKeysUnavailable, c.path)
		}
	}
	require.Zero(t, plainRequests.Load())
}
