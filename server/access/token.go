package access

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/golang-jwt/jwt/v5"

	"rankcast/ranking/definition"
)

const (
	// maxTokenBytes bounds a token, before anything decodes it.
	maxTokenBytes = 8 << 10
	// tokenLeeway is the difference of clocks, between the signer of a token and this node, that is accepted.
	tokenLeeway = 30 * time.Second
)

// verifier verifies viewers' tokens (RFC 7519). All methods may be called concurrently.
type verifier struct {
	cfg        tokensConfig
	algorithms []string    // that are accepted
	parser     *jwt.Parser // does not change
	key        *tokenKey   // of secret_file or key_file; else nil
	set        *keySet     // of jwks; else nil
	// accepts is a digest of the audience and the issuer. Each KeyID ends with it: when the access file asks
	// for others, no viewer of a token for the former ones stays.
	accepts string
}

// newVerifier makes a verifier. material is the content of secret_file or key_file. changed is called when the
// keys of jwks have changed. before, which may be nil, is the verifier that this one replaces: keys that it has
// fetched from the same address go over.
func newVerifier(cfg tokensConfig, material []byte, guard GuardConfig, changed func(), before *verifier) (*verifier, error) {
	v := &verifier{cfg: cfg}
	var err error
	switch {
	case cfg.secretFile != "":
		v.key, err = parseSecret(material)
	case cfg.keyFile != "":
		v.key, err = parsePublicKey(material)
	default:
		v.set = newKeySet(cfg.jwks, guard.HTTP, guard.Log, changed)
		if before != nil && before.set != nil && before.cfg.jwks == cfg.jwks {
			v.set.adopt(before.set)
		}
	}
	if err != nil {
		return nil, err
	}
	if v.algorithms = publicAlgorithms(); v.key != nil {
		v.algorithms = []string{v.key.algorithm()}
	}
	digest := sha256.Sum256(fmt.Appendf(nil, "%q %q", cfg.audience, cfg.issuer))
	v.accepts = hex.EncodeToString(digest[:8])
	options := []jwt.ParserOption{
		jwt.WithValidMethods(v.algorithms), jwt.WithStrictDecoding(), jwt.WithLeeway(tokenLeeway),
		jwt.WithExpirationRequired(), jwt.WithIssuedAt(),
	}
	if cfg.audience != "" {
		options = append(options, jwt.WithAudience(cfg.audience))
	}
	if cfg.issuer != "" {
		options = append(options, jwt.WithIssuer(cfg.issuer))
	}
	v.parser = jwt.NewParser(options...)
	return v, nil
}

// run fetches the keys of jwks until ctx ends. Without jwks, or without tokens, it returns at once.
func (v *verifier) run(ctx context.Context) {
	if v != nil && v.set != nil {
		v.set.run(ctx)
	}
}

// trusts reports whether a key still verifies tokens; keyID is that of a Viewer.
func (v *verifier) trusts(keyID string) bool {
	fingerprint, accepts, _ := strings.Cut(keyID, ".")
	switch {
	case accepts != v.accepts:
		return false
	case v.set != nil:
		return v.set.has(fingerprint)
	}
	return fingerprint == v.key.fingerprint
}

// verify returns the viewer of a token. It may wait for a fetch of keys, for maxKeyWait or until ctx ends. The
// error is an ErrUnauthorized that says what is wrong, for an expired token an ErrExpired, or a
// KeysUnavailableError. It contains nothing of a signature or a secret.
func (v *verifier) verify(ctx context.Context, token string) (*Viewer, error) {
	if len(token) > maxTokenBytes {
		return nil, tokenFault("has %d bytes; want at most %d", len(token), maxTokenBytes)
	}
	if strings.ContainsAny(token, "\r\n") { // the decoder of base64 skips them
		return nil, errNoToken
	}
	var key *tokenKey
	var refused error // by findKey, which the parser would wrap
	claims := new(tokenClaims)
	parsed, err := v.parser.ParseWithClaims(token, claims, func(t *jwt.Token) (any, error) {
		if key, refused = v.findKey(ctx, t); refused != nil {
			return nil, refused
		}
		return key.material, nil
	})
	switch {
	case refused != nil:
		return nil, refused
	case err != nil:
		return nil, v.fault(parsed, claims, err)
	}
	viewer, err := claims.viewer()
	if err != nil {
		return nil, tokenFault("%s", err)
	}
	viewer.KeyID = key.fingerprint + "." + v.accepts
	return viewer, nil
}

