package access

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/redistest"
)

const testSecret = "0123456789abcdef0123456789abcdef"

// testRSA is one RSA key for all tests: it takes long to make.
var testRSA = sync.OnceValue(func() *rsa.PrivateKey { return must(rsa.GenerateKey(rand.Reader, 2048)) })

// secretGuard is a Guard that accepts tokens of testSecret, with more fields of tokens.
func secretGuard(t testing.TB, more string) *Guard {
	file := writeFiles(t, map[string]string{"access.yaml": "tokens: {secret_file: s" + more + "}", "s": testSecret + "\n"})
	g, err := NewGuard(GuardConfig{File: file})
	require.NoError(t, err)
	return g
}

type object = map[string]any

// rawToken is a token of any bytes, signed with testSecret.
func rawToken(header, claims string) string { return rawTokenOf(testSecret, header, claims) }

func rawTokenOf(secret, header, claims string) string {
	text := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + base64.RawURLEncoding.EncodeToString([]byte(claims))
	signature := must(jwt.SigningMethodHS256.Sign(text, []byte(secret)))
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// respell changes the last letter of a token in the bits that base64 leaves unused.
func respell(token string) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := len(token) - 1
	return token[:last] + string(letters[strings.IndexByte(letters, token[last])^1])
}

func TestTokenGivesItsRights(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		g := secretGuard(t, ", audience: rankcast, issuer: shop")
		expires := time.Now().Add(time.Hour)
		c, err := g.Authenticate(t.Context(), signHS256(object{
			"sub": "u4", "exp": expires.Unix(), "nbf": time.Now().Unix(), "iat": time.Now().Unix(), "iss": "shop",
			"aud": []string{"other", "rankcast"}, "rankcast": object{"boards": []string{"fans:*"}, "events": []string{"gift"}},
		}))
		require.NoError(t, err)
		require.Equal(t, "u4", c.Sub())
		require.True(t, c.May(ScopeRead, Board("fans:s17@d20261123")))
		require.False(t, c.May(ScopeRead, Board("stars")))
		require.False(t, c.May(ScopeWrite, Board("fans:s17")))
		require.True(t, c.May(ScopeWrite, Event("gift")))
		require.False(t, c.May(ScopeWrite, Event("grant")))
		require.Equal(t, expires.Truncate(time.Second).Add(30*time.Second), c.Expires())

		c, err = g.Authenticate(t.Context(), signHS256(claims(object{"iss": "shop", "aud": "rankcast"})))
		require.NoError(t, err)
		require.False(t, c.May(ScopeRead, Board("fans:s17")), "without the claim rankcast it grants nothing")
		require.False(t, c.May(ScopeWrite, Event("gift")))
	})
}

// A token is valid for 30 s longer at both ends, and not a second more.
func TestTokenLeeway(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		g := secretGuard(t, "")
		now := time.Now().Unix() // the bubble begins at a whole second
		for name, c := range map[string]struct {
			claims object
			says   string
		}{
			"just expired":        {object{"exp": now - 29}, ""},
			"expired":             {object{"exp": now - 30}, "unauthorized: the token has expired at 1999-12-31T23:59:30Z"},
			"expired long ago":    {object{"exp": 0}, "the token has expired at 1970-01-01T00:00:00Z"},
			"begins soon":         {object{"nbf": now + 30}, ""},
			"begins later":        {object{"nbf": now + 31}, "the token is not valid before 2000-01-01T00:00:31Z"},
			"issued soon":         {object{"iat": now + 30}, ""},
			"issued later":        {object{"iat": now + 31}, "the token was issued in the future"},
			"without an end":      {object{"exp": nil}, "lacks the claim exp"},
			"an end that is text": {object{"exp": "2030"}, "has a claim exp that is not valid; want a number, seconds since 1970"},
			"an end in words":     {object{"exp": "never"}, "has a claim exp that is not valid; want a number, seconds since 1970"},
			"an end out of range": {object{"exp": 1e300}, "has a claim exp that is not valid; want a number, seconds since 1970"},
			"an end before 1970":  {object{"exp": -1}, "has a claim exp that is not valid; want a number, seconds since 1970"},
		} {
			token := signHS256(claims(c.claims))
			caller, err := g.Authenticate(t.Context(), token)
			if c.says == "" {
				require.NoError(t, err, name)
				require.False(t, caller.Expires().Before(time.Now()), name)
				continue
			}
			require.ErrorIs(t, err, ErrUnauthorized, name)
			require.ErrorContains(t, err, c.says, name)
			requireNoSecrets(t, err.Error(), token)
			require.Equal(t, strings.Contains(c.says, "expired"), errors.Is(err, ErrExpired), name)
		}
	})
}

