package access

import (
	"errors"
	"fmt"
	"time"

	"rankcast/ranking"
	"rankcast/ranking/definition"
)

// The kinds of errors about a caller, for errors.Is.
var (
	// ErrUnauthorized refuses a caller without credentials, or with credentials that are not valid.
	ErrUnauthorized = errors.New("unauthorized")
	// ErrForbidden refuses a caller whose credentials are valid, and do not allow the request.
	ErrForbidden = errors.New("forbidden")
	// ErrExpired refuses credentials that were valid before: a token that has expired, or a ticket. It is a
	// kind of ErrUnauthorized, and has its text: the error that wraps it says what has expired.
	ErrExpired = fmt.Errorf("%w", ErrUnauthorized)
)

// callerType is a type of caller.
type callerType int

const (
	noCaller        callerType = iota // the zero Caller, which may do nothing
	openCaller                        // the server has no access file: anybody may do anything
	anonymousCaller                   // without credentials
	keyCaller                         // a server, by its key
	viewerCaller                      // a viewer, by its token
)

// Caller is the sender of a request, with its rights. Guard makes Callers. A Caller never changes, so all methods
// may be called concurrently: Guard.Renew returns the Caller that replaces one.
type Caller struct {
	kind      callerType
	own       rights
	anonymous *rights // which a viewer has too; those to read, of the caller of a session; else nil
	public    *rights // those of anonymous, which a key does not have: for the text of a refusal; else nil

	key     *key      // of a keyCaller
	session time.Time // when the session of a keyCaller expires; zero: it has none
	viewer  *Viewer   // of a viewerCaller
}

// Viewer is the member that a token is for. Its fields are those of the token.
type Viewer struct {
	Sub     string    `json:"sub"`
	Boards  []string  `json:"boards,omitzero"` // patterns
	Events  []string  `json:"events,omitzero"` // patterns
	Expires time.Time `json:"expires"`         // the token is not accepted from this time on; it includes the leeway
	// fingerprints of the key that verified the token, and of the audience and issuer that were asked for
	KeyID string `json:"key_id"`
}

// Open reports whether there is no access file: anybody may do anything.
func (c *Caller) Open() bool { return c.kind == openCaller }

// Authenticated reports whether the caller has valid credentials.
func (c *Caller) Authenticated() bool { return c.kind == keyCaller || c.kind == viewerCaller }

// KeyName is the name of the caller's key; "" for a caller without one.
func (c *Caller) KeyName() string {
	if c.key == nil {
		return ""
	}
	return c.key.name
}

// Sub is the member that a viewer's token is for; "" for all other callers.
func (c *Caller) Sub() string {
	if c.viewer == nil {
		return ""
	}
	return c.viewer.Sub
}

// Grants are the scopes of the caller, and the patterns of the boards, events and kinds for which it has them: "*" for a
// caller that may do anything with all resources.
func (c *Caller) Grants() (scopes, boards, events, kinds []string) {
	if c.MayAll() {
		all := []string{"*"}
		return ScopeNames(), all, all, all
	}
	for _, s := range scopeNames {
		if c.own.has(s.scope) {
			scopes = append(scopes, s.name)
		}
	}
	return scopes, c.own.boards, c.own.events, c.own.kinds
}

// IsBounded reports whether the caller is a viewer or anonymous. The definition of an event decides what those may
// send.
func (c *Caller) IsBounded() bool { return c.kind == anonymousCaller || c.kind == viewerCaller }

// Expires is the time at which the credentials stop being valid; zero for never.
func (c *Caller) Expires() time.Time {
	if c.viewer == nil {
		return c.session
	}
	return c.viewer.Expires
}

// HasExpired reports whether the credentials are not valid any more.
func (c *Caller) HasExpired(now time.Time) bool {
	expires := c.Expires()
	return !expires.IsZero() && !now.Before(expires)
}

// HasSocketRights reports whether the caller may do anything over a socket.
func (c *Caller) HasSocketRights() bool {
	return c.Open() || c.own.includeSocket() || c.anonymous != nil && c.anonymous.includeSocket()
}

