package live

import (
	"context"
	"time"

	"rankcast/hub"
	"rankcast/ranking/definition"
	"rankcast/server/access"
)

// authCallTime bounds a fetch of the keys that verify a token. Meanwhile the client's other messages wait.
const authCallTime = 5 * time.Second

// auth gives the session the rights of credentials, which are a key or a token. Credentials that are not valid
// change nothing. Without an access file they have no effect.
func (ss *session) auth(m *message) error {
	token := m.fields.RequiredText("token")
	if token == "" {
		m.fields.Check(definition.Invalid("token", "is empty"))
	}
	if m.fields.Err != nil {
		return m.fields.Err
	}
	ctx, cancel := context.WithTimeout(ss.sessions.calls, authCallTime)
	defer cancel()
	lost, err := ss.authenticate(ctx, token)
	if err != nil {
		return err
	}
	for _, l := range lost {
		ss.sessions.hub.Unsubscribe(l.sub)
	}
	ss.socket.reply(answerFrameAt("ok", m.id, ss.sessions.store.Now()))
	for _, l := range lost {
		ss.socket.reply(l.frame())
	}
	return nil
}

// authenticate gives the session the caller of credentials, and returns the subscriptions that it loses.
func (ss *session) authenticate(ctx context.Context, credentials string) ([]lostSubscription, error) {
	guard := ss.sessions.cfg.Guard
	for {
		version := guard.Version()
		c, err := guard.Authenticate(ctx, credentials)
		if err != nil {
			return nil, err
		}
		if lost, set := ss.setCallerOf(c, version); set {
			return lost, nil
		}
	}
}

// setCallerOf is setCaller for a caller of a version of the access file. It reports false if that is not the
// present one: keepRights may have renewed this session before.
func (ss *session) setCallerOf(c *access.Caller, version uint64) (lost []lostSubscription, set bool) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if ss.sessions.cfg.Guard.Version() != version {
		return nil, false
	}
	return ss.setCaller(c, version), true
}

// periodsFilter accepts the items of the feed "periods" about boards that the session may read now; nil where
// that is all of them for ever.
func (ss *session) periodsFilter() hub.Filter {
	if ss.sessions.cfg.Guard.Open() {
		return nil
	}
	return func(board string) bool { return ss.caller.Load().May(access.ScopeRead, access.Board(board)) }
}
