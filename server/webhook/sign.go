package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// The prefixes of a base64 secret and of a signature, by Standard Webhooks.
const (
	secretPrefix     = "whsec_"
	signatureVersion = "v1,"
)

// CheckSecret returns an error for a secret with which no message can be signed: an empty one, or
// one with the prefix whsec_ and no base64 behind it.
func CheckSecret(s string) error {
	_, err := parseSecret(s)
	return err
}

// parseSecret decodes a secret to its key.
func parseSecret(s string) ([]byte, error) {
	encoded, ok := strings.CutPrefix(s, secretPrefix)
	if !ok {
		if s == "" {
			return nil, errors.New("is empty")
		}
		return []byte(s), nil
	}
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(key) == 0 {
		return nil, fmt.Errorf("want base64 after %s", secretPrefix)
	}
	return key, nil
}

// sign returns the signature of a message over its id, its Unix timestamp and its body.
func sign(key []byte, id, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.", id, timestamp)
	mac.Write(body)
	return signatureVersion + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