// MayAll reports whether the caller may do anything with all resources. A list for such a caller leaves nothing
// out.
func (c *Caller) MayAll() bool {
	return c.Open() || c.own.scopes&ScopeAdmin != 0
}

// May reports whether the caller may do something with a resource.
func (c *Caller) May(s Scope, r Resource) bool {
	return c.Open() || c.own.allow(s, r) || c.anonymous != nil && c.anonymous.allow(s, r)
}

// MayReadKind reports whether the caller may read the profile of each member of a kind.
func (c *Caller) MayReadKind(kind string) bool { return c.May(ScopeRead, Kind(kind)) }

// BoardSpans returns the names of boards for which May may return true: it returns false for all names outside of
// them. They are sorted, and no two overlap.
func (c *Caller) BoardSpans(s Scope) []definition.NameSpan {
	if c.MayAll() {
		return []definition.NameSpan{definition.SpanOfPrefix("")}
	}
	var spans []definition.NameSpan
	for _, r := range []*rights{&c.own, c.anonymous} {
		if r != nil && r.has(s) {
			spans = append(spans, r.boards.spans()...)
		}
	}
	return definition.JoinSpans(spans)
}

// Check returns nil if the caller may do something with a resource. Else the error says what is missing: it
// is of the kind ErrUnauthorized for a caller without credentials, and ErrForbidden for all others.
func (c *Caller) Check(s Scope, r Resource) error {
	if c.May(s, r) {
		return nil
	}
	if !c.Authenticated() {
		credentials := "a key"
		if everyGrant.May(s, r) {
			credentials = "a key or a token"
		}
		return fmt.Errorf("%w: %s needs credentials: %s, as Authorization: Bearer", ErrUnauthorized, need(s, r), credentials)
	}
	hint := ""
	if c.public != nil && c.public.allow(s, r) {
		hint = "; callers without credentials may do this, but a key has its own scopes and grants only"
	}
	if !c.own.has(s) && (c.anonymous == nil || !c.anonymous.has(s)) {
		return fmt.Errorf("%w: %s lacks the scope %s%s", ErrForbidden, c, s, hint)
	}
	if s == ScopeWrite && c.own.onlyEvents && r.Type != EventResource {
		return fmt.Errorf("%w: %s may send events only", ErrForbidden, c)
	}
	return fmt.Errorf("%w: %s has no grant for the %s%s", ErrForbidden, c, r, hint)
}

// need says what a request needs: "the scope read for the board \"stars\"".
func need(s Scope, r Resource) string {
	if r.Type == NoResource {
		return fmt.Sprintf("the scope %s", s)
	}
	return fmt.Sprintf("the scope %s for the %s", s, r)
}

// String names the caller in errors: the key "ops", the token of "u4".
func (c *Caller) String() string {
	switch c.kind {
	case keyCaller:
		return fmt.Sprintf("the key %q", c.key.name)
	case viewerCaller:
		return fmt.Sprintf("the token of %q", definition.Clip(c.viewer.Sub))
	case anonymousCaller:
		return "a caller without credentials"
	}
	return "a caller"
}

func newViewer(v *Viewer, anonymous *rights) *Caller {
	own := rights{scopes: ScopeRead | ScopeWrite, boards: v.Boards, events: v.Events, onlyEvents: true}
	return &Caller{kind: viewerCaller, own: own, anonymous: anonymous, viewer: v}
}

// everyGrant is the viewer of a token that grants all that a token can grant. It never changes.
var everyGrant = newViewer(&Viewer{Boards: []string{"*"}, Events: []string{"*"}}, nil)

// ReadableBoards are the boards that the caller may read; nil for all boards.
func (c *Caller) ReadableBoards() *ranking.BoardFilter {
	if c.MayAll() {
		return nil
	}
	return &ranking.BoardFilter{
		Has:   func(board string) bool { return c.May(ScopeRead, Board(board)) },
		Spans: c.BoardSpans(ScopeRead),
	}
}
