package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// Of Standard Webhooks: what leads a secret in base64, and what leads a signature.
const (
	secretPrefix     = "whsec_"
	signatureVersion = "v1,"
)

// CheckSecret refuses what no message can be signed with.
func CheckSecret(s string) error {
	_, err := parseSecret(s)
	return err
}

// parseSecret gives the key that a secret stands for.
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

// sign is the signature of a message: of its id, its time and its body.
func sign(key []byte, id, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.", id, timestamp)
	mac.Write(body)
	return signatureVersion + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
