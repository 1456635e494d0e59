package live

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"rankcast/hub"
	"rankcast/server/access"
	"rankcast/server/internal/problem"
)

const (
	// authTime is how long a socket whose caller may do nothing over it has to send auth.
	authTime = 10 * time.Second
	// renewInterval is the time between two looks for a change of the access file.
	renewInterval = time.Second
)

// errNoRights is the reason for the end of a socket without any rights.
var errNoRights = fmt.Errorf("%w: send auth, with a key or a token, within %v", access.ErrUnauthorized, authTime)

// present returns the caller of the session, and the version of the access file at which it had its rights.
func (ss *session) present() (*access.Caller, uint64) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	return ss.caller.Load(), ss.version
}

// keep calls store under the lock of the subscriptions. If the session has meanwhile lost the right to the
// subscription that m asks for, keep returns an error instead.
func (ss *session) keep(m *message, store func()) error {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if err := checkKept(m.caller, ss.caller.Load(), m.about); err != nil {
		return err
	}
	store()
	return nil
}

// checkKept returns an error if the caller now may not keep a subscription of the caller before it. The
// subscription of a known caller ends with ErrForbidden, also when its key has left the access file: a client that
// gets ErrUnauthorized would take itself for one that never sent credentials.
func checkKept(before, now *access.Caller, about access.Resource) error {
	err := now.Check(access.ScopeRead, about)
	if err != nil && before.Authenticated() && !now.Authenticated() {
		return fmt.Errorf("%w: %s is not in the access file any more", access.ErrForbidden, before)
	}
	return err
}

// lostSubscription is a subscription that a session may not have any more.
type lostSubscription struct {
	about access.Resource   // a board, or an event
	sub   *hub.Subscription // the caller of setCaller ends it in the hub, and may wait for the hub
	err   error
}

// frame tells the client that the subscription has ended, and why.
func (l lostSubscription) frame() *hub.Frame { return hub.NewFrame(l.json()) }

func (l lostSubscription) json() []byte {
	p := problem.Of(l.err)
	e := errorJSON{Code: p.Code, Message: p.Message}
	if l.about.Type == access.EventResource {
		e.Feed = l.about.Name
	} else {
		e.Board = l.about.Name
	}
	return e.encode()
}

// setCaller gives the session another caller, of a version of the access file. It takes away the subscriptions
// that this one may not have, and returns them. The caller of setCaller holds mu, and ends them without it.
func (ss *session) setCaller(c *access.Caller, version uint64) (lost []lostSubscription) {
	before := ss.caller.Swap(c)
	ss.version = version
	lose := func(held map[string]*hub.Subscription, resource func(name string) access.Resource) {
		for name, sub := range held {
			if err := checkKept(before, c, resource(name)); err != nil {
				delete(held, name)
				lost = append(lost, lostSubscription{resource(name), sub, err})
			}
		}
	}
	lose(ss.boards, access.Board)
	lose(ss.feeds, access.Event)
	return lost
}

// renew gives the session the present rights of its caller. A socket whose credentials are not valid any more
// is closed. renew may wait for the hub, and not for the client.
func (ss *session) renew() {
	ss.mu.Lock()
	guard, before := ss.sessions.cfg.Guard, ss.caller.Load()
	version := guard.Version() // before Renew: a newer one is seen at the next look
	c, err := guard.Renew(before)
	var lost []lostSubscription
	if err == nil {
		lost = ss.setCaller(c, version)
	}
	ss.mu.Unlock()
	if err != nil {
		ss.finish(before, closeUnauthorized, err)
		return
	}
	if len(lost) == 0 {
		return
	}
	var all bytes.Buffer
	for _, l := range lost {
		ss.sessions.hub.Unsubscribe(l.sub)
		for _, piece := range l.frame().WebSocket() {
			all.Write(piece)
		}
	}
	ss.socket.push(all.Bytes())
}

// finish closes the socket with a code and the reason, unless it has another caller by now. It does not wait.
func (ss *session) finish(c *access.Caller, code closeCode, reason error) {
	ss.mu.Lock()
	same := ss.caller.Load() == c && !ss.socket.ending.Swap(true)
	ss.mu.Unlock()
	if same {
		ss.socket.endWith(code.frame(clipReason(reason.Error())), code)
	}
}

// clipReason cuts a reason to the length that a close frame may hold.
func clipReason(reason string) string {
	if len(reason) <= maxReason {
		return reason
	}
	end := maxReason
	for !utf8.RuneStart(reason[end]) {
		end--
	}
	return reason[:end]
}

// checkRights closes sockets whose credentials have expired, or that have had no rights for authTime. It ends
// streams whose credentials have expired. It does not wait.
func (s *Sessions) checkRights(now time.Time) {
	if s.cfg.Guard.Open() {
		return
	}
	s.mu.Lock()
	var due []*session
	for ss := range s.sessions {
		if c := ss.caller.Load(); ss.socket.ending.Load() || ss.barredAt != 0 || !c.HasSocketRights() || c.HasExpired(now) {
			due = append(due, ss)
		}
	}
	for st := range s.streams {
		if st.caller.Load().HasExpired(now) {
			st.renew(s.cfg.Guard)
		}
	}
	s.mu.Unlock()
	for _, ss := range due {
		ss.checkRights(now)
	}
}

func (ss *session) checkRights(now time.Time) {
	c, since := ss.caller.Load(), max(1, now.Sub(ss.socket.made))
	switch {
	case ss.socket.ending.Load():
		if ss.endedAt == 0 {
			ss.endedAt = since
		} else if since-ss.endedAt >= ss.sessions.cfg.WriteTimeout { // the client does not close the connection
			ss.socket.Close()
		}
	case c.HasExpired(now):
		if _, err := ss.sessions.cfg.Guard.Renew(c); err != nil {
			ss.finish(c, closeUnauthorized, err)
		}
	case c.HasSocketRights():
		ss.barredAt = 0
	case ss.barredAt == 0:
		ss.barredAt = since
	case since-ss.barredAt >= authTime:
		ss.finish(c, closeForbidden, errNoRights)
	}
}

// keepRights renews the rights of all sessions and streams when the access file has changed, until ctx ends.
func (s *Sessions) keepRights(ctx context.Context) {
	tick := time.NewTicker(renewInterval)
	defer tick.Stop()
	renewed := uint64(0) // the version of a file that has not changed yet
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		version := s.cfg.Guard.Version()
		if version == renewed {
			continue
		}
		renewed = version
		s.mu.Lock()
		sessions, streams := slices.Collect(maps.Keys(s.sessions)), slices.Collect(maps.Keys(s.streams))
		s.mu.Unlock()
		for _, ss := range sessions {
			if ctx.Err() != nil {
				return
			}
			ss.renew()
		}
		for _, st := range streams {
			st.renew(s.cfg.Guard)
		}
	}
}
