package access

import (
	"crypto/rand"
	"fmt"
	"strings"
	"time"
)

// SessionTime is the time for which a session of an operator is valid: a working day.
const SessionTime = 8 * time.Hour

// NewSession makes the id of a session: 130 random bits at least.
func NewSession() string { return "rcs_" + strings.ToLower(rand.Text()) }

// ErrSession refuses the id of a session that has ended.
var ErrSession = fmt.Errorf("%w: the session has ended: sign in again", ErrExpired)

// FromSession returns the caller of a session that expires at a time, with the present rights of its key. EncodeForTicket has
// encoded the caller who signed in. The error is ErrSession once the key has left the access file.
//
// An operator also reads what everybody may read: the same browser shows the pages of viewers. The operator sends as the key
// alone, because no definition of an event bounds what a key sends.
func (g *Guard) FromSession(encoded []byte, expires time.Time) (*Caller, error) {
	c, err := g.FromTicket(encoded)
	if err != nil || c.key == nil {
		return nil, ErrSession
	}
	return g.current().policy.keyCaller(c.key, expires), nil
}

// keyCaller returns the caller of a key, or that of a session with the key. session is when the session expires; zero: there
// is none.
func (p *policy) keyCaller(k *key, session time.Time) *Caller {
	if session.IsZero() {
		return k.caller
	}
	public := p.anonymous.own
	public.scopes &= ScopeRead
	return &Caller{kind: keyCaller, own: k.caller.own, anonymous: &public, key: k, session: session}
}
