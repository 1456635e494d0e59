package access

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"rankcast/ranking/definition"
)

const (
	// keyPrefix begins each key, so that people and scanners for secrets recognise one.
	keyPrefix = "rck_"
	// keyBytes are the random bytes of a key.
	keyBytes = 32
	// keyDigits are the base62 digits that hold keyBytes.
	keyDigits = 43
)

// key is a key of the access file. The server knows its hash alone. A key has 256 random bits, so a slow hash
// would add nothing.
type key struct {
	name   string
	hash   [sha256.Size]byte
	rate   tokenRate
	bucket *bucket // nil: no limit
	caller *Caller
}

// NewKey makes a key.
func NewKey() string {
	var random [keyBytes]byte
	rand.Read(random[:]) // never fails
	digits := new(big.Int).SetBytes(random[:]).Text(62)
	return keyPrefix + strings.Repeat("0", keyDigits-len(digits)) + digits
}

// HashKey is the hash of a key as the access file holds it: sha256: and 64 hexadecimal digits.
func HashKey(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hashPrefix + hex.EncodeToString(sum[:])
}

const hashPrefix = "sha256:"

// parseHash parses what HashKey returns.
func parseHash(text string) (hash [sha256.Size]byte, ok bool) {
	digits, ok := strings.CutPrefix(text, hashPrefix)
	b, err := hex.DecodeString(digits)
	if !ok || err != nil || len(b) != len(hash) {
		return hash, false
	}
	return [sha256.Size]byte(b), true
}

// IsKey reports whether credentials are a key, and not a token.
func IsKey(credentials string) bool { return strings.HasPrefix(credentials, keyPrefix) }

// find finds the key of a hash; nil for none. It takes the same time whichever key it is.
func find(keys []*key, hash [sha256.Size]byte) (found *key) {
	for _, k := range keys {
		if subtle.ConstantTimeCompare(k.hash[:], hash[:]) == 1 {
			found = k
		}
	}
	return found
}

// CheckKeyLine checks what rankcast key new is asked for, and returns the line of the key for the access
// file. The error names the field.
func CheckKeyLine(name, hash string, scopes, boards, events, kinds []string, rate string) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "{name: %s, hash: %s", strconv.Quote(name), strconv.Quote(hash))
	for _, list := range []struct {
		field string
		items []string
	}{{"scopes", scopes}, {"boards", boards}, {"events", events}, {"kinds", kinds}} {
		if len(list.items) == 0 {
			continue
		}
		quoted := make([]string, len(list.items))
		for i, item := range list.items {
			quoted[i] = strconv.Quote(item)
			if _, ok := scopeOf(item); ok && list.field == "scopes" {
				quoted[i] = item
			}
		}
		fmt.Fprintf(&b, ", %s: [%s]", list.field, strings.Join(quoted, ", "))
	}
	if rate != "" {
		quoted := rate
		if !rateForm.MatchString(rate) {
			quoted = strconv.Quote(rate) // it must not end the line, nor begin another field
		}
		fmt.Fprintf(&b, ", rate: %s", quoted)
	}
	b.WriteByte('}')
	v, err := definition.ParseYAML([]byte(b.String()))
	if err == nil {
		_, err = readKey(v)
	}
	if field, ok := errors.AsType[*definition.FieldError](err); ok {
		err = &definition.FieldError{Field: strings.TrimPrefix(field.Field, "."), Reason: field.Reason, Kind: field.Kind}
	}
	return b.String(), err
}
