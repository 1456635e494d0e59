package live

import (
	"bytes"
	"context"
	"fmt"
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

func (ss *session) isDue(now time.Time) bool {
	c := ss.caller.Load()
	return ss.isSilent(now) || ss.socket.ending.Load() || ss.barredAt != 0 || !c.HasSocketRights() || c.HasExpired(now)
}

func (ss *session) isSilent(now time.Time) bool {
	return ss.socket.silence(now) >= ss.sessions.cfg.PingAfter
}

// check pings a silent client. It closes a socket whose credentials have expired, or that has had no rights for authTime.
func (ss *session) check(now time.Time) {
	if ss.isSilent(now) {
		ss.socket.keepAlive(now)
	}
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

// keepRights renews the rights of all clients when the access file has changed, until ctx ends.
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
		for _, c := range s.all() {
			if ctx.Err() != nil {
				return
			}
			c.renew()
		}
	}
}