// findKey finds the key of a token, and checks that the token names the key's own algorithm.
func (v *verifier) findKey(ctx context.Context, t *jwt.Token) (*tokenKey, error) {
	h, err := readTokenHeader(v.parser, t.Raw)
	if err != nil {
		return nil, err
	}
	key := v.key
	if v.set != nil {
		if key, err = v.set.find(ctx, h); err != nil {
			return nil, err
		}
	}
	// The parser and find have checked this by other means. Neither shall be all that keeps an algorithm to its key.
	if h.Algorithm != key.algorithm() || t.Method != key.method {
		return nil, algorithmFault(h.Algorithm, []string{key.algorithm()})
	}
	return key, nil
}

// fault words an error of the parser. It names the audience or the issuer first: a viewer who gets another
// token cannot correct those.
func (v *verifier) fault(t *jwt.Token, c *tokenClaims, err error) error {
	if fault, ok := errors.AsType[*claimFault](err); ok {
		return tokenFault("%s", fault.reason)
	}
	if t != nil && t.Header != nil && !errors.Is(err, jwt.ErrTokenMalformed) {
		if algorithm, _ := t.Header["alg"].(string); !slices.Contains(v.algorithms, algorithm) {
			return algorithmFault(algorithm, v.algorithms)
		}
	}
	switch {
	case errors.Is(err, jwt.ErrTokenMalformed):
		return errNoToken
	case errors.Is(err, jwt.ErrTokenSignatureInvalid):
		return tokenFault("has a signature that is not valid")
	case v.cfg.audience != "" && len(c.Audience) == 0:
		return tokenFault("lacks the claim aud; want %q", v.cfg.audience)
	case errors.Is(err, jwt.ErrTokenInvalidAudience):
		return tokenFault("is for another audience; want aud %q", v.cfg.audience)
	case v.cfg.issuer != "" && c.Issuer != v.cfg.issuer:
		return tokenFault("is from another issuer; want iss %q", v.cfg.issuer)
	case c.ExpiresAt == nil:
		return tokenFault("lacks the claim exp")
	case errors.Is(err, jwt.ErrTokenNotValidYet):
		return tokenFault("is not valid before %s", c.NotBefore.UTC().Format(time.RFC3339))
	case errors.Is(err, jwt.ErrTokenUsedBeforeIssued):
		return tokenFault("was issued in the future, at %s", c.IssuedAt.UTC().Format(time.RFC3339))
	case errors.Is(err, jwt.ErrTokenExpired):
		return fmt.Errorf("%w: the token has expired at %s", ErrExpired, c.ExpiresAt.UTC().Format(time.RFC3339))
	}
	return tokenFault("is not valid")
}

var errNoToken = fmt.Errorf("%w: the credentials are neither a key nor a token: a token is a JWT of three parts", ErrUnauthorized)

// tokenFault is an ErrUnauthorized about a token.
func tokenFault(format string, args ...any) error {
	return fmt.Errorf("%w: the token %s", ErrUnauthorized, fmt.Sprintf(format, args...))
}

func algorithmFault(algorithm string, want []string) error {
	return tokenFault("has the algorithm %q; want %s", definition.Clip(algorithm), strings.Join(want, ", "))
}

// tokenHeader has the fields that the server reads of the header of a token (RFC 7515, section 4.1).
type tokenHeader struct {
	Algorithm string `json:"alg"`
	KeyID     string `json:"kid"`
	Critical  any    `json:"crit"`
}

// readTokenHeader reads the header again, because the parser accepts a name twice, and ignores crit: a token
// may demand by crit that its reader knows an extension (RFC 7515, section 4.1.11). This one knows none.
func readTokenHeader(p *jwt.Parser, token string) (h tokenHeader, err error) {
	segment, _, _ := strings.Cut(token, ".")
	b, err := p.DecodeSegment(segment)
	if err == nil {
		err = json.Unmarshal(bytes.TrimSpace(b), &h)
	}
	switch {
	case err != nil:
		return h, tokenFault("has a header that is not valid")
	case h.Critical != nil:
		return h, tokenFault("has a header with crit, of which the server knows no extension")
	}
	return h, nil
}
