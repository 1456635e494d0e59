package access

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"github.com/golang-jwt/jwt/v5"

	"rankcast/ranking/definition"
)

const (
	// minSecretBytes is the least that HS256 may use: the size of its hash (RFC 7518, section 3.2).
	minSecretBytes = 32
	// minRSABits is the least that RS256 may use (RFC 7518, section 3.3). maxRSABits bounds the time of a
	// verification.
	minRSABits = 2048
	maxRSABits = 8192
)

// The fields of an access file that name a key of tokens.
const (
	secretFileField = "tokens.secret_file"
	keyFileField    = "tokens.key_file"
)

// tokenKey is a key that verifies tokens, by one algorithm: that of its type. It never changes.
type tokenKey struct {
	method      jwt.SigningMethod
	material    any    // []byte, *rsa.PublicKey, *ecdsa.PublicKey or ed25519.PublicKey
	fingerprint string // SHA-256, which does not reveal a secret
}

func (k *tokenKey) algorithm() string { return k.method.Alg() }

// publicAlgorithms are the algorithms of public keys.
func publicAlgorithms() []string { return []string{"RS256", "ES256", "EdDSA"} }

// newPublicKey makes a key of a public key. The error says why it cannot verify tokens.
func newPublicKey(public any) (*tokenKey, error) {
	k := &tokenKey{material: public}
	switch public := public.(type) {
	case *rsa.PublicKey:
		if bits := public.N.BitLen(); bits < minRSABits || bits > maxRSABits {
			return nil, fmt.Errorf("is an RSA key of %d bits; want %d to %d", bits, minRSABits, maxRSABits)
		}
		if public.E < 3 || public.E%2 == 0 {
			return nil, errors.New("is an RSA key with an exponent that is not valid")
		}
		k.method = jwt.SigningMethodRS256
	case *ecdsa.PublicKey:
		if public.Curve != elliptic.P256() {
			return nil, fmt.Errorf("is an EC key of the curve %s; want P-256", public.Params().Name)
		}
		k.method = jwt.SigningMethodES256
	case ed25519.PublicKey:
		k.method = jwt.SigningMethodEdDSA
	default:
		return nil, errors.New("is of another type; want RSA, EC P-256 or Ed25519")
	}
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return nil, errors.New("is not a valid public key")
	}
	sum := sha256.Sum256(der)
	k.fingerprint = hex.EncodeToString(sum[:])
	return k, nil
}

// parseSecret parses the content of secret_file. An error names that field, and contains nothing of the secret.
func parseSecret(file []byte) (*tokenKey, error) {
	secret := bytes.TrimSuffix(bytes.TrimSuffix(file, []byte("\n")), []byte("\r"))
	switch {
	case bytes.HasPrefix(bytes.TrimSpace(secret), []byte("-----BEGIN ")):
		return nil, definition.Invalid(secretFileField, "holds a key in PEM form, and no secret; a public key belongs in "+keyFileField)
	case len(secret) < minSecretBytes:
		return nil, definition.Invalid(secretFileField,
			fmt.Sprintf("holds %d bytes; want %d at least, such as those of: openssl rand -hex 32", len(secret), minSecretBytes))
	}
	sum := sha256.Sum256(append([]byte("rankcast: secret of tokens\x00"), secret...))
	return &tokenKey{method: jwt.SigningMethodHS256, material: bytes.Clone(secret), fingerprint: hex.EncodeToString(sum[:])}, nil
}

// parsePublicKey parses the content of key_file. An error names that field. It does not check the dates of a
// certificate, nor who has signed it: the file says that its key is trusted.
func parsePublicKey(file []byte) (*tokenKey, error) {
	invalid := func(reason string) error { return definition.Invalid(keyFileField, reason) }
	const want = "want one PEM block, PUBLIC KEY or CERTIFICATE"
	block, rest := pem.Decode(file)
	switch {
	case block == nil:
		return nil, invalid("holds no PEM block; " + want)
	case strings.HasSuffix(block.Type, "PRIVATE KEY"):
		return nil, invalid("holds a private key, which only the signer of tokens may have; want its public key, as openssl pkey " +
			"-pubout prints it")
	case len(bytes.TrimSpace(rest)) > 0:
		return nil, invalid("holds more than one PEM block; " + want)
	}
	var public any
	var err error
	switch block.Type {
	case "PUBLIC KEY":
		public, err = x509.ParsePKIXPublicKey(block.Bytes)
	case "CERTIFICATE":
		var certificate *x509.Certificate
		if certificate, err = x509.ParseCertificate(block.Bytes); err == nil {
			public = certificate.PublicKey
		}
	default:
		return nil, invalid(fmt.Sprintf("holds a PEM block %q; %s", block.Type, want))
	}
	if err != nil {
		return nil, invalid(fmt.Sprintf("is not a valid %s: %v", strings.ToLower(block.Type), err))
	}
	k, err := newPublicKey(public)
	if err != nil {
		return nil, invalid(err.Error())
	}
	return k, nil
}
