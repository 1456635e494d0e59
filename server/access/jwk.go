package access

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rankcast/ranking/definition"
)

// maxSetKeys bounds the keys of a key set.
const maxSetKeys = 100

// jwk has the fields that the server reads of a key in a key set (RFC 7517, RFC 7518 section 6, RFC 8037).
type jwk struct {
	Type       string   `json:"kty"`
	ID         string   `json:"kid"`
	Use        string   `json:"use"`
	Operations []string `json:"key_ops"`
	Algorithm  string   `json:"alg"`
	Curve      string   `json:"crv"`
	X          string   `json:"x"`
	Y          string   `json:"y"`
	N          string   `json:"n"`
	E          string   `json:"e"`
	// Secret, Private and Prime belong to the signer alone.
	Secret  jsontext.Value `json:"k"`
	Private jsontext.Value `json:"d"`
	Prime   jsontext.Value `json:"p"`
}

// errWithoutKeys refuses a key set without any key that verifies tokens.
var errWithoutKeys = errors.New("the key set has no key that verifies tokens")

// keyRef identifies a key by the fields of the header of a token.
type keyRef struct{ id, algorithm string }

// parseKeySet parses a key set. ignored says of each key that cannot verify tokens why it is left out. A set
// without any other key is an error.
//
// Two different keys of one kid and one algorithm are both left out: a token names one key. The same kid for
// keys of different types is usual (RFC 7517, section 4.5).
func parseKeySet(answer []byte) (keys map[keyRef]*tokenKey, ignored []string, err error) {
	var set struct {
		Keys []jsontext.Value `json:"keys"`
	}
	if err := json.Unmarshal(answer, &set); err != nil {
		return nil, nil, errors.New("the answer is not a key set in JSON")
	}
	if len(set.Keys) > maxSetKeys {
		return nil, nil, fmt.Errorf("the key set has %d keys; want at most %d", len(set.Keys), maxSetKeys)
	}
	keys = make(map[keyRef]*tokenKey)
	twice := make(map[keyRef]bool)
	for i, value := range set.Keys {
		var k jwk
		key, err := (*tokenKey)(nil), json.Unmarshal(value, &k)
		if err != nil {
			err = errors.New("is not a key in JSON")
		} else {
			key, err = k.parse()
		}
		if err == nil {
			ref := keyRef{k.ID, key.algorithm()}
			switch other := keys[ref]; {
			case other == nil:
				keys[ref] = key
			case other.fingerprint != key.fingerprint:
				twice[ref] = true
			}
			continue
		}
		ignored = append(ignored, fmt.Sprintf("%s, kid %q: %v", definition.ItemPath("keys", i), definition.Clip(k.ID), err))
	}
	for ref := range twice {
		delete(keys, ref)
		ignored = append(ignored, fmt.Sprintf("kid %q: names different keys of the algorithm %s", definition.Clip(ref.id), ref.algorithm))
	}
	slices.Sort(ignored)
	if len(keys) == 0 {
		return nil, ignored, errWithoutKeys
	}
	return keys, ignored, nil
}

// parse makes a key that verifies tokens. The error says why it cannot.
func (k *jwk) parse() (*tokenKey, error) {
	switch {
	case k.Type == "oct" || k.Secret != nil:
		return nil, errors.New("is a secret (oct), which a public key set must not have")
	case k.Private != nil || k.Prime != nil:
		return nil, errors.New("has its private part, so anybody can sign with it")
	case k.Use != "" && k.Use != "sig":
		return nil, fmt.Errorf("has the use %q", definition.Clip(k.Use))
	case k.Operations != nil && !slices.Contains(k.Operations, "verify"):
		return nil, errors.New("has key_ops without verify")
	}
	public, err := k.public()
	if err != nil {
		return nil, err
	}
	key, err := newPublicKey(public)
	if err == nil && k.Algorithm != "" && k.Algorithm != key.algorithm() {
		err = fmt.Errorf("has the alg %q; want %s", definition.Clip(k.Algorithm), key.algorithm())
	}
	return key, err
}

func (k *jwk) public() (any, error) {
	switch k.Type {
	case "RSA":
		n, errN := base64.RawURLEncoding.DecodeString(k.N)
		e, errE := base64.RawURLEncoding.DecodeString(k.E)
		exponent := new(big.Int).SetBytes(e)
		if errN != nil || errE != nil || exponent.BitLen() > 31 {
			return nil, errors.New("is not a valid RSA key")
		}
		return &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(exponent.Int64())}, nil
	case "EC":
		if k.Curve != "P-256" {
			return nil, fmt.Errorf("is an EC key of the curve %q; want P-256", definition.Clip(k.Curve))
		}
		const size = 32 // of a coordinate (RFC 7518, section 6.2.1.2)
		x, errX := base64.RawURLEncoding.DecodeString(k.X)
		y, errY := base64.RawURLEncoding.DecodeString(k.Y)
		if errX != nil || errY != nil || len(x) != size || len(y) != size {
			return nil, errors.New("is not a valid EC key")
		}
		const uncompressed = 4 // SEC 1, section 2.3.3
		public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), slices.Concat([]byte{uncompressed}, x, y))
		if err != nil {
			return nil, errors.New("is not a point of its curve")
		}
		return public, nil
	case "OKP":
		x, err := base64.RawURLEncoding.DecodeString(k.X)
		if k.Curve != "Ed25519" || err != nil || len(x) != ed25519.PublicKeySize {
			return nil, errors.New("is not an Ed25519 key")
		}
		return ed25519.PublicKey(x), nil
	}
	return nil, fmt.Errorf("is of the type %q", definition.Clip(k.Type))
}
