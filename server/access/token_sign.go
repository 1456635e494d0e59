package access

import (
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/golang-jwt/jwt/v5"

	"rankcast/ranking/definition"
)

// TokenSettings are the settings of tokens in an access file, for a program that signs one.
type TokenSettings struct {
	SecretFile, KeyFile string // paths, as the program may open them; "" for none
	Audience, Issuer    string // that a token needs; "" for any
}

// ReadTokenSettings reads an access file. The error names the field that is wrong or missing.
func ReadTokenSettings(file string) (TokenSettings, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return TokenSettings{}, fmt.Errorf("read the access file: %w", err)
	}
	p, err := parsePolicy(b)
	switch {
	case err != nil:
		return TokenSettings{}, fmt.Errorf("%s: %w", file, err)
	case p.tokens == nil:
		return TokenSettings{}, fmt.Errorf("%s: %w", file, definition.Invalid("tokens", "is missing, so the server accepts no tokens"))
	}
	t := TokenSettings{Audience: p.tokens.audience, Issuer: p.tokens.issuer}
	if p.tokens.secretFile != "" {
		t.SecretFile = besideFile(file, p.tokens.secretFile)
	}
	if p.tokens.keyFile != "" {
		t.KeyFile = besideFile(file, p.tokens.keyFile)
	}
	return t, nil
}

// TokenContent has the claims of a token.
type TokenContent struct {
	Sub              string    // the member whom the token is for
	Boards, Events   []string  // patterns
	Audience, Issuer string    // "": none
	Expires          time.Time // whole seconds count
}

// Signer signs viewers' tokens. All methods may be called concurrently.
type Signer struct {
	private  any
	keyID    string
	verifies *tokenKey
}

// NewSecretSigner makes a Signer of the content of secret_file. An error names that field.
func NewSecretSigner(file []byte) (*Signer, error) {
	k, err := parseSecret(file)
	if err != nil {
		return nil, err
	}
	return &Signer{private: k.material, verifies: k}, nil
}

// NewPrivateKeySigner makes a Signer of a private key in PEM form: RSA, EC P-256 or Ed25519. keyID is its kid
// in the key set, or "".
func NewPrivateKeySigner(file []byte, keyID string) (*Signer, error) {
	private, err := parsePrivateKey(file)
	if err != nil {
		return nil, err
	}
	signer, ok := private.(crypto.Signer)
	if !ok {
		return nil, errors.New("is of another type; want RSA, EC P-256 or Ed25519")
	}
	k, err := newPublicKey(signer.Public())
	if err != nil {
		return nil, err
	}
	return &Signer{private: private, keyID: keyID, verifies: k}, nil
}

// parsePrivateKey reads the first private key of a file. OpenSSL writes the parameters of an EC key before it.
func parsePrivateKey(file []byte) (private any, err error) {
	for {
		var block *pem.Block
		if block, file = pem.Decode(file); block == nil {
			return nil, errors.New("holds no private key in PEM form")
		}
		switch block.Type {
		case "PRIVATE KEY":
			private, err = x509.ParsePKCS8PrivateKey(block.Bytes)
		case "RSA PRIVATE KEY":
			private, err = x509.ParsePKCS1PrivateKey(block.Bytes)
		case "EC PRIVATE KEY":
			private, err = x509.ParseECPrivateKey(block.Bytes)
		case "ENCRYPTED PRIVATE KEY":
			return nil, errors.New("holds a private key with a password, which is not supported")
		default:
			continue
		}
		if err != nil {
			return nil, errors.New("holds a private key that is not valid")
		}
		return private, nil
	}
}

// CheckKeyFile returns an error unless the content of key_file holds the public key of s.
func (s *Signer) CheckKeyFile(file []byte) error {
	k, err := parsePublicKey(file)
	if err != nil {
		return err
	}
	if k.fingerprint != s.verifies.fingerprint {
		return definition.Invalid(keyFileField, "holds the public key of another private key")
	}
	return nil
}

// Sign signs a token. The error names the claim that a server would refuse.
func (s *Signer) Sign(c TokenContent) (string, error) {
	claims := &tokenClaims{RegisteredClaims: jwt.RegisteredClaims{Subject: c.Sub, Issuer: c.Issuer,
		ExpiresAt: jwt.NewNumericDate(c.Expires), IssuedAt: jwt.NewNumericDate(time.Now())}}
	if c.Audience != "" {
		claims.Audience = jwt.ClaimStrings{c.Audience}
	}
	if len(c.Boards)+len(c.Events) > 0 {
		grants, err := json.Marshal(grantClaim{Boards: c.Boards, Events: c.Events})
		if err != nil {
			return "", fmt.Errorf("encode the claim rankcast: %w", err)
		}
		claims.Rankcast = grants
	}
	if _, err := claims.viewer(); err != nil {
		return "", fmt.Errorf("the token %w", err)
	}
	token := jwt.NewWithClaims(s.verifies.method, claims)
	if s.keyID != "" {
		token.Header["kid"] = s.keyID
	}
	signed, err := token.SignedString(s.private)
	switch {
	case err != nil:
		return "", fmt.Errorf("sign the token: %w", err)
	case len(signed) > maxTokenBytes:
		return "", fmt.Errorf("the token has %d bytes; want at most %d", len(signed), maxTokenBytes)
	}
	return signed, nil
}