func TestTokenExpiresWhileItsViewerIsConnected(t *testing.T) {
	redistest.InBubble(t, func(t *testing.T) {
		g := secretGuard(t, "")
		token := signHS256(claims(object{"exp": time.Now().Add(time.Minute).Unix()}))
		c, err := g.Authenticate(t.Context(), token)
		require.NoError(t, err)
		time.Sleep(time.Until(c.Expires()) - time.Nanosecond)
		_, err = g.Renew(c)
		require.NoError(t, err)
		time.Sleep(time.Nanosecond)
		_, err = g.Renew(c)
		require.ErrorIs(t, err, ErrExpired)
		_, err = g.Authenticate(t.Context(), token)
		require.ErrorIs(t, err, ErrExpired)
	})
}

func TestTokensThatAreRefused(t *testing.T) {
	t.Parallel()
	g := secretGuard(t, ", audience: rankcast, issuer: shop")
	good := claims(object{"aud": "rankcast", "iss": "shop"})
	hour := time.Now().Add(time.Hour).Unix()
	const header = `{"alg":"HS256","typ":"JWT"}`
	body := func(fields string) string {
		return fmt.Sprintf(`{"sub":"u4","exp":%d,"aud":"rankcast","iss":"shop"%s}`, hour, fields)
	}
	many := strings.Repeat(`"a",`, 100) + `"a"`
	valid := rawToken(header, body(""))
	_, err := g.Authenticate(t.Context(), valid)
	require.NoError(t, err)
	for name, c := range map[string]struct{ token, says string }{
		"no token":           {"hello", "neither a key nor a token"},
		"empty parts":        {"..", "neither a key nor a token"},
		"four parts":         {valid + ".x", "neither a key nor a token"},
		"padding":            {valid + "=", "neither a key nor a token"},
		"no signature":       {valid[:strings.LastIndex(valid, ".")+1], "has a signature that is not valid"},
		"a line break":       {valid[:len(valid)-1] + "\n" + valid[len(valid)-1:], "neither a key nor a token"},
		"another text of it": {respell(valid), "neither a key nor a token"},
		"another signature":  {valid[:strings.LastIndex(valid, ".")+1] + strings.Repeat("A", 43), "has a signature that is not valid"},
		"another secret": {sign(jwt.SigningMethodHS256, []byte("another secret of thirty-two bytes"), nil, good),
			"has a signature that is not valid"},
		"too large": {valid + strings.Repeat("A", 8<<10), "want at most 8192"},

		"none":                {sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, nil, good), `has the algorithm "none"; want HS256`},
		"none in capitals":    {rawToken(`{"alg":"NONE"}`, body("")), `has the algorithm "NONE"; want HS256`},
		"no algorithm":        {rawToken(`{}`, body("")), `has the algorithm ""; want HS256`},
		"HS512":               {sign(jwt.SigningMethodHS512, []byte(testSecret), nil, good), `has the algorithm "HS512"; want HS256`},
		"RS256":               {sign(jwt.SigningMethodRS256, testRSA(), nil, good), `has the algorithm "RS256"; want HS256`},
		"two algorithms":      {rawToken(`{"alg":"none","alg":"HS256"}`, body("")), "has a header that is not valid"},
		"crit":                {rawToken(`{"alg":"HS256","crit":["b64"],"b64":false}`, body("")), "has a header with crit"},
		"crit that is empty":  {rawToken(`{"alg":"HS256","crit":[]}`, body("")), "has a header with crit"},
		"kid that is no text": {rawToken(`{"alg":"HS256","kid":1}`, body("")), "has a header that is not valid"},

		"another audience":            {signHS256(with(good, object{"aud": "shop"})), `is for another audience; want aud "rankcast"`},
		"no audience":                 {signHS256(with(good, object{"aud": nil})), `lacks the claim aud; want "rankcast"`},
		"an audience that is no text": {signHS256(with(good, object{"aud": 5})), "has a claim aud that is not valid"},
		"another issuer":              {signHS256(with(good, object{"iss": "shop.example"})), `is from another issuer; want iss "shop"`},
		"no issuer":                   {signHS256(with(good, object{"iss": nil})), `is from another issuer; want iss "shop"`},
		"all at once":                 {signHS256(object{"sub": "u4", "exp": 5, "aud": "x"}), `is for another audience`},

		"no sub": {signHS256(with(good, object{"sub": nil})), "lacks the claim sub"},
		"a sub of spaces": {signHS256(with(good, object{"sub": "a\x00b"})),
			"has a claim sub that is no member: it has the control character"},
		"a long sub":             {signHS256(with(good, object{"sub": strings.Repeat("u", 129)})), "no member: it has 129 bytes"},
		"a sub that is a number": {signHS256(with(good, object{"sub": 4})), "has a claim sub that is not valid"},

		"two subs":   {rawToken(header, body(`,"sub":"u5"`)), "has the claim sub twice"},
		"two grants": {rawToken(header, body(`,"rankcast":{},"rankcast":{"boards":["*"]}`)), "has the claim rankcast twice"},
		"two lists":  {rawToken(header, body(`,"rankcast":{"boards":[],"boards":["*"]}`)), "has the claim rankcast.boards twice"},
		"bad UTF-8":  {rawToken(header, body(",\"x\":\"\xff\"")), "claims that are not valid"},
		"no object":  {rawToken(header, `[]`), "claims that are not valid"},
		"null":       {rawToken(header, `null`), "lacks the claim aud"},
		"no grants":  {rawToken(header, body(`,"rankcast":"*"`)), "has a claim rankcast that is not valid"},
		"an unknown grant": {rawToken(header, body(`,"rankcast":{"scopes":["admin"]}`)),
			"has the unknown field rankcast.scopes; want boards and events"},
		"another case":     {rawToken(header, body(`,"rankcast":{"Boards":["*"]}`)), "has the unknown field rankcast.Boards"},
		"a text as list":   {rawToken(header, body(`,"rankcast":{"boards":"*"}`)), "has a claim rankcast.boards that is not valid"},
		"a number in it":   {rawToken(header, body(`,"rankcast":{"boards":["a",1]}`)), "has a claim rankcast.boards.1 that is not valid"},
		"a period":         {rawToken(header, body(`,"rankcast":{"boards":["a@d"]}`)), "rankcast.boards[0] has a period"},
		"an empty pattern": {rawToken(header, body(`,"rankcast":{"events":["a",""]}`)), "rankcast.events[1] is empty"},
		"101 patterns":     {rawToken(header, body(`,"rankcast":{"events":[`+many+`]}`)), "rankcast.events has 101 patterns; want at most 100"},
	} {
		_, err := g.Authenticate(t.Context(), c.token)
		require.ErrorIs(t, err, ErrUnauthorized, name)
		require.NotErrorIs(t, err, ErrExpired, name)
		require.ErrorContains(t, err, c.says, name)
		requireNoSecrets(t, err.Error(), c.token)
	}
}

