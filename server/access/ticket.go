package access

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// TicketTime is the time for which a ticket is valid.
const TicketTime = 30 * time.Second

// ticketPrefix begins each ticket, so that a client can tell it from a token.
const ticketPrefix = "rct_"

// NewTicket makes a ticket: 130 random bits at least.
func NewTicket() string { return ticketPrefix + strings.ToLower(rand.Text()) }

// HashSecret is the hash of a ticket, or of the id of a session. The store holds it in their place, so that a reader of the
// store cannot use one.
func HashSecret(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// ticketJSON identifies the caller of a ticket, in the store. It holds no secret.
type ticketJSON struct {
	Key     string    `json:"key,omitzero"`     // hash of the key
	Session time.Time `json:"session,omitzero"` // when the session with the key expires
	Viewer  *Viewer   `json:"viewer,omitzero"`
}

// EncodeForTicket encodes a caller, for FromTicket on any node. Only an authenticated caller, or one of an open
// Guard, gets a ticket.
func (c *Caller) EncodeForTicket() ([]byte, error) {
	t := ticketJSON{Session: c.session, Viewer: c.viewer}
	if c.key != nil {
		t.Key = hashPrefix + hex.EncodeToString(c.key.hash[:])
	}
	b, err := json.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("encode a ticket: %w", err)
	}
	return b, nil
}

// ErrTicket refuses a ticket that is used, expired or unknown.
var ErrTicket = fmt.Errorf("%w: the ticket was used before, has expired, or is unknown", ErrExpired)

// FromTicket returns the caller that EncodeForTicket has encoded, with its present rights. The error is an
// ErrExpired.
func (g *Guard) FromTicket(encoded []byte) (*Caller, error) {
	if g.Open() {
		return g.Anonymous(), nil
	}
	var t ticketJSON
	if err := json.Unmarshal(encoded, &t); err != nil {
		return nil, ErrTicket
	}
	l := g.current()
	if hash, ok := parseHash(t.Key); ok {
		if k := find(l.policy.keys, hash); k != nil {
			return l.policy.keyCaller(k, t.Session), nil
		}
	} else if t.Viewer != nil {
		return l.viewerCaller(t.Viewer)
	}
	return nil, ErrTicket
}