// Each type of public key verifies its own algorithm, and no other: not even when its text is used as a secret.
func TestTokensOfPublicKeys(t *testing.T) {
	t.Parallel()
	ec, ed := newEC(elliptic.P256()), newEd25519()
	for _, c := range []struct {
		method          jwt.SigningMethod
		private, public any
	}{
		{jwt.SigningMethodRS256, testRSA(), &testRSA().PublicKey},
		{jwt.SigningMethodES256, ec, &ec.PublicKey},
		{jwt.SigningMethodEdDSA, ed, ed.Public()},
	} {
		material := publicPEM(c.public)
		file := writeFiles(t, map[string]string{"access.yaml": "tokens: {key_file: key.pem}", "key.pem": string(material)})
		g, err := NewGuard(GuardConfig{File: file})
		require.NoError(t, err)
		_, err = g.Authenticate(t.Context(), sign(c.method, c.private, object{"kid": "any"}, claims(nil)))
		require.NoError(t, err, c.method.Alg())

		der := must(x509.MarshalPKIXPublicKey(c.public))
		for name, token := range map[string]string{
			"its text as a secret":           sign(jwt.SigningMethodHS256, material, nil, claims(nil)),
			"its trimmed text as a secret":   sign(jwt.SigningMethodHS256, material[:len(material)-1], nil, claims(nil)),
			"its bytes as a secret":          sign(jwt.SigningMethodHS256, der, nil, claims(nil)),
			"a secret, under the right name": sign(jwt.SigningMethodHS256, material, object{"alg": c.method.Alg()}, claims(nil)),
			"none":                           sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, nil, claims(nil)),
			"none, under the right name": sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType,
				object{"alg": c.method.Alg()}, claims(nil)),
			"PS256":                          sign(jwt.SigningMethodPS256, testRSA(), nil, claims(nil)),
			"RS512":                          sign(jwt.SigningMethodRS512, testRSA(), nil, claims(nil)),
			"another key of a type":          sign(jwt.SigningMethodEdDSA, newEd25519(), nil, claims(nil)),
			"another key of another type":    sign(jwt.SigningMethodES256, newEC(elliptic.P256()), nil, claims(nil)),
			"a larger curve":                 sign(jwt.SigningMethodES384, newEC(elliptic.P384()), nil, claims(nil)),
			"the key that the header brings": sign(jwt.SigningMethodES256, ec2(), object{"jwk": jwkOf("x", &ec2().PublicKey)}, claims(nil)),
		} {
			_, err := g.Authenticate(t.Context(), token)
			require.ErrorIs(t, err, ErrUnauthorized, "%s: %s", c.method.Alg(), name)
		}
	}
}

// ec2 is a key that no server knows.
var ec2 = sync.OnceValue(func() *ecdsa.PrivateKey { return newEC(elliptic.P256()) })

func TestKeysOfTokensThatAreRefused(t *testing.T) {
	t.Parallel()
	private := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: must(x509.MarshalPKCS8PrivateKey(newEC(elliptic.P256())))})
	small := &rsa.PublicKey{N: new(big.Int).Rsh(testRSA().N, 1024), E: testRSA().E}
	good := string(publicPEM(&newEC(elliptic.P256()).PublicKey))
	for _, c := range []struct{ field, text, says string }{
		{"secret_file", testSecret[:31], "tokens.secret_file: holds 31 bytes; want 32 at least"},
		{"secret_file", testSecret[:31] + "\n", "holds 31 bytes"},
		{"secret_file", "", "holds 0 bytes"},
		{"secret_file", good, "tokens.secret_file: holds a key in PEM form"},
		{"secret_file", testSecret[:31] + "\r\n", "holds 31 bytes"},
		{"key_file", "hello", "tokens.key_file: holds no PEM block"},
		{"key_file", string(private), "tokens.key_file: holds a private key"},
		{"key_file", good + good, "holds more than one PEM block"},
		{"key_file", string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: []byte("x")})), "is not a valid public key"},
		{"key_file", string(pem.EncodeToMemory(&pem.Block{Type: "RSA PUBLIC KEY"})),
			`holds a PEM block "RSA PUBLIC KEY"; want one PEM block, PUBLIC KEY or CERTIFICATE`},
		{"key_file", string(publicPEM(small)), "is an RSA key of 1024 bits; want 2048"},
		{"key_file", string(publicPEM(&newEC(elliptic.P384()).PublicKey)), "is an EC key of the curve P-384; want P-256"},
	} {
		file := writeFiles(t, map[string]string{"access.yaml": "tokens: {" + c.field + ": f}", "f": c.text})
		_, err := NewGuard(GuardConfig{File: file})
		require.ErrorContains(t, err, c.says)
		require.NotContains(t, err.Error(), testSecret[:31])
	}
	_, err := NewGuard(GuardConfig{File: writeFiles(t, map[string]string{"access.yaml": "tokens: {secret_file: nowhere}"})})
	require.ErrorContains(t, err, "tokens.secret_file: ")
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestCertificateAsKeyFile(t *testing.T) {
	t.Parallel()
	key := newEC(elliptic.P256())
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der := must(x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key))
	k, err := parsePublicKey(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	require.NoError(t, err)
	same, err := parsePublicKey(publicPEM(&key.PublicKey))
	require.NoError(t, err)
	require.Equal(t, same.fingerprint, k.fingerprint)
}

// Nothing that a program other than the signer makes is ever accepted.
func FuzzToken(f *testing.F) {
	secret := rand.Text() + rand.Text() // the corpus may have tokens of an earlier run
	g, err := NewGuard(GuardConfig{File: writeFiles(f, map[string]string{"access.yaml": "tokens: {secret_file: s}", "s": secret})})
	require.NoError(f, err)
	hour := time.Now().Add(time.Hour).Unix()
	signed := rawTokenOf(secret, `{"alg":"HS256"}`, fmt.Sprintf(`{"sub":"u4","exp":%d}`, hour))
	f.Add(signed, `{"alg":"HS256"}`, fmt.Sprintf(`{"sub":"u4","exp":%d,"rankcast":{"boards":["a*"],"events":[]}}`, hour))
	f.Add("a.b.c", `{"alg":"none"}`, `{"sub":"u4","exp":1e400,"aud":["a",1]}`)
	f.Add("eyJhbGciOiJub25lIn0.e30.", `{"alg":"HS256","alg":"none","crit":null}`,
		`{"rankcast":{"boards":[null]},"sub":"a","exp":99999999999.5}`)
	f.Add(signed[:9]+"\n"+signed[9:], `null`, `null`)
	f.Fuzz(func(t *testing.T, token, header, claims string) {
		if token != signed {
			c, err := g.Authenticate(t.Context(), token)
			require.Nil(t, c)
			require.Error(t, err)
		}
		c, err := g.Authenticate(t.Context(), rawTokenOf(secret, header, claims))
		if err != nil {
			require.ErrorIs(t, err, ErrUnauthorized)
			return
		}
		require.Equal(t, viewerCaller, c.kind)
		require.NotEmpty(t, c.Sub())
		require.True(t, time.Now().Before(c.Expires()))
		encoded, err := c.EncodeForTicket()
		require.NoError(t, err)
		again, err := g.FromTicket(encoded)
		require.NoError(t, err)
		require.Equal(t, c.viewer.Sub, again.viewer.Sub)
		require.Equal(t, c.viewer.Boards, again.viewer.Boards)
	})
}
